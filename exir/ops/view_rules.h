// SPDX-License-Identifier: Apache-2.0
//
// Rules of views, shared by the operators that alias their input and those that
// copy it, and the arithmetic under them.
#ifndef PETREL_EXIR_OPS_VIEW_RULES_H_
#define PETREL_EXIR_OPS_VIEW_RULES_H_

#include <cstdint>

#include "exir/ops/rule.h"

namespace petrel::exir::rules {

// `wanted` with its one -1, if any, replaced so that the product is `numel`.
absl::StatusOr<Sizes> resolve_sizes(const Size& numel, Sizes wanted);

// `index` counted from the end if negative and moved into [0, size].
Size clamp_index(Size index, const Size& size);

Inferred reshaped(const TensorType& self, const Sizes& sizes);
Inferred expanded(const TensorType& self, Sizes sizes);

// One result per part along `dim`. Precondition: `dim` is in range.
Inferred split_into(const TensorType& self, int64_t dim, const Sizes& parts);
// Parts of `part` elements, the last one possibly shorter.
Inferred split_evenly(const TensorType& self, int64_t dim, const Size& part);

Inferred reshape(const BoundArguments& in);
Inferred permute(const BoundArguments& in);
Inferred transpose(const BoundArguments& in);
Inferred matrix_transpose(const BoundArguments& in);
Inferred squeeze(const BoundArguments& in);
Inferred unsqueeze(const BoundArguments& in);
Inferred expand(const BoundArguments& in);
Inferred slice(const BoundArguments& in);
Inferred select(const BoundArguments& in);
Inferred narrow(const BoundArguments& in);
Inferred diagonal(const BoundArguments& in);
Inferred unfold(const BoundArguments& in);
Inferred as_strided(const BoundArguments& in);
Inferred split(const BoundArguments& in);
Inferred split_with_sizes(const BoundArguments& in);
Inferred unbind(const BoundArguments& in);

}  // namespace petrel::exir::rules

#endif  // PETREL_EXIR_OPS_VIEW_RULES_H_
