// SPDX-License-Identifier: Apache-2.0
//
// Activations that a program quantises with numbers that it finds at run time.
//
//   %s, %z = choose_qparams.tensor(%x, -128, 127, eps, i8)
//   %q = quantize_per_tensor.tensor(%x, %s, %z, -128, 127, i8)      ==>   %d = Convert %x
//   %d = dequantize_per_tensor.tensor(%q, %s, %z, -128, 127, i8)
//
// XNNPACK finds the numbers itself, one pair for each row of a matrix and one for each
// image, so the three nodes are taken together or not at all, and only where all that
// reads %d is a product of XNNPACK's. They lower to nothing: the products ask for %x.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_DYNAMIC_INPUT_H_
#define PETREL_BACKENDS_XNNPACK_AOT_DYNAMIC_INPUT_H_

#include <functional>

#include "exir/backend/backend.h"
#include "exir/ir/graph.h"

namespace petrel::backends::xnnpack::aot {

// One of the three nodes above, or of their forms for tokens.
bool is_dynamic_conversion(const exir::Node& node);

// Whether XNNPACK takes the three nodes, of which `node` is one. `multiplies` tells
// whether it takes a node that reads %d as a product of quantised rows or images.
exir::Support check_dynamic_conversion(
    const exir::Node& node, const std::function<exir::Support(const exir::Node&)>& multiplies);

// %x of %d; null for other values.
const exir::Value* dynamic_source(const exir::Value* value);

// Whether the numbers of %d hold for all of it, and not for a row each.
bool is_whole(const exir::Value* value);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_DYNAMIC_INPUT_H_
