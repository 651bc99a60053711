// SPDX-License-Identifier: Apache-2.0
//
// Strides of views, for the one question the IR does not answer: whether a
// reshape of a traced tensor was a view of it (and so sees its changes) or a
// copy.
//
//   contiguous x[2,3,4]: strides 12,4,1
//   permute(x, [0,2,1]): sizes 2,4,3, strides 12,1,4
//   reshape of that to [2,12]: no strides fit, it was a copy
#ifndef PETREL_EXIR_PASS_FRAMEWORK_STRIDES_H_
#define PETREL_EXIR_PASS_FRAMEWORK_STRIDES_H_

#include <optional>

#include "exir/ir/type.h"

namespace petrel::exir {

using Strides = std::vector<int64_t>;

// Of a dense tensor in its dim order.
Strides dense_strides(const TensorType& type);

// Strides by which a tensor of `sizes` and `strides` is seen with `new_sizes`,
// nullopt when a copy is needed. Precondition: equal numbers of elements.
std::optional<Strides> strides_of_view(const Sizes& sizes, const Strides& strides,
                                       const Sizes& new_sizes);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_STRIDES_H_
