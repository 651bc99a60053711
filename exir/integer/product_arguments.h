// SPDX-License-Identifier: Apache-2.0
//
// What products of integers share: a weight that is stored around 0, a bias in steps of what is
// summed, and the factor of each channel.
//
//   PETREL_ASSIGN_OR_RETURN(const ProductWeight weight, weight_of(node.argument(arg::weight), 0));
//   PETREL_ASSIGN_OR_RETURN(const auto bias, bias_of(node.argument(arg::bias)));
//   PETREL_ASSIGN_OR_RETURN(auto arguments, product_arguments(b, x, weight, bias, target));
//   // input, weight, bias, multiplier, shift
#ifndef PETREL_EXIR_INTEGER_PRODUCT_ARGUMENTS_H_
#define PETREL_EXIR_INTEGER_PRODUCT_ARGUMENTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/integer/forms.h"

namespace petrel::exir {

inline constexpr double kMostSum = 2147483647.0;

// int8 around 0, channel by channel.
struct ProductWeight {
  Value* levels = nullptr;
  std::vector<double> scales;  // one, or one for each channel
};

// Of a dequantised weight whose channels lie along `channel_axis`.
absl::StatusOr<ProductWeight> weight_of(const Argument& argument, int64_t channel_axis);

// In floats or dequantised; nothing for none.
absl::StatusOr<std::vector<double>> bias_of(const Argument& argument);

// Channels are the first dim of the weight.
absl::StatusOr<std::vector<Argument>> product_arguments(Builder& b, const FormOperand& x,
                                                        const ProductWeight& weight,
                                                        const std::vector<double>& bias,
                                                        const FormTarget& target);

// aten.convolution, transposed: as one of stride 1 whose channels lie side by side.
absl::StatusOr<Value*> transposed_form(Builder& b, const Node& node, const FormTarget& target);

// aten.convolution of volumes: as one of images with the channels of several planes.
absl::StatusOr<Value*> volume_form(Builder& b, const Node& node, const FormTarget& target);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_INTEGER_PRODUCT_ARGUMENTS_H_
