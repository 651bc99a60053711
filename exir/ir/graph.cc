// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/graph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace petrel::exir {
namespace {

void forget_use(std::vector<Node*>* users, const Node* node) {
  auto it = std::find(users->begin(), users->end(), node);
  if (it != users->end()) users->erase(it);
}

// `argument` with the copy of each value in it, in one walk: lists may be long.
Argument with_values_of(const std::map<const Value*, Value*>& copies, const Argument& argument) {
  if (argument.is_value()) return Argument(copies.at(argument.value()));
  if (!argument.is_list()) return argument;
  Argument::List list;
  list.reserve(argument.as_list().size());
  for (const Argument& item : argument.as_list()) list.push_back(with_values_of(copies, item));
  return Argument(std::move(list));
}

}  // namespace

std::string Source::location() const {
  // Frames read `  File "path", line 12, in forward`; the last one is the
  // innermost. Those inside of torch say less than the user's line above them.
  std::string found;
  std::string innermost;
  for (absl::string_view line : absl::StrSplit(stack_trace, '\n')) {
    line = absl::StripLeadingAsciiWhitespace(line);
    if (!absl::ConsumePrefix(&line, "File \"")) continue;
    const size_t quote = line.find('"');
    if (quote == absl::string_view::npos) continue;
    const absl::string_view path = line.substr(0, quote);
    absl::string_view rest = line.substr(quote + 1);
    if (!absl::ConsumePrefix(&rest, ", line ")) continue;
    innermost = absl::StrCat(path, ":", rest);
    // "<eval_with_key>.5": code that torch made, in no file.
    const bool is_file = !absl::StartsWith(path, "<");
    if (is_file && !absl::StrContains(path, "-packages/torch/")) found = innermost;
  }
  if (!found.empty()) return found;
  return innermost.empty() ? module : innermost;
}

const Argument& Node::argument_of(ArgHandle name) const {
  const int i = op_->find_arg(name);
  // Another argument in its place would be compiled silently into wrong results.
  if (i < 0) {
    std::fprintf(stderr, "%s has no argument '%s'\n", describe().c_str(), name.text);
    std::abort();
  }
  return arguments_[static_cast<size_t>(i)];
}

void Value::set_type(Type type) {
  type_ = std::move(type);
  if (graph_ != nullptr) ++graph_->edits_;
}

void Node::set_regions(std::vector<std::shared_ptr<Graph>> regions) {
  graph_->nodes_with_regions_ -= regions_.empty() ? 0 : 1;
  regions_ = std::move(regions);
  graph_->nodes_with_regions_ += regions_.empty() ? 0 : 1;
  ++graph_->edits_;
}

void Node::set_delegate(std::shared_ptr<LoweredPartition> delegate) {
  delegate_ = std::move(delegate);
  ++graph_->edits_;
}

void Node::set_argument(size_t i, Argument argument) {
  for (Value* value : arguments_[i].values()) {
    forget_use(&value->users_, this);
  }
  arguments_[i] = std::move(argument);
  for (Value* value : arguments_[i].values()) value->users_.push_back(this);
  ++graph_->edits_;
}

bool Node::is_random() const {
  if (op_->has(kRandom)) return true;
  for (const std::shared_ptr<Graph>& region : regions_) {
    for (const auto& node : region->nodes()) {
      if (node->is_random()) return true;
    }
  }
  return false;
}

std::vector<Value*> Node::operands() const {
  std::vector<Value*> operands;
  for (const Argument& argument : arguments_) {
    const std::vector<Value*> values = argument.values();
    operands.insert(operands.end(), values.begin(), values.end());
  }
  return operands;
}

std::string Node::describe() const {
  return describe_node(results_.empty() ? "" : results_[0]->name(), *op_, source_);
}

std::string describe_node(const std::string& name, const OpInfo& op, const Source& source) {
  std::string text =
      absl::StrCat("node '", name.empty() ? op.name : name, "' (", op.full_name(), ")");
  const std::string location = source.location();
  if (!location.empty()) absl::StrAppend(&text, " at ", location);
  return text;
}

std::string Graph::unique_name(const std::string& wanted) {
  const std::string base = wanted.empty() ? "v" : wanted;
  auto [it, fresh] = names_.emplace(base, 1);
  if (fresh) return base;
  while (true) {
    std::string candidate = absl::StrCat(base, "_", it->second++);
    if (names_.emplace(candidate, 1).second) return candidate;
  }
}

