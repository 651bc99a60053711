// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/forms.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// One multiplier for each operand, and one rounding of their sum.
absl::StatusOr<Value*> weighted(Builder& b, const Node& node, const FormTarget& target,
                                double sign) {
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::self), "input"));
  PETREL_ASSIGN_OR_RETURN(const FormOperand y,
                          operand_of(node.argument(arg::other), "second input"));
  const Argument& alpha = node.argument(arg::alpha);
  if (!alpha.is_number()) return cannot("its alpha is computed at run time");
  auto pair = fixed_pair(x.levels.scale * target.levels.inverse,
                         sign * alpha.as_number() * y.levels.scale * target.levels.inverse);
  if (!pair.ok()) return cannot(std::string(pair.status().message()));
  return with_target(b, petrel_ops::int8_add,
                     {Argument(x.value), Argument(y.value), Argument(x.levels.zero_point),
                      Argument(y.levels.zero_point), Argument(int64_t{pair->multipliers[0]}),
                      Argument(int64_t{pair->multipliers[1]}), Argument(int64_t{pair->shift})},
                     target);
}

absl::StatusOr<Value*> add(Builder& b, const Node& node, const FormTarget& target) {
  return weighted(b, node, target, 1);
}

absl::StatusOr<Value*> sub(Builder& b, const Node& node, const FormTarget& target) {
  return weighted(b, node, target, -1);
}

absl::StatusOr<Value*> mul(Builder& b, const Node& node, const FormTarget& target) {
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::self), "input"));
  PETREL_ASSIGN_OR_RETURN(const FormOperand y,
                          operand_of(node.argument(arg::other), "second input"));
  PETREL_ASSIGN_OR_RETURN(const FixedPoint point,
                          factor_of(x.levels.scale * y.levels.scale * target.levels.inverse));
  return with_target(b, petrel_ops::int8_mul,
                     {Argument(x.value), Argument(y.value), Argument(x.levels.zero_point),
                      Argument(y.levels.zero_point), Argument(int64_t{point.multiplier}),
                      Argument(int64_t{point.shift})},
                     target);
}

constexpr FormRow kRows[] = {
    {aten::add_Tensor, add},
    {aten::sub_Tensor, sub},
    {aten::mul_Tensor, mul},
};

}  // namespace

absl::Span<const FormRow> pair_forms() { return kRows; }

}  // namespace petrel::exir
