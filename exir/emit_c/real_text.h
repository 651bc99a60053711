// SPDX-License-Identifier: Apache-2.0
//
// A float that a program computes from sizes, as an expression of doubles in C: what the
// interpreter computes, in the same order. Or what compares such numbers.
//
//   %a = executorch_prim.truediv.Scalar(1.0, %n)     "(1.0 / (double)(sizes->s31))"
//   %b = executorch_prim.gt.Scalar(%n, 4)            "((sizes->s31) > (4))"
//
// Sizes are members of `sizes`, as those of Extent::text() are.
#ifndef PETREL_EXIR_EMIT_C_REAL_TEXT_H_
#define PETREL_EXIR_EMIT_C_REAL_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/emit_c/method_sizes.h"
#include "exir/ir/graph.h"

namespace petrel::exir::emit_c {

// Unimplemented for numbers that come from elsewhere, and for a divisor that may be 0, for which
// the interpreter fails. Precondition: the value is a float or a bool.
absl::StatusOr<std::string> real_text(const Value* value);

// "" or what is wrong with `value`, of which sizes that no input tells are a part.
std::string problem_of_real(const Value* value, const std::vector<MethodSize>& sizes);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_REAL_TEXT_H_
