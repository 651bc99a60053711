// SPDX-License-Identifier: Apache-2.0
//
// Dequantises weights directly before they are used, so that the floats of one weight at a
// time take memory. Exporters write all such nodes at the top.
//
//   before   %a = quantized_decomposed.dequantize_per_channel.default(%q, ...)
//            %b = quantized_decomposed.dequantize_per_channel.default(%r, ...)
//            %y = aten.mm.default(%x, %a)
//            %z = aten.mm.default(%y, %b)
//   after    %a = quantized_decomposed.dequantize_per_channel.default(%q, ...)
//            %y = aten.mm.default(%x, %a)
//            %b = quantized_decomposed.dequantize_per_channel.default(%r, ...)
//            %z = aten.mm.default(%y, %b)
#ifndef PETREL_EXIR_PASS_PASSES_DEQUANTISE_LATE_H_
#define PETREL_EXIR_PASS_PASSES_DEQUANTISE_LATE_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> dequantise_late(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_DEQUANTISE_LATE_H_
