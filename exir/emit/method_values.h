// SPDX-License-Identifier: Apache-2.0
//
// Which entries of a method's table of values stand for the values of its graph
// and for the arguments of its nodes. Entries are made on first use:
//
//   values.of(%x)                       3    a tensor at its place in the plan
//   values.of(%x)                       3
//   values.of_argument(spec, [1, %n])   6    a list of entries 4 and 5
//
// A tensor's place is that of the buffer it lies in: an arena, that of the
// state, the program's constants or external data.
#ifndef PETREL_EXIR_EMIT_METHOD_VALUES_H_
#define PETREL_EXIR_EMIT_METHOD_VALUES_H_

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "exir/emit/segments.h"
#include "exir/emit/value_table.h"
#include "exir/ir/program.h"
#include "exir/memory/memory.h"
#include "exir/memory/owned_outputs.h"
#include "exir/memory/storage.h"

namespace petrel::exir {

// Refers to all that it is made from. `segments` knows the constants.
class MethodValues {
 public:
  MethodValues(flatbuffers::FlatBufferBuilder& builder, const Storage& storage,
               const MemoryPlan& plan, const StatePlan& state, const ExternalFn& is_external,
               const ExternalFn& is_named, ProgramSegments& segments);

  int32_t of(const Value* value);
  // Of an output that is not a value of the graph.
  int32_t of_fixed(const Argument& output);
  // Errors name the argument that a program cannot hold.
  absl::StatusOr<int32_t> of_argument(const ArgSpec& spec, const Argument& argument);
  absl::StatusOr<int32_t> of_list(const ArgSpec& spec, const Argument& argument);

  // Whether a value so far lies in the state.
  bool has_state() const;
  // The constants in the program, by entry, whose name and type are those of a
  // weight: no literals, and none that is read as a view, too.
  std::map<uint32_t, const Constant*> weights() const;

  // For literals and scalars that no value of the graph stands for.
  ValueTable& table() { return table_; }

 private:
  const Storage& storage_;
  const MemoryPlan& plan_;
  const StatePlan& state_;
  const ExternalFn& is_external_;
  const ExternalFn& is_named_;
  ProgramSegments& segments_;
  ValueTable table_;
  std::unordered_map<const Value*, int32_t> entries_;
  std::map<uint32_t, const Constant*> weights_;
  std::set<const Constant*> viewed_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_METHOD_VALUES_H_
