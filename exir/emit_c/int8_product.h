// SPDX-License-Identifier: Apache-2.0
//
// A convolution or linear product of levels (docs/int8.md) as the variants of its kernel see it:
// with sizes that are numbers, and one dim of places read as two of which the first is 1.
//
//   if (const auto product = int8_product(node)) {
//     product->depth();              // levels that one sum takes
//     product->filter_levels()[3];   // the weight of that filter, channels innermost
//   }
#ifndef PETREL_EXIR_EMIT_C_INT8_PRODUCT_H_
#define PETREL_EXIR_EMIT_C_INT8_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exir/ir/graph.h"

namespace petrel::exir::emit_c {

struct Int8Product {
  const Node* node = nullptr;
  bool is_linear = false;
  ScalarType in_type = ScalarType::kChar, out_type = ScalarType::kChar;
  int64_t batch = 1;  // rows of a linear product
  int64_t groups = 1;
  int64_t channels = 1, filters = 1;  // of a group
  int64_t in_height = 1, in_width = 1, out_height = 1, out_width = 1;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_height = 1, stride_width = 1;
  int64_t padding_top = 0, padding_left = 0;
  int64_t dilation_height = 1, dilation_width = 1;
  int64_t zero_point = 0;  // of the input

  int64_t taps() const { return kernel_height * kernel_width; }
  int64_t depth() const { return taps() * channels; }
  int64_t all_filters() const { return groups * filters; }
  bool is_depthwise() const { return groups > 1 && channels == 1 && filters == 1; }
  // Both are signed, which kernels with packed weights ask for.
  bool is_signed() const { return in_type == ScalarType::kChar && out_type == ScalarType::kChar; }

  // Of each filter tap by tap, and of each tap channel by channel.
  std::vector<std::vector<int8_t>> filter_levels() const;
  // With what the zero point of the input adds to a sum of levels as they are, modulo 2^32.
  std::vector<int32_t> offsets() const;
  std::vector<int32_t> multipliers() const;
  std::vector<int8_t> shifts() const;
  // No product of a sum and its multiplier lies halfway between two steps, and shifts are at
  // least kNearShift: the upper half of products decides.
  bool has_near_levels() const;
  // Sums of offsets and levels as they are fit in int32, in any order.
  bool takes_offsets() const;

 private:
  // What the sum of each filter can be at most, with levels that are at most `reach`.
  std::vector<int64_t> most_sums(int64_t reach) const;
};

inline constexpr int32_t kNearShift = 33;

// All that how long it takes may depend on but the levels:
// "linear 1 x 64 -> 10, i8 -> i8".
std::string product_text(const Int8Product& product);

// nullopt for other operators, for sizes that vary, and for a weight that is not known.
std::optional<Int8Product> int8_product(const Node& node);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_INT8_PRODUCT_H_
