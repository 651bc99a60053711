// SPDX-License-Identifier: Apache-2.0
//
// A program of one kernel call as a program of one XNNPACK payload that computes the
// same, where there is one: floats, an operator of both, no sizes that only kernels
// take.
//
//   aten::mul.out(x f32[2, 3], y f32[3], out)  ->  payload Multiply(0, 1) -> 2,
//                                                  called with (x, y, out)

#ifndef PETREL_TEST_FUZZ_DELEGATED_CALL_H_
#define PETREL_TEST_FUZZ_DELEGATED_CALL_H_

#include <optional>

#include "test/faults/recipe.h"

namespace petrel::fuzz {

std::optional<faults::Recipe> delegated_call(const faults::Recipe& recipe);

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_DELEGATED_CALL_H_
