// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/normalize_scalars.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exir/ops/table.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

// The overload of the same operator that takes a number in the second place.
struct Twin {
  OpHandle tensor;
  OpHandle scalar;
  OpHandle swapped = {};  // for a number in the first place; no row when none
};

constexpr Twin kTwins[] = {
    {aten::add_Tensor, aten::add_Scalar, aten::add_Scalar},
    {aten::sub_Tensor, aten::sub_Scalar},
    {aten::mul_Tensor, aten::mul_Scalar, aten::mul_Scalar},
    {aten::div_Tensor, aten::div_Scalar},
    {aten::div_Tensor_mode, aten::div_Scalar_mode},
    {aten::fmod_Tensor, aten::fmod_Scalar},
    {aten::remainder_Tensor, aten::remainder_Scalar},
    {aten::pow_Tensor_Tensor, aten::pow_Tensor_Scalar},
    {aten::bitwise_and_Tensor, aten::bitwise_and_Scalar, aten::bitwise_and_Scalar},
    {aten::bitwise_or_Tensor, aten::bitwise_or_Scalar, aten::bitwise_or_Scalar},
    {aten::bitwise_xor_Tensor, aten::bitwise_xor_Scalar, aten::bitwise_xor_Scalar},
    {aten::bitwise_left_shift_Tensor, aten::bitwise_left_shift_Tensor_Scalar},
    {aten::bitwise_right_shift_Tensor, aten::bitwise_right_shift_Tensor_Scalar},
    {aten::eq_Tensor, aten::eq_Scalar, aten::eq_Scalar},
    {aten::ne_Tensor, aten::ne_Scalar, aten::ne_Scalar},
    {aten::lt_Tensor, aten::lt_Scalar, aten::gt_Scalar},
    {aten::le_Tensor, aten::le_Scalar, aten::ge_Scalar},
    {aten::gt_Tensor, aten::gt_Scalar, aten::lt_Scalar},
    {aten::ge_Tensor, aten::ge_Scalar, aten::le_Scalar},
    {aten::masked_fill_Tensor, aten::masked_fill_Scalar},
};

// Operators that are the same under another name.
struct Synonym {
  OpHandle name;
  OpHandle canonical;
};

constexpr Synonym kSynonyms[] = {
    {aten::true_divide_Tensor, aten::div_Tensor},
    {aten::divide_Tensor, aten::div_Tensor},
    {aten::divide_Tensor_mode, aten::div_Tensor_mode},
    {aten::divide_Scalar_mode, aten::div_Scalar_mode},
    {aten::linalg_matmul, aten::matmul},
    {aten::_is_all_true, aten::all},
    {aten::_is_any_true, aten::any},
    {aten::pdist, aten::_pdist_forward},
    {aten::multiply_Tensor, aten::mul_Tensor},
    {aten::subtract_Tensor, aten::sub_Tensor},
    {aten::max_other, aten::maximum},
    {aten::min_other, aten::minimum},
    {aten::_and_Tensor, aten::bitwise_and_Tensor},
    {aten::_and_Scalar, aten::bitwise_and_Scalar},
    {aten::_or_Tensor, aten::bitwise_or_Tensor},
    {aten::_or_Scalar, aten::bitwise_or_Scalar},
    {aten::_xor_Tensor, aten::bitwise_xor_Tensor},
    {aten::_xor_Scalar, aten::bitwise_xor_Scalar},
    {aten::_lshift_Tensor, aten::bitwise_left_shift_Tensor},
    {aten::_lshift_Scalar, aten::bitwise_left_shift_Tensor_Scalar},
    {aten::_rshift_Tensor, aten::bitwise_right_shift_Tensor},
    {aten::_rshift_Scalar, aten::bitwise_right_shift_Tensor_Scalar},
    {aten::greater_Tensor, aten::gt_Tensor},
    {aten::less_Tensor, aten::lt_Tensor},
    {aten::not_equal_Tensor, aten::ne_Tensor},
    {aten::clip, aten::clamp},
    {aten::true_divide_Scalar, aten::div_Scalar},
    {aten::divide_Scalar, aten::div_Scalar},
    {aten::multiply_Scalar, aten::mul_Scalar},
    {aten::subtract_Scalar, aten::sub_Scalar},
    {aten::arctan2, aten::atan2},
    {aten::greater_Scalar, aten::gt_Scalar},
    {aten::greater_equal_Tensor, aten::ge_Tensor},
    {aten::greater_equal_Scalar, aten::ge_Scalar},
    {aten::less_Scalar, aten::lt_Scalar},
    {aten::less_equal_Tensor, aten::le_Tensor},
    {aten::less_equal_Scalar, aten::le_Scalar},
    {aten::not_equal_Scalar, aten::ne_Scalar},
    {aten::clip_Tensor, aten::clamp_Tensor},
    {aten::special_logsumexp, aten::logsumexp},
    {aten::special_round, aten::round_decimals},
    {aten::special_softmax, aten::softmax_int},
    {aten::special_log_softmax, aten::log_softmax_int},
    {aten::special_xlogy, aten::xlogy_Tensor},
    {aten::special_xlogy_other_scalar, aten::xlogy_Scalar_Other},
    {aten::special_xlogy_self_scalar, aten::xlogy_Scalar_Self},
    {aten::absolute, aten::abs},
    {aten::negative, aten::neg},
    {aten::arccos, aten::acos},
    {aten::arccosh, aten::acosh},
    {aten::arcsin, aten::asin},
    {aten::arcsinh, aten::asinh},
    {aten::arctan, aten::atan},
    {aten::arctanh, aten::atanh},
    {aten::fix, aten::trunc},
    {aten::special_expit, aten::sigmoid},
    {aten::special_erf, aten::erf},
    {aten::special_erfc, aten::erfc},
    {aten::special_erfinv, aten::erfinv},
    {aten::special_digamma, aten::digamma},
    {aten::special_psi, aten::digamma},
    {aten::special_gammaln, aten::lgamma},
    {aten::special_multigammaln, aten::mvlgamma},
    {aten::special_exp2, aten::exp2},
    {aten::special_expm1, aten::expm1},
    {aten::special_log1p, aten::log1p},
    {aten::special_logit, aten::logit},
    {aten::special_sinc, aten::sinc},
    {aten::_unsafe_index_Tensor, aten::index_Tensor},
    {aten::_unsafe_index_put, aten::index_put},
    {quantized_decomposed::_choose_qparams_per_token_asymmetric_impl,
     quantized_decomposed::choose_qparams_per_token_asymmetric},
};

