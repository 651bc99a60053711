// SPDX-License-Identifier: Apache-2.0
//
// The nodes in which PT2E writes what levels of 8 bits stand for:
//
//   %q = quantize_per_tensor(%x, 0.02, 3, -128, 127, i8)
//   %d = dequantize_per_tensor(%q, 0.02, 3, -128, 127, i8)
//   %w = dequantize_per_channel(constant @w@int8 : i8[8,4], scales, none, 0, ...)
#ifndef PETREL_EXIR_QUANTIZE_INT8_FORM_H_
#define PETREL_EXIR_QUANTIZE_INT8_FORM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/quantize/scheme.h"
#include "exir/quantize/stored_weights.h"

namespace petrel::exir {

// Of quantize_per_tensor; dequantize_per_tensor has one more, none.
std::vector<Argument> level_arguments(Value* value, const Affine& numbers);

// What levels show of `value`, quantised and dequantised before `position`.
Value* shown_in_levels(Node* position, Value* value, const Affine& numbers);

// The weight of `product` dequantised before it. Precondition: it has one.
absl::StatusOr<Value*> weight_in_levels(Node& product, StoredWeights* weights);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_INT8_FORM_H_
