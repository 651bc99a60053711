// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/verifier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "exir/ir/argument_fit.h"
#include "exir/ir/region_values.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

absl::Status broken(const std::string& what) { return absl::InvalidArgumentError(what); }

absl::Status broken(const Node& node, const std::string& what) {
  return broken(absl::StrCat(node.describe(), ": ", what));
}

// What has been seen on the one way through a graph. Graphs are larger than caches:
// all that is checked of a node is checked when it comes by.
struct Walk {
  explicit Walk(const Graph& walked) : graph(walked) {
    const size_t values = graph.inputs().size() + 3 * graph.nodes().size();
    defined.reserve(values);
    names.reserve(values);
    order.reserve(values);
  }

  using Use = std::pair<const Value*, const Node*>;

  const Graph& graph;
  std::vector<const Value*> order;  // of all values
  absl::flat_hash_set<const Value*> defined;
  absl::flat_hash_set<absl::string_view> names;
  std::vector<Use> found;     // what nodes use
  std::vector<Use> recorded;  // what values list
  std::unordered_map<const Value*, int> counted_outputs;
};

absl::Status has_a_name_of_its_own(const Value& value, Walk& walk) {
  if (value.name().empty()) return broken("a value has no name");
  if (walk.names.insert(value.name()).second) return absl::OkStatus();
  return broken(absl::StrCat("two values are named '", value.name(), "'"));
}

absl::Status lists_its_users(const Value& value, Walk& walk) {
  for (const Node* user : value.users()) walk.recorded.emplace_back(&value, user);
  if (value.output_uses() != 0) walk.counted_outputs[&value] = value.output_uses();
  return absl::OkStatus();
}

absl::Status has_a_valid_type(const Value& value, Walk&) {
  if (!value.type().is_tensor()) return absl::OkStatus();
  const absl::Status status = check_tensor_type(value.tensor());
  if (!status.ok()) {
    return broken(absl::StrCat("value '", value.name(), "': ", status.message()));
  }
  if (value.producer() != nullptr && value.output_uses() == 0 && !value.tensor().is_contiguous()) {
    return broken(absl::StrCat("value '", value.name(), "' is ", to_string(value.type()),
                               ", inside a method only contiguous tensors "
                               "may occur"));
  }
  return absl::OkStatus();
}

absl::Status operands_are_defined_before(const Node& node, Walk& walk) {
  // A value that is not of this graph may be gone: its name is not read.
  for (const Value* operand : node.operands()) {
    if (operand == nullptr) return broken(node, "an operand is null");
    if (walk.defined.count(operand) == 0) {
      return broken(node, "an operand is defined later or not in this graph");
    }
    walk.found.emplace_back(operand, &node);
  }
  return absl::OkStatus();
}

absl::Status results_know_their_node(const Node& node, Walk& walk) {
  if (&node.graph() != &walk.graph) return broken(node, "belongs to another graph");
  for (size_t i = 0; i < node.num_results(); ++i) {
    const Value& result = *node.result(i);
    if (result.producer() != &node || result.result_index() != i) {
      return broken(node, absl::StrCat("result ", i, " points at another place"));
    }
  }
  return absl::OkStatus();
}

absl::Status arguments_fit_the_schema(const Node& node, Walk&) {
  const OpInfo& op = node.op();
  if (node.arguments().size() != op.args.size()) {
    return broken(node, absl::StrCat("has ", node.arguments().size(), " arguments, its schema ",
                                     op.args.size()));
  }
  for (size_t i = 0; i < op.args.size(); ++i) {
    const ArgSpec& spec = op.args[i];
    if (!argument_fits(node.arguments()[i], spec)) {
      return broken(node, absl::StrCat("argument '", spec.name, "' is not a ", wanted_by(spec)));
    }
  }
  return absl::OkStatus();
}

absl::Status result_count_fits(const Node& node, Walk&) {
  const OpInfo& op = node.op();
  if (op.has_list_result || node.num_results() == op.num_results) return absl::OkStatus();
  return broken(node,
                absl::StrCat("has ", node.num_results(), " results, its schema ", op.num_results));
}

std::string list_of(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", to_string(type));
  }
  return text;
}

// The rules know nothing of dim orders: they infer contiguous results.
Type without_order(Type type) {
  if (type.is_tensor()) type.tensor = type.tensor.without_order();
  return type;
}