Rewritten synonym(Builder& b, Node& node) {
  for (const Synonym& row : kSynonyms) {
    if (!node.is(row.name)) continue;
    const OpInfo& canonical = op(row.canonical);
    // Equal arguments in front; what the synonym lacks has a default.
    PETREL_ASSIGN_OR_RETURN(Node * made, b.node(canonical, node.arguments()));
    std::vector<Value*> results;
    for (size_t i = 0; i < made->num_results(); ++i) results.push_back(made->result(i));
    PETREL_RETURN_IF_ERROR(b.replace(node, results));
    return true;
  }
  return false;
}

// The number in `argument`, a constant of rank 0 that numbers can stand for;
// none otherwise. With kWeights weights are such constants, too.
template <bool kWeights>
absl::StatusOr<Argument> number_in(const Argument& argument) {
  const Value* value = tensor_in(argument);
  if (value == nullptr || !value->is_constant() || value->constant()->is_mutable() ||
      value->tensor().rank() != 0 ||
      (!kWeights && value->constant()->kind != Constant::Kind::kLiteral)) {
    return Argument();
  }
  const Constant& constant = *value->constant();
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> elements, decode_constant(constant));
  const double number = elements[0];
  const ScalarType dtype = constant.type.dtype;
  if (is_floating_point(dtype)) return Argument(number);
  if (dtype == ScalarType::kBool) return Argument(number != 0);
  // 2^53 may be what 2^53 + 1 was rounded to when it was read, as larger ones were.
  if (std::fabs(number) >= 9007199254740992.0) return Argument();
  return Argument(static_cast<int64_t>(number));
}

bool alpha_is_one(const Node& node) {
  const Argument* alpha = find_argument(node, arg::alpha);
  return alpha == nullptr || (alpha->is_number() && fixed_number(*alpha) == 1);
}

// `node` with the operator `with` and `arguments` in its place, if that gives
// the same type.
Rewritten replaced(Builder& b, Node& node, OpHandle with, std::vector<Argument> arguments) {
  PETREL_ASSIGN_OR_RETURN(Node * made, b.node(op(with), std::move(arguments)));
  if (made->result()->type() != node.result()->type()) {
    b.graph().erase(made);
    return false;
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, made->result()));
  return true;
}

