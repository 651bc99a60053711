// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/product_shape.h"

#include "exir/ops/handles.h"
#include "exir/quantize/annotate_graph.h"

namespace petrel::exir {

ProductShape::ProductShape(const Node& product) {
  const Sizes& sizes = product_weight(product)->tensor().sizes;
  const bool is_convolution = product.is(aten::convolution);
  is_input_first_ = product.is(aten::mm, aten::addmm) ||
                    (is_convolution && product.argument(arg::transposed).as_bool());
  if (is_convolution) groups_ = static_cast<size_t>(product.argument(arg::groups).as_int());
  outputs_ = static_cast<size_t>(sizes[is_input_first_ ? 1 : 0]);
  inputs_per_group_ = static_cast<size_t>(sizes[is_input_first_ ? 0 : 1]);
  for (size_t d = 2; d < sizes.size(); ++d) kernel_ *= static_cast<size_t>(sizes[d]);
  channel_dim_ = is_convolution ? 1 : product.result()->tensor().rank() - 1;
}

size_t ProductShape::output_of(size_t place) const {
  return is_input_first_ ? place / kernel_ % outputs_ : place / kernel_ / inputs_per_group_;
}

size_t ProductShape::input_of(size_t place) const {
  if (is_input_first_) return place / kernel_ / outputs_;
  return first_input(output_of(place)) + place / kernel_ % inputs_per_group_;
}

size_t ProductShape::first_input(size_t output) const {
  return output / (outputs_ / groups_) * inputs_per_group_;
}

Value* product_input(const Node& product) {
  return product.is(aten::addmm) ? product.input(arg::mat1) : product.input(arg::input, arg::self);
}

}  // namespace petrel::exir
