// SPDX-License-Identifier: Apache-2.0
//
// Lowers a partition whose sizes vary, once and for all of them. Lowerings read sizes
// as expressions (exir/ops/read_sizes.h). Where one asks what only some sizes answer,
// or takes a size that varies for a number, what it makes is not taken; and the
// payload is taken only if the sizes that the runtime will infer (extent_rules.h) are
// proven to be those of the IR:
//
//   %y = view(%x: f32[s0,8], [8*s0])                   StaticReshape to [0]
//   %y = slice(%x: f32[s0,8], 1, 0, 4) : f32[s0,4]     StaticSlice to [0,4]
//   %y = max_pool2d(..., ceil_mode=true)               refused, unless what it pads is
//                                                      the same for every size
//
// The sizes of inputs are those of the IR, and each node's follow: what is proven for
// every node holds for the whole payload.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_VARYING_PARTITION_H_
#define PETREL_BACKENDS_XNNPACK_AOT_VARYING_PARTITION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/xnnpack/aot/lowering.h"

namespace petrel::backends::xnnpack::aot {

bool has_varying_sizes(const exir::Graph& partition);

// InvalidArgument names the node that is not proven to be right for all sizes. All
// arguments must outlive the result.
absl::StatusOr<std::unique_ptr<Lowering>> lower_for_all_sizes(const exir::Graph& partition,
                                                              WeightBlobs& weights,
                                                              exir::RoutedBlobStore& store);

// Whether `node`, some of whose sizes vary, can be lowered like this. Not if a size of which no
// input tells may be 0, or where empty parts are joined (cut_parts.h).
exir::Support supports_varying(const exir::Node& node);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_VARYING_PARTITION_H_
