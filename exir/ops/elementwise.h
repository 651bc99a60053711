// SPDX-License-Identifier: Apache-2.0
//
// Rules of elementwise operators that several families use.
#ifndef PETREL_EXIR_OPS_ELEMENTWISE_H_
#define PETREL_EXIR_OPS_ELEMENTWISE_H_

#include "exir/ops/rule.h"

namespace petrel::exir::rules {

// The type of the first argument.
Inferred unary_same(const BoundArguments& in);

// The same sizes; integers become f32.
Inferred unary_float(const BoundArguments& in);

// All tensors broadcast; the promoted dtype.
Inferred promote(const BoundArguments& in);

// As promote; integers become f32.
Inferred promote_float(const BoundArguments& in);

// All tensors are of one dtype, which is one of floats.
absl::Status check_floats(const BoundArguments& in);

// The type of the first argument, into which all others must broadcast.
Inferred in_place_elementwise(const BoundArguments& in);

}  // namespace petrel::exir::rules

#endif  // PETREL_EXIR_OPS_ELEMENTWISE_H_
