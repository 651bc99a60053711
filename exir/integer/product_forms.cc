// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/integer/product_arguments.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

absl::StatusOr<Value*> linear(Builder& b, const Node& node, const FormTarget& target) {
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::input), "input"));
  PETREL_ASSIGN_OR_RETURN(const ProductWeight weight, weight_of(node.argument(arg::weight), 0));
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> bias, bias_of(node.argument(arg::bias)));
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                          product_arguments(b, x, weight, bias, target));
  arguments.emplace_back(x.levels.zero_point);
  return with_target(b, petrel_ops::int8_linear, std::move(arguments), target);
}

absl::StatusOr<Value*> convolution(Builder& b, const Node& node, const FormTarget& target) {
  const size_t rank = node.input(arg::weight)->tensor().rank();
  if (rank > 4) return cannot("convolutions of volumes have no integers");
  if (node.input(arg::input)->tensor().rank() != rank) return cannot("its input has no batch");
  for (const ArgHandle name :
       {arg::stride, arg::padding, arg::dilation, arg::output_padding, arg::groups}) {
    const Argument& numbers = node.argument(name);
    if (!numbers.is_int() && !numbers.is_ints())
      return cannot(absl::StrCat("its ", name.text, " is computed at run time"));
  }
  if (node.argument(arg::transposed).as_bool()) return transposed_form(b, node, target);
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::input), "input"));
  PETREL_ASSIGN_OR_RETURN(const ProductWeight weight, weight_of(node.argument(arg::weight), 0));
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> bias, bias_of(node.argument(arg::bias)));
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                          product_arguments(b, x, weight, bias, target));
  for (const Argument& same : {node.argument(arg::stride), node.argument(arg::padding),
                               node.argument(arg::dilation), node.argument(arg::groups)}) {
    arguments.push_back(same);
  }
  arguments.emplace_back(x.levels.zero_point);
  return with_target(b, petrel_ops::int8_convolution, std::move(arguments), target);
}

// Of two activations.
absl::StatusOr<Value*> matmul(Builder& b, const Node& node, const FormTarget& target) {
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::self), "input"));
  PETREL_ASSIGN_OR_RETURN(const FormOperand y,
                          operand_of(node.argument(arg::mat2), "second input"));
  const TensorType& type = node.input(arg::self)->tensor();
  if (type.varies(type.rank() - 1)) return cannot("it sums as many products as come at run time");
  const double sum = static_cast<double>(type.sizes.back()) *
                     static_cast<double>(x.levels.reach()) * static_cast<double>(y.levels.reach());
  if (sum > kMostSum)
    return cannot(absl::StrCat("it may sum up to ", sum, ", more than int32 holds"));
  PETREL_ASSIGN_OR_RETURN(const FixedPoint point,
                          factor_of(x.levels.scale * y.levels.scale * target.levels.inverse));
  return with_target(b, petrel_ops::int8_matmul,
                     {Argument(x.value), Argument(y.value), Argument(x.levels.zero_point),
                      Argument(y.levels.zero_point), Argument(int64_t{point.multiplier}),
                      Argument(int64_t{point.shift})},
                     target);
}

constexpr FormRow kRows[] = {
    {aten::linear, linear},
    {aten::convolution, convolution},
    {aten::mm, matmul},
    {aten::bmm, matmul},
};

}  // namespace

absl::Span<const FormRow> product_forms() { return kRows; }

}  // namespace petrel::exir
