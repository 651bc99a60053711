// SPDX-License-Identifier: Apache-2.0
//
// Programs of few calls of any kernels, made of choices: right for the verifier, and
// such that most calls get past the first check of their kernel. What goldens have
// not is what comes up: outputs over inputs, shapes without elements and huge ones,
// values without memory, sizes that vary, one value in several places, moves, jumps,
// several methods.
//
//   const std::vector<uint8_t> file = faults::build(call_program(Choices(data, size)));
//
// Few and early choices decide on the operator, so that a changed byte keeps it.

#ifndef PETREL_TEST_FUZZ_CALL_PROGRAM_H_
#define PETREL_TEST_FUZZ_CALL_PROGRAM_H_

#include <string>

#include "test/faults/recipe.h"
#include "test/fuzz/choices.h"

namespace petrel::fuzz {

faults::Recipe call_program(Choices choices);

// Its calls with the sizes and types of their arguments, for people.
std::string describe(const faults::Recipe& recipe);

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_CALL_PROGRAM_H_