template <bool kWeights>
Rewritten to_twin(Builder& b, Node& node) {
  const size_t second = node.is(aten::masked_fill_Scalar, aten::masked_fill_Tensor) ? 2 : 1;
  PETREL_ASSIGN_OR_RETURN(const Argument left, number_in<kWeights>(node.arguments()[0]));
  PETREL_ASSIGN_OR_RETURN(const Argument right, number_in<kWeights>(node.arguments()[second]));
  for (const Twin& row : kTwins) {
    if (!node.is(row.tensor)) continue;
    std::vector<Argument> arguments = node.arguments();
    if (!right.is_none()) {
      arguments[second] = right;
      return replaced(b, node, row.scalar, std::move(arguments));
    }
    if (left.is_none() || row.swapped == OpHandle() || !alpha_is_one(node)) {
      return false;
    }
    arguments[0] = arguments[1];
    arguments[1] = left;
    return replaced(b, node, row.swapped, std::move(arguments));
  }
  return false;
}

// clamp with constant bounds.
template <bool kWeights>
Rewritten clamp(Builder& b, Node& node) {
  std::vector<Argument> arguments = node.arguments();
  for (size_t i = 1; i < 3; ++i) {
    if (arguments[i].is_none()) continue;
    PETREL_ASSIGN_OR_RETURN(arguments[i], number_in<kWeights>(arguments[i]));
    if (arguments[i].is_none()) return false;
  }
  return replaced(b, node, aten::clamp, std::move(arguments));
}

// other - alpha * self, which sub computes with its operands changed over.
Rewritten rsub(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const ScalarType dtype = node.result()->tensor().dtype;
  Value* other = tensor_at(node, arg::other);
  if (other == nullptr) {
    PETREL_ASSIGN_OR_RETURN(other, b.scalar(node.argument(arg::other), dtype));
  }
  return done(b, node, b.call(aten::sub_Tensor, {other, x, node.argument(arg::alpha)}));
}

Rewritten where(Builder& b, Node& node) {
  std::vector<Value*> operands;
  for (const Argument& argument : node.arguments()) {
    Value* value = tensor_in(argument);
    if (value == nullptr) {
      const ScalarType dtype = node.result()->tensor().dtype;
      PETREL_ASSIGN_OR_RETURN(value, b.scalar(argument, dtype));
    }
    operands.push_back(value);
  }
  return done(b, node, b.call(aten::where_self, {operands[0], operands[1], operands[2]}));
}

template <bool kWeights>
Rewritten floor_divide(Builder& b, Node& node) {
  Argument number = node.argument(arg::other);
  if (!number.is_number()) {
    PETREL_ASSIGN_OR_RETURN(number, number_in<kWeights>(number));
  }
  if (number.is_none()) return false;
  return replaced(b, node, aten::div_Scalar_mode,
                  {node.argument(arg::self), number, Argument(std::string("floor"))});
}

Rewritten remainder_of_number(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * number,
                          b.scalar(node.argument(arg::self), node.result()->tensor().dtype));
  return done(b, node, b.binary(aten::remainder_Tensor, number, tensor_at(node, arg::other)));
}

template <bool kWeights>
constexpr Rewrite kRows[] = {
    {aten::rsub_Tensor, rsub},
    {aten::rsub_Scalar, rsub},
    {aten::clamp_Tensor, clamp<kWeights>},
    {aten::where_ScalarOther, where},
    {aten::where_ScalarSelf, where},
    {aten::where_Scalar, where},
    {aten::floor_divide, floor_divide<kWeights>},
    {aten::floor_divide_Scalar, floor_divide<kWeights>},
    {aten::remainder_Scalar_Tensor, remainder_of_number},
};

template <bool kWeights>
absl::StatusOr<bool> normalize(Graph& graph) {
  std::vector<Rewrite> synonyms;
  for (const Synonym& row : kSynonyms) synonyms.push_back({row.name, synonym});
  std::vector<Rewrite> twins;
  for (const Twin& row : kTwins) {
    twins.push_back({row.tensor, to_twin<kWeights>});
  }
  const Rewrites tables[] = {Rewrites(synonyms), Rewrites(twins), Rewrites(kRows<kWeights>)};
  return apply_rewrites(graph, tables);
}

}  // namespace

absl::StatusOr<bool> normalize_scalars(Graph& graph, const PassContext& context) {
  return context.keep_weights ? normalize<false>(graph) : normalize<true>(graph);
}

}  // namespace petrel::exir
