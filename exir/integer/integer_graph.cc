// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/integer_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/integer/byte_levels.h"
#include "exir/integer/forms.h"
#include "exir/integer/integer_state.h"
#include "exir/integer/levels.h"
#include "exir/integer/move_levels.h"
#include "exir/ir/verifier.h"
#include "exir/ops/handles.h"
#include "exir/pass/passes/remove_dead_code.h"
#include "exir/quantize/integer_roles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Why nodes have no integers, by name of their result.
using Reasons = std::map<std::string, std::string>;

FormFn find_form(const Node& node) {
  for (const auto rows :
       {product_forms(), pair_forms(), average_forms(), softmax_forms(), norm_forms()}) {
    for (const FormRow& row : rows) {
      if (node.is(row.op)) return row.make;
    }
  }
  return nullptr;
}

// The ends of a clamp as levels; false for other nodes.
bool read_levels(const Node& node, const Int8Levels& levels, int64_t* least, int64_t* most) {
  double first = 0, last = 0;
  if (!read_clamp(node, &first, &last)) return false;
  *least = std::isinf(first) && first < 0 ? levels.least : levels.level_of(first);
  *most = std::isinf(last) && last > 0 ? levels.most : levels.level_of(last);
  return true;
}

// A number that goes into the scale of what is quantised: k * y at s is y at s / k.
bool read_scaling(const Node& node, Int8Levels* levels) {
  if (!is_scaling(node)) return false;
  const double other = node.argument(arg::other).as_number();
  const double factor = node.is(aten::mul_Scalar) ? other : 1 / other;
  levels->scale /= factor;
  levels->inverse *= factor;
  return levels->scale > 0 && std::isfinite(levels->scale) && std::isfinite(levels->inverse);
}

// What computes the numbers that are quantised, before they were clamped and scaled; in
// `target` the levels that are left. Rounding is monotone, so levels are clamped in the place of
// numbers.
const Node* before_clamps(const Node& quantize, FormTarget* target) {
  std::vector<std::pair<int64_t, int64_t>> clamps;
  const Node* node = quantize.input(arg::input)->producer();
  for (; node != nullptr; node = node->input(arg::self)->producer()) {
    int64_t least = 0, most = 0;
    if (read_levels(*node, target->levels, &least, &most)) {
      clamps.emplace_back(least, most);
      continue;
    }
    Int8Levels scaled = target->levels;
    if (!read_scaling(*node, &scaled)) break;
    target->levels = scaled;
  }
  target->least = target->levels.least;
  target->most = target->levels.most;
  for (auto clamp = clamps.rbegin(); clamp != clamps.rend(); ++clamp) {
    const auto within = [&](int64_t level) {
      return std::min(std::max(level, clamp->first), clamp->second);
    };
    target->least = within(target->least);
    target->most = within(target->most);
  }
  return node;
}

// Of a tensor that is filled with a number one that is filled with its level; null for others.
absl::StatusOr<Value*> filled_form(Builder& b, const Node& quantize) {
  const Node* const node = quantize.input(arg::input)->producer();
  if (!node->is(aten::full)) return nullptr;
  const Argument& number = node->argument(arg::fill_value);
  if (!number.is_number() || std::isnan(number.as_number())) return nullptr;
  const Int8Levels levels = *levels_of(quantize);
  std::vector<Argument> arguments = node->arguments();
  const auto place = [&](ArgHandle name) -> Argument& {
    return arguments[static_cast<size_t>(node->op().find_arg(name))];
  };
  place(arg::fill_value) = Argument(levels.level_of(number.as_number()));
  place(arg::dtype) = Argument(levels.dtype);
  PETREL_ASSIGN_OR_RETURN(const Node* filled, b.node(node->op(), std::move(arguments)));
  return filled->result();
}

// The integers that `quantize` gives; null, perhaps with a reason, where they are none.
absl::StatusOr<Value*> integers_of(Builder& b, const Node& quantize, Reasons* reasons) {
  FormTarget target;
  target.levels = *levels_of(quantize);
  const Value* const number = quantize.input(arg::input);
  if (const Node* const same = dequantising(number);
      same != nullptr && *levels_of(*same) == target.levels) {
    return same->input(arg::input);
  }
  PETREL_ASSIGN_OR_RETURN(Value* const filled, filled_form(b, quantize));
  if (filled != nullptr) return filled;
  PETREL_ASSIGN_OR_RETURN(Value* const table, table_form(b, quantize));
  if (table != nullptr) return table;
  const Node* const node = before_clamps(quantize, &target);
  const FormFn form = node == nullptr ? nullptr : find_form(*node);
  if (form == nullptr) return channel_tables_form(b, quantize);
  absl::StatusOr<Value*> made = form(b, *node, target);
  if (!absl::IsUnimplemented(made.status())) return made;
  (*reasons)[node->result()->name()] = std::string(made.status().message());
  return channel_tables_form(b, quantize);
}

