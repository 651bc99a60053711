// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/expand_for_integers.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/ir/verifier.h"
#include "exir/ops/handles.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/framework/rewrite_dynamic.h"
#include "exir/pass/lower/lower_to_kernels.h"
#include "exir/pass/passes/fold_constants.h"
#include "exir/pass/passes/merge_equal_nodes.h"
#include "exir/pass/passes/remove_dead_code.h"
#include "exir/pass/passes/remove_identities.h"
#include "exir/quantize/expand_forms.h"
#include "exir/quantize/integer_roles.h"
#include "exir/quantize/visible_scores.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

// Of what is shut out. Rows of it alone, as padding is, have a softmax, which those of -inf lack:
// samples would show NaN where the model has none.
constexpr double kLowest = std::numeric_limits<float>::lowest();

bool is_fixed(const Value* value) {
  return value != nullptr && value->is_constant() && !value->constant()->is_mutable();
}

// What is masked out as kLowest, whatever the mask was written as.
Rewritten where_allowed(Builder& b, Node& node, Value* allowed, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * low, b.scalar(kLowest, x->tensor().dtype));
  return done(b, node, b.call(aten::where_self, {allowed, x, low}));
}

// A constant that is added to scores, in two.
struct SplitMask {
  Value* allowed = nullptr;  // where it does not shut out; null of a constant that never does
  Value* rest = nullptr;     // what it adds there; null for 0
};

// Numbers that are finite shut out before a softmax alone.
absl::StatusOr<SplitMask> split(Builder& b, const Value& mask, bool is_of_scores) {
  PETREL_ASSIGN_OR_RETURN(std::vector<double> numbers, decode_constant(*mask.constant()));
  const double most = is_of_scores ? kShutOut : -std::numeric_limits<double>::infinity();
  std::vector<double> allowed;
  for (double& number : numbers) {
    allowed.push_back(number <= most ? 0 : 1);
    if (number <= most) number = 0;
  }
  const auto is_zero = [](double number) { return number == 0; };
  SplitMask parts;
  if (std::none_of(allowed.begin(), allowed.end(), is_zero)) return parts;
  const auto part = [&](const char* suffix, ScalarType dtype,
                        const std::vector<double>& of) -> BuiltValue {
    PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(of, dtype));
    return add_unique_constant(b.graph(), absl::StrCat(mask.constant()->fqn, suffix),
                               TensorType::contiguous(dtype, mask.tensor().sizes), std::move(data),
                               mask.constant()->kind, mask.constant()->sources());
  };
  PETREL_ASSIGN_OR_RETURN(parts.allowed, part("@allowed", ScalarType::kBool, allowed));
  if (std::all_of(numbers.begin(), numbers.end(), is_zero)) return parts;
  PETREL_ASSIGN_OR_RETURN(parts.rest, part("@rest", ScalarType::kFloat, numbers));
  return parts;
}

absl::StatusOr<bool> is_zero(const Value& value) {
  const Node* const maker = value.producer();
  if (maker != nullptr && maker->is(aten::full)) {
    const Argument& filled = maker->argument(arg::fill_value);
    return filled.is_number() && filled.as_number() == 0;
  }
  if (!is_fixed(&value)) return false;
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> numbers, decode_constant(*value.constant()));
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return number == 0; });
}

bool moves_elements(const Node& node) {
  return node.is(aten::view, aten::permute, aten::expand, aten::slice_Tensor);
}

// `value`, moved as each of `moves` does, the last first.
BuiltValue moved_alike(Builder& b, Value* value, const std::vector<const Node*>& moves) {
  for (size_t i = moves.size(); i-- > 0;) {
    const OpInfo& op = moves[i]->op();
    std::vector<Argument> arguments = moves[i]->arguments();
    arguments[static_cast<size_t>(op.find_arg(arg::self))] = Argument(value);
    PETREL_ASSIGN_OR_RETURN(const Node* moved, b.node(op, std::move(arguments)));
    value = moved->result();
  }
  return value;
}

// A number, or a constant of one element.
std::optional<double> number_in(const Argument& argument) {
  if (argument.is_number()) return argument.as_number();
  const Value* const value = tensor_in(argument);
  if (!is_fixed(value) || value->tensor().numel() != 1) return std::nullopt;
  const auto numbers = decode_constant(*value->constant());
  return numbers.ok() ? std::optional<double>(numbers->front()) : std::nullopt;
}

