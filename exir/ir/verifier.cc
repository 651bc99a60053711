// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/verifier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ir/argument_fit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

absl::Status broken(const std::string& what) { return absl::InvalidArgumentError(what); }

absl::Status broken(const Node& node, const std::string& what) {
  return broken(absl::StrCat(node.describe(), ": ", what));
}

// Calls `visit` with every value the graph owns; stops at the first error.
template <typename Visit>
absl::Status for_each_value(const Graph& graph, Visit visit) {
  for (const Value* value : graph.inputs()) {
    PETREL_RETURN_IF_ERROR(visit(*value));
  }
  for (const Value* value : graph.constants()) {
    PETREL_RETURN_IF_ERROR(visit(*value));
  }
  for (const auto& node : graph.nodes()) {
    for (size_t i = 0; i < node->num_results(); ++i) {
      PETREL_RETURN_IF_ERROR(visit(*node->result(i)));
    }
  }
  return absl::OkStatus();
}

absl::Status names_are_unique(const Graph& graph) {
  std::vector<absl::string_view> names;
  PETREL_RETURN_IF_ERROR(for_each_value(graph, [&](const Value& value) -> absl::Status {
    if (value.name().empty()) return broken("a value has no name");
    names.push_back(value.name());
    return absl::OkStatus();
  }));
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return absl::OkStatus();
  return broken(absl::StrCat("two values are named '", *twice, "'"));
}

absl::Status operands_are_defined_before(const Graph& graph) {
  std::unordered_set<const Value*> defined(graph.inputs().begin(), graph.inputs().end());
  for (const Value* value : graph.constants()) defined.insert(value);
  for (const auto& node : graph.nodes()) {
    // A value that is not of this graph may be gone: its name is not read.
    for (const Value* operand : node->operands()) {
      if (operand == nullptr) return broken(*node, "an operand is null");
      if (defined.count(operand) == 0) {
        return broken(*node, "an operand is defined later or not in this graph");
      }
    }
    for (size_t i = 0; i < node->num_results(); ++i) {
      defined.insert(node->result(i));
    }
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (defined.count(graph.outputs()[i]) == 0) {
      return broken(absl::StrCat("output ", i, " is not defined in this graph"));
    }
  }
  for (size_t i = 0; i < graph.buffer_writes().size(); ++i) {
    const BufferWrite& write = graph.buffer_writes()[i];
    if (defined.count(write.buffer) == 0 || defined.count(write.value) == 0) {
      return broken(absl::StrCat("buffer write ", i, " is of a value not defined in this graph"));
    }
  }
  return absl::OkStatus();
}