absl::Status make_integers(Graph& graph, Reasons* reasons) {
  PETREL_RETURN_IF_ERROR(take_bytes_as_levels(graph));
  PETREL_RETURN_IF_ERROR(move_levels(graph).status());
  for (Node* node : graph.node_pointers()) {
    if (!levels_of(*node) || !node->is(quantized_decomposed::quantize_per_tensor) ||
        node->input(arg::input)->producer() == nullptr) {
      continue;
    }
    Builder b(graph, node);
    auto integers = integers_of(b, *node, reasons);
    if (!integers.ok()) return annotate(integers.status(), node->describe());
    if (*integers == nullptr) continue;
    graph.replace_all_uses(node->result(), *integers);
    graph.erase(node);
  }
  for (Node* node : graph.node_pointers()) {
    Builder b(graph, node);
    PETREL_ASSIGN_OR_RETURN(Value * pooled, max_pool_form(b, *node));
    if (pooled != nullptr) PETREL_RETURN_IF_ERROR(b.replace(*node, pooled));
  }
  return remove_dead_code(graph, PassContext()).status();
}

bool is_float(const Value& value) {
  const Type& type = value.type();
  return type.is_tensor() ? is_floating_point(type.tensor.dtype) : type.kind == Type::Kind::kFloat;
}

bool has_floats(const Node& node) {
  for (const Value* operand : node.operands()) {
    if (is_float(*operand)) return true;
  }
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (is_float(*node.result(i))) return true;
  }
  return std::any_of(node.regions().begin(), node.regions().end(), [](const auto& region) {
    return std::any_of(region->nodes().begin(), region->nodes().end(),
                       [](const auto& inner) { return has_floats(*inner); });
  });
}

// Quantises an input, or dequantises an output: others tell of themselves.
bool is_border(const Node& node) {
  if (node.is(quantized_decomposed::quantize_per_tensor)) return levels_of(node).has_value();
  return node.is(quantized_decomposed::dequantize_per_tensor) && levels_of(node).has_value();
}

std::vector<std::string> find_floats(const Graph& graph, const Reasons& reasons) {
  std::vector<std::string> found;
  for (const auto& node : graph.nodes()) {
    // A size is asked for without a look at a number.
    if (!has_floats(*node) || is_border(*node) || node->is(aten::sym_size_int)) continue;
    const auto reason = reasons.find(node->num_results() == 0 ? "" : node->result()->name());
    found.push_back(absl::StrCat(node->describe(), ": ",
                                 reason != reasons.end() ? reason->second
                                                         : "it is not between levels of 8 bits, or "
                                                           "has no form of integers"));
  }
  for (const BufferWrite& write : graph.buffer_writes()) {
    if (!is_float(*write.value)) continue;
    found.push_back(absl::StrCat("state '", write.buffer->name(), "' is kept in floats"));
  }
  return found;
}

}  // namespace

absl::Status integer_graph(Graph& graph) {
  Reasons reasons;
  return make_integers(graph, &reasons);
}

absl::Status integer_program(Program& program) {
  std::vector<std::string> problems;
  PETREL_RETURN_IF_ERROR(integer_state(program));
  for (auto& [name, method] : program.methods) {
    Reasons reasons;
    const std::string where = absl::StrCat("method '", name, "'");
    const absl::Status made = make_integers(*method.graph, &reasons);
    if (!made.ok()) return annotate(made, where);
    const absl::Status valid = verify_graph(*method.graph);
    if (!valid.ok()) return annotate(valid, absl::StrCat(where, ", in integers"));
    for (const std::string& floats : find_floats(*method.graph, reasons)) {
      problems.push_back(absl::StrCat("  ", where, ": ", floats));
    }
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "int8 integer: ", problems.size(),
      problems.size() == 1 ? " place computes" : " places compute",
      " with floats; without the option all of them may\n", absl::StrJoin(problems, "\n")));
}

}  // namespace petrel::exir
