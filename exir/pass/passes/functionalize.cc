// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/functionalize.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/framework/strides.h"
#include "exir/pass/passes/cache_writes.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// All tensors that share memory with `base`.
struct Group {
  Value* base = nullptr;
  int generation = 0;  // counts the writes so far
};

// What is known of one value of the original graph.
struct Alias {
  Group* group = nullptr;
  Value* parent = nullptr;  // the value it is a view of; null for the base
  Node* step = nullptr;     // the view; null when equal to the parent
  size_t result_index = 0;
  std::optional<Strides> strides;  // nullopt: unknown
  // The value that holds its content as of `generation`.
  Value* current = nullptr;
  int generation = 0;
};

size_t written_argument(const OpInfo& op) {
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (op.args[i].is_written) return i;
  }
  return 0;
}

// Whether the result may share the memory of the first argument.
bool may_alias(const OpInfo& op) { return op.has(kView) || op.has(kIdentity); }

// A write is followed by each view of views that it goes through, and each of these is
// taken anew where it is read: so many nodes for one of the graph, and some more.
constexpr size_t kMostMade = 64;
constexpr size_t kMoreMade = size_t{1} << 16;

class Functionalizer {
 public:
  explicit Functionalizer(Graph& graph)
      : graph_(graph), left_(kMostMade * graph.nodes().size() + kMoreMade) {}

  absl::Status run();

 private:
  absl::Status visit(Node* node);
  absl::Status write(Node* node);
  BuiltValue new_value(Builder& b, Node* node, Value* self);
  BuiltValue scatter(Builder& b, const Alias& view, Value* parent, Value* value);
  absl::Status refresh_operands(Node* node);
  BuiltValue refresh(Value* value, Node* position);
  void add_base(Value* value);
  void add_view(Value* value, Value* parent, Node* step, std::optional<Strides> strides);
  void add_results(Node* node);
  absl::Status finish();
  absl::Status pay_for_node(const Node& of);

  Graph& graph_;
  size_t left_;  // of the nodes that may be made
  std::vector<std::unique_ptr<Group>> groups_;
  std::map<Value*, Alias> aliases_;
  std::vector<Node*> written_;  // in-place nodes, erased at the end
  // New values that take the names of in-place results.
  std::vector<std::pair<Value*, std::string>> renames_;
};

void Functionalizer::add_base(Value* value) {
  if (!value->type().is_tensor()) return;
  groups_.push_back(std::make_unique<Group>());
  groups_.back()->base = value;
  Alias alias;
  alias.group = groups_.back().get();
  alias.strides = dense_strides(value->tensor());
  alias.current = value;
  aliases_[value] = std::move(alias);
}

void Functionalizer::add_view(Value* value, Value* parent, Node* step,
                              std::optional<Strides> strides) {
  // What an in-place operator gives is what it was given: the tensor before all of them.
  const Alias& given = aliases_.at(parent);
  if (step == nullptr && given.step == nullptr && given.parent != nullptr) parent = given.parent;
  Alias alias;
  alias.group = given.group;
  alias.parent = parent;
  alias.step = step;
  alias.result_index = value->result_index();
  alias.strides = std::move(strides);
  alias.current = value;
  alias.generation = alias.group->generation;
  aliases_[value] = std::move(alias);
}

// Whether the result of a view-like node shares its argument's memory, and how.
void Functionalizer::add_results(Node* node) {
  const OpInfo& op = node->op();
  Value* self = node->arguments().empty() ? nullptr : tensor_in(node->arguments()[0]);
  // The operand may be a newer value of what the trace names.
  auto known = self == nullptr ? aliases_.end() : aliases_.find(self);
  const bool makes_copy = op.has(kIdentity) && !op.has(kView) && !op.has(kInPlace);  // clone
  if (!may_alias(op) || makes_copy || known == aliases_.end()) {
    for (size_t i = 0; i < node->num_results(); ++i) add_base(node->result(i));
    return;
  }
  Value* value = node->result();
  const Sizes& sizes = self->tensor().sizes;
  const std::optional<Strides>& strides = known->second.strides;
  if (op.is(aten::contiguous) && strides &&
      *strides != dense_strides(TensorType::contiguous(self->tensor().dtype, sizes))) {
    return add_base(value);
  }
  if (op.has(kIdentity)) {
    return add_view(value, self, nullptr, strides);
  }
  if (op.has(kElementwise)) {  // a cast: the same tensor when nothing changes
    const Argument* copy = find_argument(*node, arg::copy);
    const bool asked = copy != nullptr && *copy == Argument(true);
    if (asked || value->type() != self->type()) return add_base(value);
    return add_view(value, self, nullptr, strides);
  }
  if (op.is(aten::view, aten::view_dtype) || op.is(aten::reshape)) {
    std::optional<Strides> viewed;
    if (strides) {
      viewed = strides_of_view(sizes, *strides, value->tensor().sizes);
    }
    if (!viewed && op.is(aten::reshape)) return add_base(value);
    return add_view(value, self, node, viewed);
  }
  if (strides && op.is(aten::permute)) {
    Strides made;
    for (int64_t dim : ints_at(*node, arg::dims, 1)) {
      made.push_back((*strides)[static_cast<size_t>(dim)]);
    }
    return add_view(value, self, node, made);
  }
  if (strides && op.is(aten::slice_Tensor)) {
    Strides made = *strides;
    // A slice whose bounds are computed at run time is in no normal form.
    const int64_t dim = wrap_dim(node->argument(arg::dim).as_int(), sizes.size());
    int64_t& stride = made[static_cast<size_t>(dim)];
    const Argument& step = node->argument(arg::step);
    const bool is_known = step.is_int() && !__builtin_mul_overflow(stride, step.as_int(), &stride);
    return add_view(value, self, node, is_known ? std::optional(made) : std::nullopt);
  }
  if (strides && op.is(aten::expand)) {
    Strides made(value->tensor().rank(), 0);
    const size_t extra = made.size() - sizes.size();
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == value->tensor().sizes[extra + i]) {
        made[extra + i] = (*strides)[i];
      }
    }
    return add_view(value, self, node, made);
  }
  for (size_t i = 0; i < node->num_results(); ++i) {
    add_view(node->result(i), self, node, std::nullopt);
  }
}