Value* Graph::own(std::unique_ptr<Value> value) {
  value->graph_ = this;
  ++edits_;
  owned_values_.push_back(std::move(value));
  owned_values_.back()->place_ = std::prev(owned_values_.end());
  return owned_values_.back().get();
}

Value* Graph::add_input(Type type, const std::string& name) {
  auto value = std::make_unique<Value>();
  value->name_ = unique_name(name);
  value->type_ = std::move(type);
  inputs_.push_back(own(std::move(value)));
  return inputs_.back();
}

Value* Graph::add_constant(ConstantPtr constant) {
  Value*& slot = constant_values_[constant.get()];
  if (slot != nullptr) return slot;
  auto value = std::make_unique<Value>();
  value->name_ = unique_name(constant->fqn);
  value->type_ = constant->type;
  value->constant_ = std::move(constant);
  slot = own(std::move(value));
  constants_by_fqn_[slot->constant_->fqn].push_back(slot);
  return slot;
}

Node* Graph::insert(NodeList::iterator place, const OpInfo& op, std::vector<Argument> arguments,
                    std::vector<Type> result_types, const std::string& name, Source source) {
  auto owned = std::make_unique<Node>();
  Node* node = owned.get();
  node->op_ = &op;
  node->graph_ = this;
  node->arguments_ = std::move(arguments);
  node->source_ = std::move(source);
  for (size_t i = 0; i < result_types.size(); ++i) {
    auto result = std::make_unique<Value>();
    result->name_ = unique_name(result_types.size() == 1 ? name : absl::StrCat(name, "_r", i));
    result->type_ = std::move(result_types[i]);
    result->graph_ = this;
    result->producer_ = node;
    result->result_index_ = i;
    node->results_.push_back(std::move(result));
  }
  for (Value* value : node->operands()) value->users_.push_back(node);
  node->place_ = nodes_.insert(place, std::move(owned));
  ++nodes_by_operator_[&op];
  ++edits_;
  return node;
}

Node* Graph::append(const OpInfo& op, std::vector<Argument> arguments,
                    std::vector<Type> result_types, const std::string& name, Source source) {
  return insert(nodes_.end(), op, std::move(arguments), std::move(result_types), name,
                std::move(source));
}

Node* Graph::insert_before(Node* position, const OpInfo& op, std::vector<Argument> arguments,
                           std::vector<Type> result_types, const std::string& name) {
  return insert(position->place_, op, std::move(arguments), std::move(result_types), name,
                position->source_);
}

Node* Graph::insert_after(Node* position, const OpInfo& op, std::vector<Argument> arguments,
                          std::vector<Type> result_types, const std::string& name) {
  return insert(std::next(position->place_), op, std::move(arguments), std::move(result_types),
                name, position->source_);
}

void Graph::move_before(Node* node, Node* position) {
  nodes_.splice(position->place_, nodes_, node->place_);
  ++edits_;
}

void Graph::erase(Node* node) {
  for (Value* value : node->operands()) forget_use(&value->users_, node);
  for (const auto& result : node->results_) names_.erase(result->name_);
  const auto alike = nodes_by_operator_.find(node->op_);
  if (--alike->second == 0) nodes_by_operator_.erase(alike);
  nodes_with_regions_ -= node->regions_.empty() ? 0 : 1;
  nodes_.erase(node->place_);
  ++edits_;
}

void Graph::erase_constant(Value* constant) {
  const auto alike = constants_by_fqn_.find(constant->constant_->fqn);
  alike->second.erase(std::find(alike->second.begin(), alike->second.end(), constant));
  if (alike->second.empty()) constants_by_fqn_.erase(alike);
  constant_values_.erase(constant->constant_.get());
  names_.erase(constant->name_);
  owned_values_.erase(constant->place_);
  ++edits_;
}

void Graph::erase_input(Value* input) {
  inputs_.erase(std::find(inputs_.begin(), inputs_.end(), input));
  names_.erase(input->name_);
  owned_values_.erase(input->place_);
  ++edits_;
}

void Graph::rename(Value* value, const std::string& name) {
  if (value->name_ == name) return;
  names_.erase(value->name_);
  value->name_ = unique_name(name);
  ++edits_;
}

