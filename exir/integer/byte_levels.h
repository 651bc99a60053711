// SPDX-License-Identifier: Apache-2.0
//
// Bytes that become numbers stand for levels of scale 1 around 0:
//
//   before   %f = aten._to_copy.default(%x : u8[1,8,8,3], f32)
//            %d = aten.div.Scalar(%f, 255)
//            %p = aten.permute.default(%d, [0,3,1,2])
//   after    %p = aten.permute.default(%x, [0,3,1,2])
//            %f = quantized_decomposed.dequantize_per_tensor.default(%p, 1.0, 0, 0, 255, u8, none)
//            %d = aten.div.Scalar(%f, 255)
//
// What is computed of them alone is in one row then (exir/quantize/of_bytes.h), which a table has
// all of.
#ifndef PETREL_EXIR_INTEGER_BYTE_LEVELS_H_
#define PETREL_EXIR_INTEGER_BYTE_LEVELS_H_

#include "absl/status/status.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

absl::Status take_bytes_as_levels(Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_INTEGER_BYTE_LEVELS_H_
