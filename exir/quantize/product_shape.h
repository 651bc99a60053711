// SPDX-License-Identifier: Apache-2.0
//
// Which output and which input channel an element of a product's weight connects:
//
//   convolution  w[out, in / groups, k...]      transposed, of one group  w[in, out, k...]
//   linear       w[out, in]                     mm, addmm                 w[in, out]
#ifndef PETREL_EXIR_QUANTIZE_PRODUCT_SHAPE_H_
#define PETREL_EXIR_QUANTIZE_PRODUCT_SHAPE_H_

#include <cstddef>

#include "exir/ir/graph.h"

namespace petrel::exir {

class ProductShape {
 public:
  // Precondition: a product (product_weight() is not null).
  explicit ProductShape(const Node& product);

  size_t outputs() const { return outputs_; }
  size_t inputs() const { return inputs_per_group_ * groups_; }
  // An output reads inputs [first_input(output), first_input(output) + inputs_per_output()).
  size_t inputs_per_output() const { return inputs_per_group_; }
  size_t first_input(size_t output) const;
  // Elements of the weight between an output and an input that it reads.
  size_t kernel() const { return kernel_; }
  // Of an element of the weight, by its place in row-major order.
  size_t output_of(size_t place) const;
  size_t input_of(size_t place) const;
  // Of channels in the tensor that the product reads, and in the one that it makes.
  size_t channel_dim() const { return channel_dim_; }

 private:
  size_t outputs_ = 0;
  size_t inputs_per_group_ = 0;
  size_t groups_ = 1;
  size_t kernel_ = 1;
  size_t channel_dim_ = 0;
  bool is_input_first_ = false;
};

// What a product multiplies its weight with.
Value* product_input(const Node& product);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_PRODUCT_SHAPE_H_
