// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a method lie, as C expressions.
//
//   places.read(x)        "(const float *)(const void *)(arena + 64)"
//   places.write(y)       "(float *)(void *)(arena + 256)"
//   places.read(weight)   "petrel_param_conv_weight"
//
// The offsets are those of the memory plan, the same ones that a .pte has. Refers to the
// planned method, which must outlive it.
#ifndef PETREL_EXIR_EMIT_C_PLACES_H_
#define PETREL_EXIR_EMIT_C_PLACES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exir/emit_c/memories.h"
#include "exir/ir/graph.h"
#include "exir/memory/planned_program.h"

namespace petrel::exir::emit_c {

// The symbols of constants.
using Symbols = std::map<const Constant*, std::string>;

// The variables of inputs and outputs that lie where the caller has them, by root.
using Borrowed = std::map<const Value*, std::string>;

class Places {
 public:
  // Of a method whose values have no places yet: all addresses are NULL.
  explicit Places(const PlannedMethod& method) : method_(method) {}
  // `state` is empty where the state of the method lies in its arena. The first of
  // `memories` are the pools of the plan.
  Places(const PlannedMethod& method, const StatePlan& state, const Symbols& symbols,
         const std::vector<CMemory>& memories, const Borrowed& borrowed)
      : method_(method), known_(Known{state, symbols, memories, borrowed}) {}

  // The address of `value`, for reading or writing, or of the element at `offset`: "12", or
  // another expression.
  std::string read(const Value* value, const std::string& offset = "") const;
  std::string write(const Value* value, const std::string& offset = "") const;
  // "arena + 64". Precondition: `value` is not a constant, or one that is state.
  std::string bytes(const Value* value) const;
  bool has_symbol(const Value* value) const;
  // "(uint32_t *)(void *)(arena + 512)": what the plan has for a step, from
  // `offset` on. Precondition: it has some.
  std::string scratch(const Node& node, const std::string& type, int64_t offset = 0) const;

 private:
  std::string typed(const Value* value, const std::string& offset, const char* qualifier) const;

  struct Known {
    const StatePlan& state;
    const Symbols& symbols;
    const std::vector<CMemory>& memories;
    const Borrowed& borrowed;
  };

  const PlannedMethod& method_;
  std::optional<Known> known_;
};

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_PLACES_H_
