// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/integer/product_arguments.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Channels are the first dim of the weight.
absl::StatusOr<Value*> rows_by_weight(Builder& b, const FormOperand& x, const ProductWeight& weight,
                                      const std::vector<double>& bias, const FormTarget& target) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                          product_arguments(b, x, weight, bias, target));
  arguments.emplace_back(x.levels.zero_point);
  return with_target(b, petrel_ops::int8_linear, std::move(arguments), target);
}

absl::StatusOr<Value*> linear(Builder& b, const Node& node, const FormTarget& target) {
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::input), "input"));
  PETREL_ASSIGN_OR_RETURN(const ProductWeight weight, weight_of(node.argument(arg::weight), 0));
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> bias, bias_of(node.argument(arg::bias)));
  return rows_by_weight(b, x, weight, bias, target);
}

absl::StatusOr<Value*> convolution(Builder& b, const Node& node, const FormTarget& target) {
  const size_t rank = node.input(arg::weight)->tensor().rank();
  if (node.input(arg::input)->tensor().rank() != rank) return cannot("its input has no batch");
  for (const ArgHandle name :
       {arg::stride, arg::padding, arg::dilation, arg::output_padding, arg::groups}) {
    const Argument& numbers = node.argument(name);
    if (!numbers.is_int() && !numbers.is_ints())
      return cannot(absl::StrCat("its ", name.text, " is computed at run time"));
  }
  if (rank == 5) return volume_form(b, node, target);
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

// A weight of [inputs, outputs], as mm has it, in the place of that of linear.
absl::StatusOr<ProductWeight> turned_weight(Builder& b, const Node& node) {
  PETREL_ASSIGN_OR_RETURN(ProductWeight weight, weight_of(node.argument(arg::mat2), 1));
  const Constant& constant = *weight.levels->constant();
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> from, decode_constant(constant));
  const auto inputs = static_cast<size_t>(constant.type.sizes[0]);
  const auto outputs = static_cast<size_t>(constant.type.sizes[1]);
  std::vector<double> to;
  to.reserve(from.size());
  for (size_t i = 0; i < from.size(); ++i) to.push_back(from[i % inputs * outputs + i / inputs]);
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(to, ScalarType::kChar));
  weight.levels = add_unique_constant(
      b.graph(), absl::StrCat(constant.fqn, "@turned"),
      TensorType::contiguous(ScalarType::kChar, {constant.type.sizes[1], constant.type.sizes[0]}),
      std::move(data), constant.kind, constant.sources());
  return weight;
}

// Of an activation and what has a scale for each channel; else of two activations, as a weight
// with one scale may be.
absl::StatusOr<Value*> mm(Builder& b, const Node& node, const FormTarget& target) {
  const Node* const made = node.input(arg::mat2)->producer();
  if (made == nullptr || !made->is(quantized_decomposed::dequantize_per_channel)) {
    return matmul(b, node, target);
  }
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::self), "input"));
  PETREL_ASSIGN_OR_RETURN(const ProductWeight weight, turned_weight(b, node));
  return rows_by_weight(b, x, weight, {}, target);
}

absl::StatusOr<Value*> addmm(Builder& b, const Node& node, const FormTarget& target) {
  for (const ArgHandle name : {arg::beta, arg::alpha}) {
    const Argument& factor = node.argument(name);
    if (!factor.is_number() || factor.as_number() != 1) {
      return cannot(absl::StrCat("its ", name.text, " is not 1"));
    }
  }
  PETREL_ASSIGN_OR_RETURN(const FormOperand x, operand_of(node.argument(arg::mat1), "input"));
  PETREL_ASSIGN_OR_RETURN(const ProductWeight weight, turned_weight(b, node));
  // What is one number for each row, not for each channel, may have as many elements.
  const TensorType& added = node.input(arg::self)->tensor();
  if (added.rank() == 0 || added.sizes.back() != weight.levels->tensor().sizes[0]) {
    return cannot("its bias has other channels than its weight");
  }
  PETREL_ASSIGN_OR_RETURN(const std::vector<double> bias, bias_of(node.argument(arg::self)));
  return rows_by_weight(b, x, weight, bias, target);
}

constexpr FormRow kRows[] = {
    {aten::linear, linear}, {aten::convolution, convolution}, {aten::mm, mm}, {aten::addmm, addmm},
    {aten::bmm, matmul},
};

}  // namespace

absl::Span<const FormRow> product_forms() { return kRows; }

}  // namespace petrel::exir