absl::Status Functionalizer::pay_for_node(const Node& of) {
  if (left_-- > 0) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(of.describe(), ": writes through views of views become more than ", kMostMade,
                   " nodes for each of the graph"));
}

// The value that now holds the content of `value`, which is one of the original
// graph; views are taken anew before `position` where the base has changed.
BuiltValue Functionalizer::refresh(Value* value, Node* position) {
  auto it = aliases_.find(value);
  if (it == aliases_.end()) return value;
  std::vector<Alias*> stale;  // innermost first; views of views may be many
  Alias* alias = &it->second;
  while (alias->generation != alias->group->generation && alias->parent != nullptr) {
    stale.push_back(alias);
    alias = &aliases_.at(alias->parent);
  }
  Value* made = alias->current;  // a base always is up to date
  for (auto next = stale.rbegin(); next != stale.rend(); ++next) {
    Alias& view = **next;
    if (view.step != nullptr) {
      std::vector<Argument> arguments = view.step->arguments();
      arguments[0] = Argument(made);
      PETREL_RETURN_IF_ERROR(pay_for_node(*view.step));
      Builder b(graph_, position);
      PETREL_ASSIGN_OR_RETURN(Node * again, b.node(view.step->op(), std::move(arguments)));
      made = again->result(view.result_index);
    }
    view.current = made;
    view.generation = view.group->generation;
  }
  return made;
}

absl::Status Functionalizer::refresh_operands(Node* node) {
  for (size_t i = 0; i < node->arguments().size(); ++i) {
    Argument argument = node->arguments()[i];
    bool changed = false;
    for (Value* value : argument.values()) {
      PETREL_ASSIGN_OR_RETURN(Value * now, refresh(value, node));
      if (now == value) continue;
      argument.replace(value, now);
      changed = true;
    }
    if (changed) node->set_argument(i, std::move(argument));
  }
  return absl::OkStatus();
}

// `self` with one number on its diagonal.
BuiltValue with_diagonal(Builder& b, const Node& node, Value* self) {
  const TensorType& type = self->tensor();
  if (type.is_dynamic() || type.rank() != 2) {
    return absl::UnimplementedError(
        absl::StrCat(node.describe(), ": ", to_string(type), " is not a matrix of known size"));
  }
  const int64_t length = std::min(type.sizes[0], type.sizes[1]);
  if (node.argument(arg::wrap) == Argument(true) && type.sizes[0] > type.sizes[1] + 1) {
    return absl::UnimplementedError(
        absl::StrCat(node.describe(), ": a diagonal that starts anew is not supported"));
  }
  PETREL_ASSIGN_OR_RETURN(
      Value * line, b.call(aten::full, {Ints{length}, node.argument(arg::fill_value), type.dtype}));
  return b.call(aten::diagonal_scatter, {self, line, 0, 0, 1});
}

