// SPDX-License-Identifier: Apache-2.0
//
// Parts of tensors that some sizes of the inputs leave without elements, and that are joined
// to others again. XNNPACK makes nothing of tensors without elements, and kernels do:
//
//   %a = slice(%x: f32[s0,8], 0, 0, -1) : f32[s0 - 1,8]      nothing where s0 is 1; a kernel's,
//                                                            as all slices of sizes that vary
//   %b = relu(%a) : f32[s0 - 1,8]                            left to kernels
//   %y = cat([%first: f32[1,8], %b]) : f32[s0,8]             left to kernels; %first then
//
// What is empty to the end of a partition stays in it: its outputs are empty, too.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_CUT_PARTS_H_
#define PETREL_BACKENDS_XNNPACK_AOT_CUT_PARTS_H_

#include "exir/backend/backend.h"
#include "exir/ir/graph.h"

namespace petrel::backends::xnnpack::aot {

// No where the node joins such a part, or is elementwise or a view on its way to that.
exir::Support check_cut_parts(const exir::Node& node);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_CUT_PARTS_H_
