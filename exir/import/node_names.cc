// SPDX-License-Identifier: Apache-2.0
#include "exir/import/node_names.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr size_t kMaxPlaces = 3;

// The operators that passes make, as "petrel.int8_add.default". No archive has them: torch knows
// none of them, and what holds for their arguments is what the pass that makes them sees to.
constexpr absl::string_view kOwnOperators = "petrel.";

// Every node that a pass makes of one has a copy of its source.
constexpr size_t kMaxSource = 500;

std::string shortened(absl::string_view text) {
  size_t end = std::min(text.size(), kMaxSource);
  // Between two characters of UTF-8.
  while (end > 0 && end < text.size() && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

// The line of a stack trace that Source::location() tells of; "" if it tells of none.
std::string told_frame(std::string trace) {
  Source all;
  all.stack_trace = std::move(trace);
  const std::string told = all.location();
  Source one;
  for (const absl::string_view line : absl::StrSplit(all.stack_trace, '\n')) {
    one.stack_trace = std::string(line);
    if (!told.empty() && one.location() == told) return one.stack_trace;
  }
  return "";
}

struct Place {
  std::string node;
  std::string line;  // empty where the archive has none
};

// Operator -> the places that use it.
using Places = std::map<std::string, std::vector<Place>>;

// The operators on numbers of Python and torch under the names of their rows.
struct ScalarName {
  const char* target;
  const char* row;
};

constexpr ScalarName kScalarNames[] = {
    {"_operator.add", "executorch_prim.add.Scalar"},
    {"_operator.sub", "executorch_prim.sub.Scalar"},
    {"_operator.mul", "executorch_prim.mul.Scalar"},
    {"_operator.floordiv", "executorch_prim.floordiv.Scalar"},
    {"_operator.mod", "executorch_prim.mod.Scalar"},
    {"_operator.truediv", "executorch_prim.truediv.Scalar"},
    {"_operator.neg", "executorch_prim.neg.Scalar"},
    {"_operator.eq", "executorch_prim.eq.Scalar"},
    {"_operator.lt", "executorch_prim.lt.Scalar"},
    {"_operator.le", "executorch_prim.le.Scalar"},
    {"_operator.gt", "executorch_prim.gt.Scalar"},
    {"_operator.ge", "executorch_prim.ge.Scalar"},
    {"math.trunc", "executorch_prim.trunc.Scalar"},
    {"math.ceil", "executorch_prim.ceil.Scalar"},
    {"torch.sym_max", "executorch_prim.sym_max.Scalar"},
    {"torch.sym_min", "executorch_prim.sym_min.Scalar"},
    {"torch.sym_not", "executorch_prim.sym_not.Scalar"},
    {"torch.sym_float", "executorch_prim.sym_float.Scalar"},
    {"torch.sym_int", "executorch_prim.sym_int.Scalar"},
    {"torch.sym_ite", "executorch_prim.sym_ite.Scalar"},
    // In archives that were not decomposed.
    {"torch.ops.aten.item.default", "aten._local_scalar_dense.default"},
};

}  // namespace

absl::StatusOr<bool> has_scalar_results_only(const Json& node) {
  PETREL_ASSIGN_OR_RETURN(Json output_list, node.at("outputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> outputs, output_list.items());
  for (const Json& output : outputs) {
    PETREL_ASSIGN_OR_RETURN(auto tagged, output.tagged());
    if (!absl::StartsWith(tagged.first, "as_sym_")) return false;
  }
  return !outputs.empty();
}

namespace {

bool holds_graphs(const std::string& target) {
  static constexpr const char* kTargets[] = {kSetGradEnabled, kAutocast, kCond, kMap,
                                             kScan,           kWhileLoop};
  return std::find(std::begin(kTargets), std::end(kTargets), target) != std::end(kTargets);
}

// Those that fail or do nothing.
bool is_check(const std::string& name) {
  static constexpr const char* kChecks[] = {"aten._linalg_check_errors.default",
                                            "aten._assert_async.default", "aten._assert_async.msg"};
  return std::find(std::begin(kChecks), std::end(kChecks), name) != std::end(kChecks);
}

// The operator that a node with effects calls, its second argument.
absl::StatusOr<std::string> operator_with_effects(const Json& node) {
  PETREL_ASSIGN_OR_RETURN(Json input_list, node.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> inputs, input_list.items());
  if (inputs.size() < 2) return input_list.error("has no operator");
  PETREL_ASSIGN_OR_RETURN(Json argument, inputs[1].at("arg"));
  PETREL_ASSIGN_OR_RETURN(Json target, argument.at("as_operator"));
  PETREL_ASSIGN_OR_RETURN(std::string text, target.text());
  return operator_name(text);
}

absl::Status collect_unknown(const Json& graph, Places* unknown) {
  PETREL_ASSIGN_OR_RETURN(Json node_list, graph.at("nodes"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> nodes, node_list.items());
  for (const Json& node : nodes) {
    PETREL_ASSIGN_OR_RETURN(Json target_json, node.at("target"));
    PETREL_ASSIGN_OR_RETURN(std::string target, target_json.text());
    if (holds_graphs(target)) {
      PETREL_ASSIGN_OR_RETURN(Json input_list, node.at("inputs"));
      PETREL_ASSIGN_OR_RETURN(std::vector<Json> inputs, input_list.items());
      for (const Json& input : inputs) {
        PETREL_ASSIGN_OR_RETURN(Json argument, input.at("arg"));
        const std::optional<Json> region = argument.find("as_graph");
        if (!region) continue;
        PETREL_ASSIGN_OR_RETURN(Json inner, region->at("graph"));
        PETREL_RETURN_IF_ERROR(collect_unknown(inner, unknown));
      }
      continue;
    }
    std::string name = operator_name(target);
    if (target == kWithEffects) {
      PETREL_ASSIGN_OR_RETURN(name, operator_with_effects(node));
      if (is_check(name)) continue;
    } else if (is_ignored(name) || find_torch_op(name) != nullptr ||
               find_op_of_out(node, name) != nullptr) {
      continue;
    }
    PETREL_ASSIGN_OR_RETURN(bool scalar, has_scalar_results_only(node));
    if (scalar) continue;
    (*unknown)[name].push_back({node_name(node), read_source(node).location()});
  }
  return absl::OkStatus();
}

}  // namespace

bool is_ignored(const std::string& name) {
  static constexpr const char* kIgnored[] = {
      "aten._assert_scalar.default",
      "aten._assert_tensor_metadata.default",
      "aten.promote_types.default",
      "aten.sym_constrain_range.default",
      "aten.sym_constrain_range_for_size.default",
  };
  return std::find(std::begin(kIgnored), std::end(kIgnored), name) != std::end(kIgnored);
}

std::string operator_name(const std::string& target) {
  for (const ScalarName& row : kScalarNames) {
    if (target == row.target) return row.row;
  }
  absl::string_view name = target;
  absl::ConsumePrefix(&name, "torch.ops.");
  return std::string(name);
}

const OpInfo* find_torch_op(const std::string& name) {
  return absl::StartsWith(name, kOwnOperators) ? nullptr : find_op(name);
}

namespace {

// Whether an operator has all arguments of a node but as many as it has results.
bool takes_others(const OpInfo& op, const Json& node) {
  const std::optional<Json> list = node.find("inputs");
  const absl::StatusOr<std::vector<Json>> inputs = list ? list->items() : std::vector<Json>();
  if (!inputs.ok() || op.has_list_result) return false;
  const auto others = std::count_if(inputs->begin(), inputs->end(), [&op](const Json& input) {
    const std::optional<Json> name = input.find("name");
    return op.find_arg(name ? name->text().value_or("") : "") < 0;
  });
  return static_cast<size_t>(others) == op.num_results;
}

// Overloads that write, which torch calls after their results, and those that give them.
struct OutOverload {
  absl::string_view writes;
  absl::string_view gives;
};

constexpr OutOverload kOutOverloads[] = {
    {"out", "default"}, {"out", "Tensor"},     {"out", "dim"},        {"dim_max", "dim"},
    {"dim_min", "dim"}, {"dim_values", "dim"}, {"values", "default"}, {"values_stable", "stable"},
};

}  // namespace

const OpInfo* find_op_of_out(const Json& node, const std::string& name) {
  // 0 without a dot, and no operator is called like that.
  const size_t begin = name.rfind('.') + 1;
  const std::string base = name.substr(0, begin);
  absl::string_view overload(name);
  overload.remove_prefix(begin);
  std::vector<std::string> others;
  for (const OutOverload& row : kOutOverloads) {
    if (overload == row.writes) others.emplace_back(row.gives);
  }
  if (absl::ConsumeSuffix(&overload, "_out")) {
    others = {std::string(overload), absl::StrCat("dim_", overload)};
  }
  for (const std::string& other : others) {
    const OpInfo* op = find_torch_op(base + other);
    if (op != nullptr && takes_others(*op, node)) return op;
  }
  return nullptr;
}

Source read_source(const Json& node) {
  Source source;
  const std::optional<Json> metadata = node.find("metadata");
  if (!metadata) return source;
  if (const std::optional<Json> trace = metadata->find("stack_trace")) {
    source.stack_trace = shortened(told_frame(trace->text().value_or("")));
  }
  if (const std::optional<Json> stack = metadata->find("nn_module_stack")) {
    // "key,fqn,class;key,fqn,class": the last entry is the innermost module.
    const std::string text = stack->text().value_or("");
    const std::vector<std::string> entries = absl::StrSplit(text, ';');
    const std::vector<std::string> fields = absl::StrSplit(entries.back(), ',');
    if (fields.size() >= 2) source.module = shortened(fields[1]);
  }
  return source;
}

std::string node_name(const Json& node) {
  if (const std::optional<Json> name = node.find("name")) {
    const absl::StatusOr<std::string> text = name->text();
    if (text.ok() && !text->empty()) return *text;
  }
  const std::optional<Json> outputs = node.find("outputs");
  if (!outputs) return "";
  const auto items = outputs->items();
  if (!items.ok() || items->empty()) return "";
  const std::optional<Json> tensor = (*items)[0].find("as_tensor");
  if (!tensor) return "";
  const std::optional<Json> name = tensor->find("name");
  return name ? name->text().value_or("") : "";
}

absl::Status check_operators(const Json& graph) {
  Places unknown;
  PETREL_RETURN_IF_ERROR(collect_unknown(graph, &unknown));
  if (unknown.empty()) return absl::OkStatus();
  std::vector<std::string> texts;
  for (const auto& [name, places] : unknown) {
    // The same line may use an operator many times.
    std::vector<std::string> distinct;
    std::set<std::string> lines;
    for (const Place& place : places) {
      if (!place.line.empty() && !lines.insert(place.line).second) continue;
      distinct.push_back(
          absl::StrCat("node '", place.node, "'", place.line.empty() ? "" : " at ", place.line));
    }
    const size_t shown = std::min(distinct.size(), kMaxPlaces);
    std::string text =
        absl::StrCat(name, " (", absl::StrJoin(distinct.begin(), distinct.begin() + shown, "; "));
    if (distinct.size() > shown) {
      absl::StrAppend(&text, "; and ", distinct.size() - shown, " more");
    }
    absl::StrAppend(&text, ")");
    if (name == "export.access_subclass_inner_tensor.default") {
      absl::StrAppend(&text, " (the program keeps weights as objects of Python: save what its ",
                      "run_decompositions({}) returns)");
    }
    if (absl::StartsWith(name, "torch._functorch.predispatch.")) {
      absl::StrAppend(&text, " (of torch.vmap: save what run_decompositions({}) returns)");
    }
    if (name == "aten._native_batch_norm_legit_functional.default") {
      absl::StrAppend(&text, " (batch norm in training mode; call eval() on the model before ",
                      "exporting it)");
    }
    if (absl::StartsWith(name, kOwnOperators)) {
      absl::StrAppend(&text, " (an operator of the compiler, which no program of torch has)");
    }
    texts.push_back(std::move(text));
  }
  return absl::UnimplementedError(
      absl::StrCat(unknown.size(), unknown.size() == 1 ? " operator is" : " operators are",
                   " not supported: ", absl::StrJoin(texts, ", ")));
}

}  // namespace petrel::exir