// One step of arithmetic of a tensor and a number: a sum, difference or product.
struct Step {
  const Value* of = nullptr;  // null of other nodes
  double factor = 1, term = 0;
};

Step step_of(const Node& node) {
  const bool is_sum = node.is(aten::add_Tensor, aten::add_Scalar);
  const bool is_difference = node.is(aten::sub_Tensor, aten::sub_Scalar);
  const bool is_product = node.is(aten::mul_Tensor, aten::mul_Scalar);
  if (!is_sum && !is_difference && !is_product) return {};
  if (!is_product && node.argument(arg::alpha) != Argument(int64_t{1})) return {};
  const Value* const self = tensor_at(node, arg::self);
  const Value* const other = tensor_at(node, arg::other);
  if (const auto number = number_in(node.argument(arg::other)); number && self != nullptr) {
    if (is_product) return {self, *number, 0};
    return {self, 1, is_sum ? *number : -*number};
  }
  const auto number = number_in(node.argument(arg::self));
  if (!number || other == nullptr) return {};
  if (is_product) return {other, *number, 0};
  return {other, is_sum ? 1.0 : -1.0, *number};
}

// What is allowed, of a mask that is computed of flags: (1 - flags) * -10000, as encoders of words
// do, and moved to the sizes of scores. Null for others.
absl::StatusOr<Value*> computed_of_flags(Builder& b, Value* mask) {
  std::vector<const Node*> moves;
  std::vector<Step> steps;  // last first
  const Value* value = mask;
  const Node* made = value->producer();
  for (; made != nullptr && !made->is(aten::_to_copy); made = value->producer()) {
    if (moves_elements(*made)) {
      moves.push_back(made);
      value = made->input(arg::self);
      continue;
    }
    steps.push_back(step_of(*made));
    value = steps.back().of;
    if (value == nullptr || value->tensor().all_sizes() != made->result()->tensor().all_sizes()) {
      return nullptr;
    }
  }
  if (made == nullptr || made->input(arg::self)->tensor().dtype != ScalarType::kBool) {
    return nullptr;
  }
  double of_false = 0, of_true = 1;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    of_false = of_false * step->factor + step->term;
    of_true = of_true * step->factor + step->term;
  }
  Value* allowed = made->input(arg::self);
  if (of_true <= kShutOut && of_false == 0) {
    PETREL_ASSIGN_OR_RETURN(allowed, b.call(aten::logical_not, {allowed}));
  } else if (of_false > kShutOut || of_true != 0) {
    return nullptr;
  }
  return moved_alike(b, allowed, moves);
}

// What is allowed, of a mask that was chosen by it: 0 there, and elsewhere what shuts out. The
// mask of a batch is made once and then moved to the sizes of the scores of each attention, as
// nn.TransformerEncoderLayer does; what is allowed is moved in its place. Null for others.
absl::StatusOr<Value*> chosen_by(Builder& b, Value* mask) {
  std::vector<const Node*> moves;  // last first
  const Node* made = mask->producer();
  for (; made != nullptr && moves_elements(*made); made = made->input(arg::self)->producer()) {
    moves.push_back(made);
  }
  if (made == nullptr || !made->is(aten::where_self) || !shuts_out(*made->input(arg::other))) {
    return nullptr;
  }
  PETREL_ASSIGN_OR_RETURN(const bool adds_nothing, is_zero(*made->input(arg::self)));
  if (!adds_nothing) return nullptr;
  Value* allowed = made->input(arg::condition);
  if (!moves.empty() && allowed->tensor().all_sizes() != made->result()->tensor().all_sizes()) {
    return nullptr;
  }
  return moved_alike(b, allowed, moves);
}

