// SPDX-License-Identifier: Apache-2.0
//
// What zero points of a weight take from a product of rows. XNNPACK has none for filters;
// so it multiplies by the levels, and the share is computed of means of the input, in floats:
//
//   sum x * scale * (level - zero)  =  sum x * scale * level  -  mean(x) * size * scale * zero
//
//   AvgPooling2d of x as [rows,1,columns,1]   the means of groups of columns
//   FullyConnected                            by -size * scale * zero : f32[outputs, groups]
//   Add                                       to the product
#ifndef PETREL_BACKENDS_XNNPACK_AOT_ZERO_POINT_SHARE_H_
#define PETREL_BACKENDS_XNNPACK_AOT_ZERO_POINT_SHARE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/xnnpack/aot/lowering.h"
#include "backends/xnnpack/aot/stored_weight.h"

namespace petrel::backends::xnnpack::aot {

// What to add to the product of `x`, floats of [..., columns], by the levels of `weight`.
// Precondition: the weight is of stored_with_zero_points(), with scales of rows or groups.
absl::StatusOr<uint32_t> add_zero_point_share(Lowering& lowering, uint32_t x,
                                              const StoredWeight& weight);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_ZERO_POINT_SHARE_H_