// A number read from a tensor is what the data says; its rule knows nothing. What
// a size is may be known from elsewhere (an exporter's expression, the node that
// this one replaced), so that its rule need only not refute it.
bool is_as_inferred(const Type& found, const Type& wanted) {
  if (found.kind == Type::Kind::kInt && wanted.kind == Type::Kind::kInt && !wanted.number) {
    return true;
  }
  const auto has_order = [](const Type& type) {
    return type.is_tensor() && !type.tensor.is_contiguous();
  };
  if (!has_order(found) && !has_order(wanted)) return petrel::exir::agree(found, wanted);
  return agree(without_order(found), without_order(wanted));
}

absl::Status types_are_as_inferred(const Node& node, Walk&) {
  const OpInfo& op = node.op();
  if (op.infer == nullptr) return absl::OkStatus();
  const absl::StatusOr<std::vector<Type>> inferred = op.infer(op, node.arguments());
  if (!inferred.ok()) return broken(node, std::string(inferred.status().message()));
  bool fits = node.num_results() == inferred->size();
  for (size_t i = 0; fits && i < inferred->size(); ++i) {
    const Type& found = node.result(i)->type();
    const Type& ruled = (*inferred)[i];
    fits = is_as_inferred(found, ruled) ||
           (op.has(kDataSized) && found.is_tensor() && ruled.is_tensor() &&
            agrees_by_data(found.tensor, ruled.tensor));
  }
  if (fits) return absl::OkStatus();
  std::vector<Type> found;
  for (size_t i = 0; i < node.num_results(); ++i) {
    found.push_back(without_order(node.result(i)->type()));
  }
  return broken(node,
                absl::StrCat("is ", list_of(found), ", its operator gives ", list_of(*inferred)));
}

absl::Status constant_holds_its_bytes(const Value& value, Walk&) {
  if (!value.is_constant()) return absl::OkStatus();
  const Constant& constant = *value.constant();
  if (constant.fqn.empty()) {
    return broken(absl::StrCat("constant '", value.name(), "' has no FQN"));
  }
  if (value.type() != Type(constant.type)) {
    return broken(absl::StrCat("constant '", constant.fqn, "' is ", to_string(constant.type),
                               ", its value ", to_string(value.type())));
  }
  const uint64_t wanted = static_cast<uint64_t>(constant.type.nbytes());
  if (constant.data.size() != wanted) {
    return broken(absl::StrCat("constant '", constant.fqn, "' has ", constant.data.size(),
                               " bytes, its type ", wanted));
  }
  return absl::OkStatus();
}

absl::Status constant_has_a_name_of_its_own(const Value& value, Walk& walk) {
  if (!value.is_constant()) return absl::OkStatus();
  const std::string& fqn = value.constant()->fqn;
  if (walk.graph.find_constant(fqn) == &value) return absl::OkStatus();
  return broken(absl::StrCat("two constants have the FQN '", fqn, "'"));
}

absl::Status outputs_are_defined(Walk& walk) {
  const Graph& graph = walk.graph;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (walk.defined.count(graph.outputs()[i]) == 0) {
      return broken(absl::StrCat("output ", i, " is not defined in this graph"));
    }
  }
  for (size_t i = 0; i < graph.buffer_writes().size(); ++i) {
    const BufferWrite& write = graph.buffer_writes()[i];
    if (walk.defined.count(write.buffer) == 0 || walk.defined.count(write.value) == 0) {
      return broken(absl::StrCat("buffer write ", i, " is of a value not defined in this graph"));
    }
  }
  return absl::OkStatus();
}

// Those of `value` among sorted `uses`.
std::vector<Walk::Use> uses_of(const Value* value, const std::vector<Walk::Use>& uses) {
  const auto begin = std::lower_bound(uses.begin(), uses.end(), Walk::Use(value, nullptr));
  return std::vector<Walk::Use>(
      begin, std::find_if(begin, uses.end(), [&](Walk::Use use) { return use.first != value; }));
}