void Graph::replace_all_uses(Value* from, Value* to) {
  if (from == to) return;
  ++edits_;
  const std::vector<Node*> users = from->users_;
  const Node* before = nullptr;
  for (Node* user : users) {
    to->users_.push_back(user);
    if (user == before) continue;  // it uses the value again
    before = user;
    for (Argument& argument : user->arguments_) argument.replace(from, to);
  }
  from->users_.clear();
  if (from->output_uses_ == 0) return;
  const auto move_use = [from, to](Value** use) {
    if (*use != from) return;
    *use = to;
    --from->output_uses_;
    ++to->output_uses_;
  };
  for (Value*& output : outputs_) {
    if (from->output_uses_ == 0) return;
    move_use(&output);
  }
  for (BufferWrite& write : buffer_writes_) {
    if (from->output_uses_ == 0) return;
    move_use(&write.value);
  }
}

void Graph::count_outputs(int delta) {
  for (Value* output : outputs_) output->output_uses_ += delta;
  for (const BufferWrite& write : buffer_writes_) {
    write.value->output_uses_ += delta;
    write.buffer->output_uses_ += delta;
  }
}

void Graph::set_outputs(std::vector<Value*> outputs) {
  count_outputs(-1);
  outputs_ = std::move(outputs);
  ++edits_;
  count_outputs(+1);
}

void Graph::set_buffer_writes(std::vector<BufferWrite> writes) {
  count_outputs(-1);
  buffer_writes_ = std::move(writes);
  ++edits_;
  count_outputs(+1);
}

Node* Graph::next(const Node* node) const {
  auto it = std::next(NodeList::const_iterator(node->place_));
  return it == nodes_.end() ? nullptr : it->get();
}

Node* Graph::previous(const Node* node) const {
  auto it = NodeList::const_iterator(node->place_);
  return it == nodes_.begin() ? nullptr : std::prev(it)->get();
}

std::vector<Node*> Graph::node_pointers() const {
  std::vector<Node*> nodes;
  nodes.reserve(nodes_.size());
  for (const auto& node : nodes_) nodes.push_back(node.get());
  return nodes;
}

std::vector<Value*> Graph::constants() const {
  std::vector<Value*> constants;
  constants.reserve(constant_values_.size());
  for (const auto& value : owned_values_) {
    if (value->is_constant()) constants.push_back(value.get());
  }
  return constants;
}

Value* Graph::find_constant(const std::string& fqn) const {
  const auto alike = constants_by_fqn_.find(fqn);
  return alike == constants_by_fqn_.end() ? nullptr : alike->second.back();
}

std::unique_ptr<Graph> Graph::clone(std::map<const Value*, Value*>* out_map) const {
  auto copy = std::make_unique<Graph>(name_);
  std::map<const Value*, Value*> map;
  // Names are unique here, so that the copies take them as they are.
  const auto adopt = [&](const Value* from, Value* to) {
    to->name_ = from->name_;
    map[from] = to;
  };
  for (const auto& value : owned_values_) {
    adopt(value.get(), value->is_constant() ? copy->add_constant(value->constant_)
                                            : copy->add_input(value->type_, value->name_));
  }
  for (const auto& node : nodes_) {
    std::vector<Argument> arguments = node->arguments_;
    for (Argument& argument : arguments) argument = with_values_of(map, argument);
    std::vector<Type> types;
    for (const auto& result : node->results_) types.push_back(result->type_);
    Node* made =
        copy->append(*node->op_, std::move(arguments), std::move(types), "", node->source_);
    made->delegate_ = node->delegate_;
    std::vector<std::shared_ptr<Graph>> regions;
    for (const std::shared_ptr<Graph>& region : node->regions_) regions.push_back(region->clone());
    made->set_regions(std::move(regions));
    for (size_t i = 0; i < node->results_.size(); ++i) {
      adopt(node->results_[i].get(), made->result(i));
    }
  }
  copy->names_ = names_;
  std::vector<Value*> outputs;
  for (Value* output : outputs_) outputs.push_back(map.at(output));
  copy->set_outputs(std::move(outputs));
  std::vector<BufferWrite> writes;
  for (const BufferWrite& write : buffer_writes_) {
    writes.push_back({map.at(write.buffer), map.at(write.value)});
  }
  copy->set_buffer_writes(std::move(writes));
  if (out_map != nullptr) *out_map = std::move(map);
  return copy;
}

std::vector<Graph*> with_regions(Graph& graph) {
  std::vector<Graph*> graphs = {&graph};
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (graphs[i]->nodes_with_regions() == 0) continue;
    for (const auto& node : graphs[i]->nodes()) {
      for (const std::shared_ptr<Graph>& region : node->regions()) {
        graphs.push_back(region.get());
      }
    }
  }
  return graphs;
}

}  // namespace petrel::exir