// What the in-place `node`, whose operands are fresh, leaves in `self`.
BuiltValue Functionalizer::new_value(Builder& b, Node* node, Value* self) {
  const TensorType& type = self->tensor();
  const OpInfo& op = node->op();
  const bool is_dynamic = type.is_dynamic();
  if (op.is(aten::zero_, aten::fill_Scalar_, aten::fill_Tensor_, aten::copy_)) {
    const Argument number(int64_t{0});
    const Argument& given = op.is(aten::zero_) ? number : node->argument(arg::src, arg::value);
    Value* made = tensor_in(given);
    if (made == nullptr) {  // a number
      return is_dynamic ? b.call(aten::full_like, {self, given})
                        : b.call(aten::full, {type.sizes, given, type.dtype});
    }
    PETREL_ASSIGN_OR_RETURN(made, b.cast(made, type.dtype));
    if (is_dynamic) {
      if (made->type() == self->type()) return made;
      return b.call(aten::expand_as, {made, self});
    }
    // The source may change later; a value of its own does not.
    return b.expand(made, sizes_of(type));
  }
  if (op.is(aten::fill_diagonal_)) return with_diagonal(b, *node, self);
  if (writes_cache(*node)) return cache_after(b, *node, self);
  if (op.twin == nullptr) {
    return absl::UnimplementedError(absl::StrCat(node->describe(), " has no functional form"));
  }
  PETREL_ASSIGN_OR_RETURN(Node * done_node, b.node(*op.twin, node->arguments()));
  Value* made = done_node->result();
  TensorType promoted = made->tensor();
  promoted.dtype = type.dtype;
  if (!agree(promoted, type)) {
    return absl::InvalidArgumentError(absl::StrCat(node->describe(), ": changes ", to_string(type),
                                                   " to ", to_string(made->tensor()), " in place"));
  }
  return b.cast(made, type.dtype);
}

// The parent after `value` was written to its view.
BuiltValue Functionalizer::scatter(Builder& b, const Alias& view, Value* parent, Value* value) {
  if (view.step == nullptr) return value;
  const Node& step = *view.step;
  PETREL_RETURN_IF_ERROR(pay_for_node(step));
  if (step.is(aten::view, aten::reshape)) {
    if (parent->type().is_dynamic()) {
      return b.call(aten::view_as, {value, parent});
    }
    return b.view(value, sizes_of(parent));
  }
  if (step.is(aten::permute)) {
    const Ints dims = ints_at(step, arg::dims, 1);
    Ints inverse(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      inverse[static_cast<size_t>(dims[i])] = static_cast<int64_t>(i);
    }
    return b.permute(value, inverse);
  }
  if (step.is(aten::slice_Tensor)) {
    return b.call(aten::slice_scatter,
                  {parent, value, step.argument(arg::dim), step.argument(arg::start),
                   step.argument(arg::end), step.argument(arg::step)});
  }
  if (step.is(aten::diagonal)) {
    return b.call(aten::diagonal_scatter, {parent, value, step.argument(arg::offset),
                                           step.argument(arg::dim1), step.argument(arg::dim2)});
  }
  return absl::UnimplementedError(
      absl::StrCat("a write through the view of ", step.describe(), " is not supported"));
}

absl::Status Functionalizer::write(Node* node) {
  const size_t place = written_argument(node->op());
  Value* target = tensor_in(node->arguments()[place]);
  if (target == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        node->describe(), ": argument '", node->op().args[place].name, "' is not a tensor"));
  }
  // Views of the target that must follow, innermost first, as they are now.
  std::vector<Value*> chain;
  std::vector<Value*> before;
  for (Value* value = target; value != nullptr; value = aliases_.at(value).parent) {
    chain.push_back(value);
    PETREL_ASSIGN_OR_RETURN(Value * now, refresh(value, node));
    before.push_back(now);
  }
  PETREL_RETURN_IF_ERROR(refresh_operands(node));
  Builder b(graph_, node);
  PETREL_ASSIGN_OR_RETURN(Value * value, new_value(b, node, before[0]));
  if (value->producer() != nullptr && aliases_.count(value) == 0 && node->num_results() == 1) {
    renames_.emplace_back(value, node->result()->name());
  }
  Group* group = aliases_.at(target).group;
  ++group->generation;
  for (size_t i = 0; i < chain.size(); ++i) {
    Alias& alias = aliases_.at(chain[i]);
    alias.current = value;
    alias.generation = group->generation;
    if (i + 1 < chain.size()) {
      absl::StatusOr<Value*> outer = scatter(b, alias, before[i + 1], value);
      if (!outer.ok()) return annotate(outer.status(), node->describe());
      value = *outer;
    }
  }
  for (size_t i = 0; i < node->num_results(); ++i) {
    add_view(node->result(i), target, nullptr, aliases_.at(target).strides);
    // Its own Value goes away with the node.
    aliases_.at(node->result(i)).current = aliases_.at(target).current;
  }
  written_.push_back(node);
  return absl::OkStatus();
}

