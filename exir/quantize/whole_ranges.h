// SPDX-License-Identifier: Apache-2.0
//
// Levels of a part of int8 become those of all of it, as backends have them, and what they are
// made of is clamped to the part:
//
//   before   %q = quantize_per_tensor(%x, 0.5, 0, -64, 63, i8)
//            %d = dequantize_per_tensor(%q, 0.5, 0, -64, 63, i8)
//   after    %c = aten.clamp.default(%x, -32.0, 31.5)
//            %q = quantize_per_tensor(%c, 0.5, 0, -128, 127, i8)
//            %d = dequantize_per_tensor(%q, 0.5, 0, -128, 127, i8)
//
// Both give the same levels, as rounding is monotone; backends merge clamps into what computes.
// A range without the level -128 alone stays, which backends take for a whole one.
#ifndef PETREL_EXIR_QUANTIZE_WHOLE_RANGES_H_
#define PETREL_EXIR_QUANTIZE_WHOLE_RANGES_H_

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// Returns whether it changed anything.
absl::StatusOr<bool> take_whole_ranges(Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_WHOLE_RANGES_H_
