// SPDX-License-Identifier: Apache-2.0
//
// Lowers a partition whose sizes vary. Lowerings of operators read sizes as
// numbers, so the partition is lowered for its bounds and at points that tell its sizes
// from fixed ones and from each other (exir/ir/size_points.h), and the payload graphs are
// brought together: where they differ only in what XNNPACK works out itself, it is told to.
//
//   reshape to [4,32] at one point, [7,32] at another     reshape to [0,32]
//   slice of [4,8] to [4,2], of [7,8] to [7,2]            slice to [0,2]
//
// Any other difference means that a size would be taken for a constant, and is an
// error. In the end the sizes that the runtime will infer are compared with those
// of the IR at all points. Values keep the dims of the bounds.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_VARYING_PART_H_
#define PETREL_BACKENDS_XNNPACK_AOT_VARYING_PART_H_

#include "absl/status/status.h"
#include "backends/xnnpack/aot/lowering.h"

namespace petrel::backends::xnnpack::aot {

bool has_varying_sizes(const exir::Graph& partition);

// `lowering` is that of `partition` for its bounds, done; its graph is made to fit all
// sizes. InvalidArgument names the node of the payload that cannot be.
absl::Status fit_all_sizes(const exir::Graph& partition, WeightBlobs& weights,
                           exir::RoutedBlobStore& store, Lowering& lowering);

// Whether `node`, some of whose sizes vary, can be lowered like this.
exir::Support supports_varying(const exir::Node& node);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_VARYING_PART_H_