absl::Status use_lists_are_exact(Walk& walk) {
  std::unordered_map<const Value*, int> outputs;
  for (const Value* output : walk.graph.outputs()) ++outputs[output];
  for (const BufferWrite& write : walk.graph.buffer_writes()) {
    ++outputs[write.value];
    ++outputs[write.buffer];
  }
  // Sorted, which is much faster than a set of users for each value.
  std::sort(walk.found.begin(), walk.found.end());
  std::sort(walk.recorded.begin(), walk.recorded.end());
  if (walk.found == walk.recorded && walk.counted_outputs == outputs) return absl::OkStatus();
  for (const Value* value : walk.order) {
    if (value->output_uses() != outputs[value]) {
      return broken(absl::StrCat("value '", value->name(), "' counts ", value->output_uses(),
                                 " uses as output, found ", outputs[value]));
    }
    const std::vector<Walk::Use> listed = uses_of(value, walk.recorded);
    const std::vector<Walk::Use> used = uses_of(value, walk.found);
    if (listed == used) continue;
    return broken(absl::StrCat("value '", value->name(), "' lists ", listed.size(),
                               " uses by nodes, found ", used.size()));
  }
  return absl::OkStatus();
}

absl::Status writes_go_to_mutable_buffers(Walk& walk) {
  std::set<const Value*> written;
  for (const BufferWrite& write : walk.graph.buffer_writes()) {
    const std::string& name = write.buffer->name();
    if (!write.buffer->is_constant() || !write.buffer->constant()->is_mutable()) {
      return broken(absl::StrCat("'", name, "' is written and no mutable buffer"));
    }
    if (write.value->type() != write.buffer->type()) {
      return broken(absl::StrCat("mutable buffer '", name, "' is ", to_string(write.buffer->type()),
                                 ", what is written ", to_string(write.value->type())));
    }
    if (!written.insert(write.buffer).second) {
      return broken(absl::StrCat("mutable buffer '", name, "' is written twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status only_delegate_calls_carry_payloads(const Node& node, Walk&) {
  if (node.delegate() == nullptr || node.op().name == "petrel::delegate_call") {
    return absl::OkStatus();
  }
  return broken(node, "carries a lowered partition");
}

bool agree(const std::vector<Type>& a, const std::vector<Type>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Type& x, const Type& y) { return petrel::exir::agree(x, y); });
}

// What a region must take and give: types, not names.
absl::Status region_fits(const Node& node, const Graph& region, const std::vector<Type>& inputs,
                         const std::vector<Type>& outputs) {
  std::vector<Type> taken;
  for (const Value* input : region.inputs()) taken.push_back(input->type());
  if (!agree(taken, inputs)) {
    return broken(node, absl::StrCat("region '", region.name(), "' takes ", list_of(taken),
                                     ", must take ", list_of(inputs)));
  }
  std::vector<Type> given;
  for (const Value* output : region.outputs()) given.push_back(output->type());
  if (!agree(given, outputs)) {
    return broken(node, absl::StrCat("region '", region.name(), "' gives ", list_of(given),
                                     ", must give ", list_of(outputs)));
  }
  if (!region.buffer_writes().empty()) {
    return broken(node, absl::StrCat("region '", region.name(), "' writes state"));
  }
  return absl::OkStatus();
}

// 2 of cond and while_loop, 1 of map and scan, none of all others.
size_t regions_wanted(const std::string& op) {
  if (op == "petrel::cond" || op == "petrel::while_loop") return 2;
  return op == "petrel::map" || op == "petrel::scan" ? 1 : 0;
}

absl::Status regions_fit_their_nodes(const Node& node, Walk&) {
  const std::string& op = node.op().name;
  const size_t wanted = regions_wanted(op);
  if (node.regions().size() != wanted) {
    return broken(node,
                  absl::StrCat("has ", node.regions().size(), " regions, must have ", wanted));
  }
  if (wanted == 0) return absl::OkStatus();
  const RegionValues values = region_values(node);
  const bool takes_rows = op == "petrel::map" || op == "petrel::scan";
  if (takes_rows && values.rows.empty()) return broken(node, "maps over nothing");
  if (node.num_results() < values.carried.size()) {
    return broken(node, absl::StrCat("has ", node.num_results(), " results, carries ",
                                     values.carried.size(), " values"));
  }
  std::vector<Type> inputs;
  std::vector<Type> outputs;
  for (const Value* carried : values.carried) inputs.push_back(carried->type());
  for (const Value* rows : values.rows) {
    if (!rows->type().is_tensor() || rows->tensor().rank() == 0) {
      return broken(node, absl::StrCat("maps over '", rows->name(), "', which has no rows"));
    }
    inputs.push_back(row_of(rows->tensor()));
  }
  if (const Value* other = find_other_row_count(values.rows); other != nullptr) {
    return broken(node, absl::StrCat("maps over '", values.rows[0]->name(), "' and '",
                                     other->name(), "', which have other numbers of rows"));
  }
  for (const Value* operand : values.operands) inputs.push_back(operand->type());
  for (size_t i = 0; i < node.num_results(); ++i) {
    const Type& type = node.result(i)->type();
    const bool has_rows = takes_rows && i >= values.carried.size();
    if (has_rows && (!type.is_tensor() || type.tensor.rank() == 0)) {
      return broken(node, absl::StrCat("result ", i, " has no rows"));
    }
    outputs.push_back(has_rows ? row_of(type.tensor) : type);
  }
  for (size_t i = 0; i < wanted; ++i) {
    const Graph& region = *node.regions()[i];
    const bool is_condition = op == "petrel::while_loop" && i == 0;
    PETREL_RETURN_IF_ERROR(region_fits(
        node, region, inputs,
        is_condition ? std::vector<Type>{TensorType::contiguous(ScalarType::kBool, {})} : outputs));
    PETREL_RETURN_IF_ERROR(verify_graph(region));
  }
  return absl::OkStatus();
}

template <typename Part>
struct Rule {
  const char* name;
  absl::Status (*check)(const Part& part, Walk& walk);
};

// Later rules read what earlier ones have proved safe to read.
constexpr Rule<Value> kValueRules[] = {
    {"names are unique", has_a_name_of_its_own},
    {"use lists are exact", lists_its_users},
    {"types are valid", has_a_valid_type},
    {"constants hold their bytes", constant_holds_its_bytes},
    {"constant names are unique", constant_has_a_name_of_its_own},
};

constexpr Rule<Node> kNodeRules[] = {
    {"results know their node", results_know_their_node},
    {"operands are defined before their use", operands_are_defined_before},
    {"arguments fit the schema", arguments_fit_the_schema},
    {"result count fits the schema", result_count_fits},
    {"types are as inferred", types_are_as_inferred},
    {"only delegate calls carry payloads", only_delegate_calls_carry_payloads},
    {"regions fit their nodes", regions_fit_their_nodes},
};

struct GraphRule {
  const char* name;
  absl::Status (*check)(Walk& walk);
};

// With what was seen of all nodes and values.
constexpr GraphRule kGraphRules[] = {
    {"outputs are defined", outputs_are_defined},
    {"use lists are exact", use_lists_are_exact},
    {"writes go to mutable buffers", writes_go_to_mutable_buffers},
};

absl::Status by_rule(const char* rule, const absl::Status& status, const Graph& graph) {
  return broken(absl::StrCat("method '", graph.name(), "': ", rule, ": ", status.message()));
}

template <typename Part>
absl::Status check(absl::Span<const Rule<Part>> rules, const Part& part, Walk& walk) {
  for (const Rule<Part>& rule : rules) {
    const absl::Status status = rule.check(part, walk);
    if (!status.ok()) return by_rule(rule.name, status, walk.graph);
  }
  return absl::OkStatus();
}

absl::Status check_value(const Value& value, Walk& walk) {
  walk.defined.insert(&value);
  walk.order.push_back(&value);
  return check<Value>(kValueRules, value, walk);
}

}  // namespace

absl::Status verify_graph(const Graph& graph) {
  Walk walk(graph);
  for (const Value* value : graph.inputs()) PETREL_RETURN_IF_ERROR(check_value(*value, walk));
  for (const Value* value : graph.constants()) PETREL_RETURN_IF_ERROR(check_value(*value, walk));
  for (const auto& node : graph.nodes()) {
    PETREL_RETURN_IF_ERROR(check<Node>(kNodeRules, *node, walk));
    for (size_t i = 0; i < node->num_results(); ++i) {
      PETREL_RETURN_IF_ERROR(check_value(*node->result(i), walk));
    }
  }
  for (const GraphRule& rule : kGraphRules) {
    const absl::Status status = rule.check(walk);
    if (!status.ok()) return by_rule(rule.name, status, graph);
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
