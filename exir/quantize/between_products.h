// SPDX-License-Identifier: Apache-2.0
//
// What computes with integers between products, and what floats compute as cheaply and without
// rounding to levels:
//
//   %a = add(%x, %y)           floats in: %a is rounded once, for the convolution
//   %c = convolution(%a, @w)   a product
//   %m = mul(%c, %c)           a product reads it: integers
//   %l = linear(%m, @v)        a product
//   %s = add(%l, %x)           only floats read it: not rounded at all
//   %n = layer_norm(%s)        a float node, as is what returns
//
//   nodes  a c m l s      those that stay  c m l
//
// The sums of a transformer that go around its layers stay float so, and what follows the last
// product. Elements that only move stay in integers beside a product: a quarter of the bytes.
#ifndef PETREL_EXIR_QUANTIZE_BETWEEN_PRODUCTS_H_
#define PETREL_EXIR_QUANTIZE_BETWEEN_PRODUCTS_H_

#include <set>

#include "exir/ir/graph.h"

namespace petrel::exir {

// Those of `nodes`, all of which backends compute with integers.
std::set<const Node*> between_products(const Graph& graph, const std::set<const Node*>& nodes);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_BETWEEN_PRODUCTS_H_
