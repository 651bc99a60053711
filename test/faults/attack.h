// SPDX-License-Identifier: Apache-2.0
//
// One row of a table of programs that are whole flatbuffers and wrong, or odd,
// in one place: what is changed, which error must come of it, and words that
// the message must have.

#ifndef PETREL_TEST_FAULTS_ATTACK_H_
#define PETREL_TEST_FAULTS_ATTACK_H_

#include <functional>
#include <ostream>
#include <utility>

#include "test/faults/recipe.h"
#include "test/faults/runner.h"

namespace petrel::faults {

using runtime::Error;

struct Attack {
  const char* name;
  void (*change)(Recipe&);
  Error error;
  const char* words;
};

inline void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.name; }

inline PlanRecipe& plan(Recipe& r) { return r.plans[0]; }
inline ValueRecipe& input(Recipe& r) { return r.plans[0].values[0]; }
inline ValueRecipe& constant(Recipe& r) { return r.plans[0].values[1]; }
inline ValueRecipe& output(Recipe& r) { return r.plans[0].values[3]; }
inline InstructionRecipe& call(Recipe& r) { return r.plans[0].chains[0][0]; }

inline void add_value(Recipe& r, ValueRecipe value) { plan(r).values.push_back(std::move(value)); }

inline void add_instruction(Recipe& r, fb::InstructionArguments type, int32_t first,
                            int32_t second) {
  InstructionRecipe instruction;
  instruction.type = type;
  instruction.first = first;
  instruction.second = second;
  plan(r).chains[0].push_back(instruction);
}

inline void add_delegate(Recipe& r, const std::function<void(DelegateRecipe&)>& change) {
  DelegateRecipe delegate;
  change(delegate);
  plan(r).delegates.push_back(delegate);
}

inline constexpr Error kInvalid = Error::InvalidProgram;
inline constexpr Error kUnsupported = Error::NotSupported;
using Types = fb::KernelTypes;
using Arguments = fb::InstructionArguments;

inline Report run(const Recipe& recipe) {
  const Golden golden;
  Faults faults;
  return run_program(build(recipe), golden, &faults);
}

}  // namespace petrel::faults

#endif  // PETREL_TEST_FAULTS_ATTACK_H_