absl::Status Functionalizer::visit(Node* node) {
  const bool is_identity = node->op().has(kIdentity);
  if (node->op().has(kInPlace) && !is_identity) return write(node);
  // What it views is named by the original operand.
  Value* self = node->arguments().empty() ? nullptr : tensor_in(node->arguments()[0]);
  if (may_alias(node->op()) && self != nullptr) {
    add_results(node);
    PETREL_RETURN_IF_ERROR(refresh_operands(node));
    return absl::OkStatus();
  }
  PETREL_RETURN_IF_ERROR(refresh_operands(node));
  for (size_t i = 0; i < node->num_results(); ++i) add_base(node->result(i));
  return absl::OkStatus();
}

absl::Status Functionalizer::finish() {
  std::vector<Value*> outputs;
  for (Value* output : graph_.outputs()) {
    PETREL_ASSIGN_OR_RETURN(Value * now, refresh(output, nullptr));
    outputs.push_back(now);
  }
  std::vector<BufferWrite> writes = graph_.buffer_writes();
  for (BufferWrite& write : writes) {
    PETREL_ASSIGN_OR_RETURN(write.value, refresh(write.value, nullptr));
  }
  std::vector<std::pair<Value*, Value*>> changed;  // constant, its new value
  for (const auto& group : groups_) {
    if (group->generation == 0 || !group->base->is_constant()) continue;
    changed.emplace_back(group->base, aliases_.at(group->base).current);
  }
  graph_.set_outputs(std::move(outputs));
  graph_.set_buffer_writes(std::move(writes));
  for (auto it = written_.rbegin(); it != written_.rend(); ++it) {
    graph_.erase(*it);
  }
  for (const auto& [value, name] : renames_) graph_.rename(value, name);
  // Constants that turn out to be state.
  std::map<const Value*, Value*> state;  // by the constant that it was
  for (const auto& [base, value] : changed) {
    if (base->constant()->is_mutable()) continue;
    auto copy = std::make_shared<Constant>(*base->constant());
    copy->kind = Constant::Kind::kMutableBuffer;
    Value* buffer = graph_.add_constant(std::move(copy));
    const std::string name = base->name();
    graph_.replace_all_uses(base, buffer);
    graph_.erase_constant(base);
    graph_.rename(buffer, name);
    state[base] = buffer;
  }
  const auto now = [&](Value* value) {
    const auto found = state.find(value);
    return found == state.end() ? value : found->second;
  };
  writes = graph_.buffer_writes();
  for (const auto& [buffer, value] : changed) {
    if (now(value) != now(buffer)) writes.push_back({now(buffer), now(value)});
  }
  graph_.set_buffer_writes(std::move(writes));
  return absl::OkStatus();
}

absl::Status Functionalizer::run() {
  for (Value* input : graph_.inputs()) add_base(input);
  for (Value* constant : graph_.constants()) add_base(constant);
  for (Node* node : graph_.node_pointers()) {
    PETREL_RETURN_IF_ERROR(visit(node));
  }
  return finish();
}

// reshape and the *_copy forms of views, now that nothing is written.
absl::StatusOr<bool> plain_views(Graph& graph) {
  const auto copies_view = [](const OpInfo& op) {
    return op.twin != nullptr && op.twin->has(kView) && !op.has(kInPlace);
  };
  if (!graph.any_operator(
          [&](const OpInfo& op) { return op.is(aten::reshape) || copies_view(op); })) {
    return false;
  }
  bool changed = false;
  for (Node* node : graph.node_pointers()) {
    const OpInfo& op = node->op();
    Builder b(graph, node);
    if (op.is(aten::reshape)) {
      Value* x = tensor_at(*node, arg::self);
      const Type& type = node->result()->type();
      PETREL_ASSIGN_OR_RETURN(
          Value * made, !type.is_dynamic() && !x->type().is_dynamic()
                            ? b.view(x, sizes_of(type.tensor))
                        : x->type() == type ? BuiltValue(x)
                                            : b.call(aten::view, {x, node->argument(arg::shape)}));
      PETREL_RETURN_IF_ERROR(b.replace(*node, made));
      changed = true;
      continue;
    }
    if (!copies_view(op)) continue;
    PETREL_ASSIGN_OR_RETURN(Node * made, b.node(*op.twin, node->arguments()));
    std::vector<Value*> results;
    for (size_t i = 0; i < made->num_results(); ++i) {
      results.push_back(made->result(i));
    }
    PETREL_RETURN_IF_ERROR(b.replace(*node, results));
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> functionalize(Graph& graph, const PassContext&) {
  PETREL_RETURN_IF_ERROR(split_cache_attention(graph).status());
  const bool writes =
      graph.any_operator([](const OpInfo& op) { return op.has(kInPlace) && !op.has(kIdentity); });
  if (writes) PETREL_RETURN_IF_ERROR(Functionalizer(graph).run());
  PETREL_ASSIGN_OR_RETURN(const bool viewed, plain_views(graph));
  return writes || viewed;
}

}  // namespace petrel::exir