// x + mask, where the mask is a constant, or chosen by what is allowed; it may also add to what
// it does not shut out, as distances of places do.
Rewritten masked_sum(Builder& b, Node& node) {
  if (node.argument(arg::alpha) != Argument(int64_t{1})) return false;
  for (const auto& [x_name, mask_name] :
       {std::pair(arg::self, arg::other), std::pair(arg::other, arg::self)}) {
    Value* const x = tensor_at(node, x_name);
    Value* const mask = tensor_at(node, mask_name);
    if (x == nullptr || mask == nullptr || mask->tensor().dtype != ScalarType::kFloat) continue;
    const auto& sizes = node.result()->tensor().all_sizes();
    if (is_fixed(mask) && mask->tensor().numel() > 1) {
      PETREL_ASSIGN_OR_RETURN(const SplitMask parts, split(b, *mask, is_score(*node.result())));
      if (parts.allowed != nullptr && parts.rest != nullptr) {
        PETREL_ASSIGN_OR_RETURN(Value * sum, b.binary(aten::add_Tensor, x, parts.rest));
        return where_allowed(b, node, parts.allowed, sum);
      }
      if (parts.allowed != nullptr && x->tensor().all_sizes() == sizes) {
        return where_allowed(b, node, parts.allowed, x);
      }
    }
    const Node* const chosen = mask->producer();
    if (chosen != nullptr && chosen->is(aten::where_self) &&
        shuts_out(*chosen->input(arg::other)) && is_score(*node.result())) {
      Value* const rest = chosen->input(arg::self);
      PETREL_ASSIGN_OR_RETURN(const bool adds_nothing, is_zero(*rest));
      const bool has_all = x->tensor().all_sizes() == sizes || rest->tensor().all_sizes() == sizes;
      if (!adds_nothing && has_all) {
        PETREL_ASSIGN_OR_RETURN(Value * sum, b.binary(aten::add_Tensor, x, rest));
        return where_allowed(b, node, chosen->input(arg::condition), sum);
      }
    }
    if (x->tensor().all_sizes() != sizes) continue;
    PETREL_ASSIGN_OR_RETURN(Value * allowed, chosen_by(b, mask));
    if (allowed == nullptr && is_score(*node.result())) {
      PETREL_ASSIGN_OR_RETURN(allowed, computed_of_flags(b, mask));
    }
    if (allowed != nullptr) return where_allowed(b, node, allowed, x);
  }
  return false;
}

// x where the mask is false.
Rewritten where_not(Builder& b, Node& node, Value* mask, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * allowed, b.call(aten::logical_not, {mask}));
  return where_allowed(b, node, allowed, x);
}

Rewritten masked_fill(Builder& b, Node& node) {
  const Argument& value = node.argument(arg::value);
  Value* const x = node.input(arg::self);
  Value* const mask = node.input(arg::mask);
  if (!value.is_number() || x->tensor().dtype != ScalarType::kFloat) return false;
  if (value.as_number() <= kShutOut) return where_not(b, node, mask, x);
  PETREL_ASSIGN_OR_RETURN(Value * filled, b.scalar(value.as_number(), ScalarType::kFloat));
  return done(b, node, b.call(aten::where_self, {mask, filled, x}));
}

// where(any(s != -inf), softmax(s), 0): the form of a masked softmax gives 0 by itself.
Rewritten safe_softmax(Builder& b, Node& node) {
  const Node* const any = node.input(arg::condition)->producer();
  const Node* const softmax = node.input(arg::self)->producer();
  if (any == nullptr || softmax == nullptr || !any->is(aten::any_dims) ||
      !softmax->is(aten::_softmax) || !is_constant_number(*node.input(arg::other), 0)) {
    return false;
  }
  const Node* const seen = any->input(arg::self)->producer();
  if (seen == nullptr || !seen->is(aten::ne_Scalar) ||
      seen->input(arg::self) != softmax->input(arg::self)) {
    return false;
  }
  const Value& scores = *softmax->input(arg::self);
  Node* const masking = scores.producer();
  if (masking != nullptr && masking->is(aten::where_self) &&
      shuts_out(*masking->input(arg::other))) {
    PETREL_ASSIGN_OR_RETURN(Value * low, b.scalar(kLowest, scores.tensor().dtype));
    masking->set_argument(static_cast<size_t>(masking->op().find_arg(arg::other)), Argument(low));
  }
  return done(b, node, node.input(arg::self));
}

// where(mask, -inf, x): the other way round.
Rewritten choose(Builder& b, Node& node) {
  if (node.result()->tensor().dtype == ScalarType::kFloat && shuts_out(*node.input(arg::self)) &&
      !node.input(arg::other)->is_constant()) {
    return where_not(b, node, node.input(arg::condition), node.input(arg::other));
  }
  return safe_softmax(b, node);
}

