// SPDX-License-Identifier: Apache-2.0
//
// Products of recurrent cells: what they round comes back to them step by step.
//
//   %g = linear(%x, @u)              reaches the cell without another product: an input of it
//   %a = linear(%h0, @w)             %a reaches %b through tanh, and both multiply @w:
//   %h = tanh(add(%a, %g))           recurrent
//   %b = linear(%h, @w)
//   %y = linear(tanh(%b), @v)        reads the cell, and is none of it
//
//   recurrent_products  g a b
//
// Products of one weight are seen as one layer. A layer is recurrent where a way leads from it
// back to it, through others as well: cycles of layers, found in one walk over the graph.
#ifndef PETREL_EXIR_QUANTIZE_RECURRENT_PRODUCTS_H_
#define PETREL_EXIR_QUANTIZE_RECURRENT_PRODUCTS_H_

#include <vector>

#include "exir/ir/graph.h"

namespace petrel::exir {

// Those of matrices, in the order of the graph; convolutions are left out.
std::vector<const Node*> recurrent_products(const Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_RECURRENT_PRODUCTS_H_
