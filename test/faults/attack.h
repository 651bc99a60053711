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

inline void add_kernel_call(Recipe& r, const char* name, const char* overload,
                            std::vector<int32_t> args) {
  InstructionRecipe instruction;
  instruction.first = static_cast<int32_t>(plan(r).operators.size());
  instruction.args = std::move(args);
  plan(r).operators.push_back({name, overload});
  plan(r).chains[0].push_back(instruction);
}

inline void add_delegate(Recipe& r, const std::function<void(DelegateRecipe&)>& change) {
  DelegateRecipe delegate;
  change(delegate);
  plan(r).delegates.push_back(delegate);
}

// Values that views are made of: one without elements or memory, a dynamic one
// without memory, the sizes [0]. A view of the first is put at the second.
struct EmptyView {
  int32_t empty, view, sizes, index;
};

inline EmptyView add_empty_view(Recipe& r) {
  const auto first = static_cast<int32_t>(plan(r).values.size());
  ValueRecipe tensor = planned_tensor({0}, 0);
  tensor.place.reset();
  add_value(r, tensor);
  tensor.sizes = {1 << 20};
  tensor.dynamism = 1;
  add_value(r, tensor);
  add_value(r, number_value(fb::KernelTypes::Int, 0));
  add_value(r, list_value(fb::KernelTypes::IntList, {first + 2}));
  add_value(r, number_value(fb::KernelTypes::Int, 4096));
  add_kernel_call(r, "executorch_prim::et_view", "default", {first, first + 3, first + 1});
  return {first, first + 1, first + 3, first + 4};
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
