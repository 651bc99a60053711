// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/expand_for_integers.h"

#include <algorithm>
#include <limits>
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
  if (!is_fixed(&value)) return false;
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> numbers, decode_constant(*value.constant()));
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return number == 0; });
}

bool moves_elements(const Node& node) {
  return node.is(aten::view, aten::permute, aten::expand, aten::slice_Tensor);
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
  for (size_t i = moves.size(); i-- > 0;) {
    const OpInfo& op = moves[i]->op();
    std::vector<Argument> arguments = moves[i]->arguments();
    arguments[static_cast<size_t>(op.find_arg(arg::self))] = Argument(allowed);
    PETREL_ASSIGN_OR_RETURN(const Node* moved, b.node(op, std::move(arguments)));
    allowed = moved->result();
  }
  return allowed;
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
  return remove_dead_code(graph, PassContext()).status();
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