constexpr Rewrite kRows[] = {
    {aten::add_Tensor, masked_sum},
    {aten::masked_fill_Scalar, masked_fill},
    {aten::where_self, choose},
};

// Rows that look at what makes their operands, and write no sizes: where sizes vary,
// apply_rewrites() tries rows on the node alone.
absl::StatusOr<bool> rewrite_where_sizes_vary(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_pointers()) {
    if (!node->is(aten::add_Tensor, aten::where_self) || !has_varying_sizes(*node)) continue;
    Builder b(graph, node);
    PETREL_ASSIGN_OR_RETURN(const bool rewritten,
                            node->is(aten::add_Tensor) ? masked_sum(b, *node) : choose(b, *node));
    changed = changed || rewritten;
  }
  return changed;
}

// Flags that become numbers: levels of 0 and 1, as bytes are (of_bytes.h).
Rewritten bytes_of_flags(Builder& b, Node& node) {
  Value* const flags = tensor_at(node, arg::self);
  if (flags->tensor().dtype != ScalarType::kBool || flags->is_constant() ||
      node.result()->tensor().dtype != ScalarType::kFloat) {
    return false;
  }
  PETREL_ASSIGN_OR_RETURN(Value * bytes, b.cast(flags, ScalarType::kChar));
  return done(b, node, b.cast(bytes, ScalarType::kFloat));
}

constexpr Rewrite kFlagRows[] = {{aten::_to_copy, bytes_of_flags}};

// Sizes of what is computed of each element are those of what it is computed of, which may be all
// that is left: a mask of numbers is gone when what it shuts out is chosen by flags.
void ask_sources_for_sizes(Graph& graph) {
  for (Node* node : graph.node_pointers()) {
    if (!node->is(aten::sym_size_int)) continue;
    Value* value = node->input(arg::self);
    const auto source = [&]() -> Value* {
      const Node* const maker = value->producer();
      if (maker == nullptr || !maker->op().has(kElementwise) || !maker->is_pure()) return nullptr;
      for (Value* operand : maker->operands()) {
        if (operand->type().is_tensor() && !operand->is_constant() &&
            operand->tensor().all_sizes() == value->tensor().all_sizes()) {
          return operand;
        }
      }
      return nullptr;
    };
    for (Value* next = source(); next != nullptr; next = source()) value = next;
    node->set_argument(0, Argument(value));
  }
}

}  // namespace

absl::Status volumes_to_images(Graph& graph, const PassContext& context) {
  const Rewrites tables[] = {volume_decompositions()};
  PETREL_ASSIGN_OR_RETURN(const bool changed, apply_rewrites(graph, tables));
  if (!changed) return absl::OkStatus();
  for (const PassFn pass :
       {remove_identities, fold_constants, merge_equal_nodes, remove_dead_code}) {
    PETREL_RETURN_IF_ERROR(pass(graph, context).status());
  }
  return absl::OkStatus();
}

absl::Status expand_for_integers(Graph& graph) {
  PETREL_RETURN_IF_ERROR(volumes_to_images(graph, PassContext()));
  const Rewrites tables[] = {attention_lowerings(), expansions_for_integers(), Rewrites(kRows)};
  PETREL_RETURN_IF_ERROR(apply_rewrites(graph, tables).status());
  // What masks becomes a softmax that is masked, which is not masked again.
  bool changed = true;
  while (changed) {
    PETREL_ASSIGN_OR_RETURN(changed, rewrite_where_sizes_vary(graph));
  }
  ask_sources_for_sizes(graph);
  PETREL_RETURN_IF_ERROR(remove_dead_code(graph, PassContext()).status());
  const Rewrites flags[] = {Rewrites(kFlagRows)};
  return apply_rewrites(graph, flags).status();
}

absl::Status expand_for_integers(Program& program) {
  for (auto& [name, method] : program.methods) {
    const std::string where = absl::StrCat("method '", name, "', expanded for integers");
    const absl::Status expanded = expand_for_integers(*method.graph);
    if (!expanded.ok()) return annotate(expanded, where);
    const absl::Status valid = verify_graph(*method.graph);
    if (!valid.ok()) return annotate(valid, where);
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
