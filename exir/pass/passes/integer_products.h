// SPDX-License-Identifier: Apache-2.0
//
// Makes a linear layer of what torchao writes for products of integers whose scales are
// found at run time, so that backends find the layer:
//
//   before   %q = torchao.quantize_affine.default(%x, [1,64], %s, %z, i8, ...)
//            %p = aten._int_mm.default(%q, aten.permute.default(%w, [1,0]))
//            %f = aten._to_copy.default(%p, f32)
//            %y = aten.mul.Tensor(aten.mul.Tensor(%f, %s), %t)
//   after    %d = torchao.dequantize_affine.default(%q, [1,64], %s, %z, i8, ...)
//            %v = torchao.dequantize_affine.default(%w, [1,64], %t, none, i8, ...)
//            %y = aten.linear.default(%d, %v)
//
// Also with the detours that torchao takes: levels as u8, 128 above, whose share it takes
// back; zero points, whose share it takes back in floats; and, where a backend has linear layers,
// the rounding before %t in networks of bfloat16 or half, which a layer does not do.
//
// Where a backend has linear layers, the same of floats by a weight that is only stored in
// integers, which would be cast to floats at each run, or once to four times its bytes:
//
//   before   %c = aten._to_copy.default(aten.permute.default(%w, [1,0]), f32)
//            %y = aten.mul.Tensor(aten.mm.default(%x, %c), %t)
//   after    %v = torchao.dequantize_affine.default(%w, [1,64], %t, none, i8, ...)
//            %y = aten.linear.default(%x, %v)
//
// Anything else stays.
#ifndef PETREL_EXIR_PASS_PASSES_INTEGER_PRODUCTS_H_
#define PETREL_EXIR_PASS_PASSES_INTEGER_PRODUCTS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> integer_products(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_INTEGER_PRODUCTS_H_