absl::Status results_know_their_node(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (&node->graph() != &graph) {
      return broken(*node, "belongs to another graph");
    }
    for (size_t i = 0; i < node->num_results(); ++i) {
      const Value& result = *node->result(i);
      if (result.producer() != node.get() || result.result_index() != i) {
        return broken(*node, absl::StrCat("result ", i, " points at another place"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status use_lists_are_exact(const Graph& graph) {
  // Both what nodes use and what values list, sorted: much faster than a set of
  // users for each value.
  using Use = std::pair<const Value*, const Node*>;
  std::vector<Use> found;
  std::vector<Use> recorded;
  std::unordered_map<const Value*, int> output_uses;
  for (const auto& node : graph.nodes()) {
    for (const Value* operand : node->operands()) found.emplace_back(operand, node.get());
  }
  for (const Value* output : graph.outputs()) ++output_uses[output];
  for (const BufferWrite& write : graph.buffer_writes()) {
    ++output_uses[write.value];
    ++output_uses[write.buffer];
  }
  PETREL_RETURN_IF_ERROR(for_each_value(graph, [&](const Value& value) -> absl::Status {
    for (const Node* user : value.users()) recorded.emplace_back(&value, user);
    const auto uses = output_uses.find(&value);
    const int expected = uses == output_uses.end() ? 0 : uses->second;
    if (value.output_uses() == expected) return absl::OkStatus();
    return broken(absl::StrCat("value '", value.name(), "' counts ", value.output_uses(),
                               " uses as output, found ", expected));
  }));
  std::sort(found.begin(), found.end());
  std::sort(recorded.begin(), recorded.end());
  if (found == recorded) return absl::OkStatus();
  return for_each_value(graph, [&](const Value& value) -> absl::Status {
    const auto of_value = [&](const std::vector<Use>& uses) {
      const auto begin = std::lower_bound(uses.begin(), uses.end(), Use(&value, nullptr));
      const auto end =
          std::find_if(begin, uses.end(), [&](Use use) { return use.first != &value; });
      return std::vector<Use>(begin, end);
    };
    const std::vector<Use> listed = of_value(recorded);
    const std::vector<Use> used = of_value(found);
    if (listed == used) return absl::OkStatus();
    return broken(absl::StrCat("value '", value.name(), "' lists ", listed.size(),
                               " uses by nodes, found ", used.size()));
  });
}

absl::Status arguments_fit_the_schema(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    const OpInfo& op = node->op();
    if (node->arguments().size() != op.args.size()) {
      return broken(*node, absl::StrCat("has ", node->arguments().size(), " arguments, its schema ",
                                        op.args.size()));
    }
    for (size_t i = 0; i < op.args.size(); ++i) {
      const ArgSpec& spec = op.args[i];
      if (!argument_fits(node->arguments()[i], spec)) {
        return broken(*node, absl::StrCat("argument '", spec.name, "' is not a ", wanted_by(spec)));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status result_count_fits(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    const OpInfo& op = node->op();
    if (!op.has_list_result && node->num_results() != op.num_results) {
      return broken(*node, absl::StrCat("has ", node->num_results(), " results, its schema ",
                                        op.num_results));
    }
  }
  return absl::OkStatus();
}

absl::Status types_are_valid(const Graph& graph) {
  return for_each_value(graph, [](const Value& value) -> absl::Status {
    if (!value.type().is_tensor()) return absl::OkStatus();
    const absl::Status status = check_tensor_type(value.tensor());
    if (!status.ok()) {
      return broken(absl::StrCat("value '", value.name(), "': ", status.message()));
    }
    if (value.producer() != nullptr && value.output_uses() == 0 &&
        !value.tensor().is_contiguous()) {
      return broken(absl::StrCat("value '", value.name(), "' is ", to_string(value.type()),
                                 ", inside a method only contiguous tensors "
                                 "may occur"));
    }
    return absl::OkStatus();
  });
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
  return agree(without_order(found), without_order(wanted));
}

absl::Status types_are_as_inferred(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    const OpInfo& op = node->op();
    if (op.infer == nullptr) continue;
    const absl::StatusOr<std::vector<Type>> inferred = op.infer(op, node->arguments());
    if (!inferred.ok()) {
      return broken(*node, std::string(inferred.status().message()));
    }
    std::vector<Type> found;
    for (size_t i = 0; i < node->num_results(); ++i) {
      found.push_back(without_order(node->result(i)->type()));
    }
    bool fits = found.size() == inferred->size();
    for (size_t i = 0; fits && i < found.size(); ++i) {
      fits = is_as_inferred(found[i], (*inferred)[i]);
    }
    if (!fits) {
      return broken(
          *node, absl::StrCat("is ", list_of(found), ", its operator gives ", list_of(*inferred)));
    }
  }
  return absl::OkStatus();
}

absl::Status constants_hold_their_bytes(const Graph& graph) {
  for (const Value* value : graph.constants()) {
    const Constant& constant = *value->constant();
    if (constant.fqn.empty()) {
      return broken(absl::StrCat("constant '", value->name(), "' has no FQN"));
    }
    if (value->type() != Type(constant.type)) {
      return broken(absl::StrCat("constant '", constant.fqn, "' is ", to_string(constant.type),
                                 ", its value ", to_string(value->type())));
    }
    const uint64_t wanted = static_cast<uint64_t>(constant.type.nbytes());
    if (constant.data.size() != wanted) {
      return broken(absl::StrCat("constant '", constant.fqn, "' has ", constant.data.size(),
                                 " bytes, its type ", wanted));
    }
  }
  return absl::OkStatus();
}

absl::Status constant_names_are_unique(const Graph& graph) {
  for (const Value* value : graph.constants()) {
    if (graph.find_constant(value->constant()->fqn) != value) {
      return broken(absl::StrCat("two constants have the FQN '", value->constant()->fqn, "'"));
    }
  }
  return absl::OkStatus();
}

absl::Status writes_go_to_mutable_buffers(const Graph& graph) {
  std::set<const Value*> written;
  for (const BufferWrite& write : graph.buffer_writes()) {
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

absl::Status only_delegate_calls_carry_payloads(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (node->delegate() != nullptr && node->op().name != "petrel::delegate_call") {
      return broken(*node, "carries a lowered partition");
    }
  }
  return absl::OkStatus();
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

// The type of one of the `count` rows that a map takes or gives.
Type row_of(Type type) {
  TensorType& tensor = type.tensor;
  std::vector<SizeExpression> sizes = tensor.all_sizes();
  sizes.erase(sizes.begin());
  const Sizes bounds(tensor.sizes.begin() + 1, tensor.sizes.end());
  return TensorType::dynamic(tensor.dtype, std::move(sizes), bounds);
}

absl::Status regions_fit_their_nodes(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    const bool is_cond = node->op().name == "petrel::cond";
    const bool is_map = node->op().name == "petrel::map";
    const size_t wanted = is_cond ? 2 : is_map ? 1 : 0;
    if (node->regions().size() != wanted) {
      return broken(*node,
                    absl::StrCat("has ", node->regions().size(), " regions, must have ", wanted));
    }
    if (wanted == 0) continue;
    std::vector<Type> inputs;
    std::vector<Type> outputs;
    if (is_map) {
      for (const Value* rows : node->arguments()[0].values()) {
        if (rows->type().is_tensor() && rows->tensor().rank() > 0) {
          inputs.push_back(row_of(rows->type()));
        } else {
          return broken(*node, absl::StrCat("maps over '", rows->name(), "', which has no rows"));
        }
      }
      if (inputs.empty()) return broken(*node, "maps over nothing");
    }
    for (const Value* operand : node->arguments()[1].values()) {
      inputs.push_back(operand->type());
    }
    for (size_t i = 0; i < node->num_results(); ++i) {
      const Type& type = node->result(i)->type();
      if (is_map && (!type.is_tensor() || type.tensor.rank() == 0)) {
        return broken(*node, absl::StrCat("result ", i, " has no rows"));
      }
      outputs.push_back(is_map ? row_of(type) : type);
    }
    for (const std::shared_ptr<Graph>& region : node->regions()) {
      PETREL_RETURN_IF_ERROR(region_fits(*node, *region, inputs, outputs));
      PETREL_RETURN_IF_ERROR(verify_graph(*region));
    }
  }
  return absl::OkStatus();
}

struct Rule {
  const char* name;
  absl::Status (*check)(const Graph& graph);
};

// Later rules read what earlier ones have proved safe to read.
constexpr Rule kRules[] = {
    {"results know their node", results_know_their_node},
    {"operands are defined before their use", operands_are_defined_before},
    {"names are unique", names_are_unique},
    {"use lists are exact", use_lists_are_exact},
    {"arguments fit the schema", arguments_fit_the_schema},
    {"result count fits the schema", result_count_fits},
    {"types are valid", types_are_valid},
    {"types are as inferred", types_are_as_inferred},
    {"constants hold their bytes", constants_hold_their_bytes},
    {"constant names are unique", constant_names_are_unique},
    {"writes go to mutable buffers", writes_go_to_mutable_buffers},
    {"only delegate calls carry payloads", only_delegate_calls_carry_payloads},
    {"regions fit their nodes", regions_fit_their_nodes},
};

}  // namespace

absl::Status verify_graph(const Graph& graph) {
  for (const Rule& rule : kRules) {
    const absl::Status status = rule.check(graph);
    if (!status.ok()) {
      return broken(
          absl::StrCat("method '", graph.name(), "': ", rule.name, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
