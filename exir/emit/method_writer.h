// SPDX-License-Identifier: Apache-2.0
//
// Writes one method as an ExecutionPlan table: its values, its operators, its
// instructions. A kernel call has every argument of the operator's schema, then
// the results, then the results once more (several as one list):
//
//   %c = aten.add.Tensor(%a, %b, 1)      aten::add.out  args [a, b, 1, c, c]
//
// An update in place has no result of its own, it returns what it changed:
//
//   %n = aten.index_put.default(%s, [%i], %v, false)
//                                   aten::index_put_  args [s, [i], v, false, n]
//
// Precondition: the graph came from with_owned_outputs(), `plan` from it, and
// `segments` knows its constants and payloads and is laid out.
#ifndef PETREL_EXIR_EMIT_METHOD_WRITER_H_
#define PETREL_EXIR_EMIT_METHOD_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/emit/instruction_list.h"
#include "exir/emit/method_values.h"
#include "exir/emit/segments.h"
#include "exir/ir/program.h"
#include "exir/memory/memory.h"
#include "exir/memory/owned_outputs.h"
#include "exir/memory/storage.h"

namespace petrel::exir {

// A kernel that a method calls.
struct KernelUse {
  std::string kernel;  // "aten::add.out"
  size_t calls = 0;
  const Node* first_caller = nullptr;  // null: only writes back a given value
};

// Weights for which `is_named` holds keep their names, by which they can be
// taken out of the file and given anew. Viewers stumble over names.
class MethodWriter {
 public:
  MethodWriter(flatbuffers::FlatBufferBuilder& builder, const Graph& graph, const Storage& storage,
               const MemoryPlan& plan, const StatePlan& state, const ExternalFn& is_external,
               const ExternalFn& is_named, ProgramSegments& segments);

  absl::StatusOr<flatbuffers::Offset<schema::program::ExecutionPlan>> write(
      const std::string& name, const Signature& signature);

  // In the order of the first calls. After write().
  std::vector<KernelUse> kernels() const;
  // Those of MethodValues. After write().
  std::map<uint32_t, const Constant*> weights() const { return values_.weights(); }

 private:
  absl::Status write_kernel_call(const Node& node);
  absl::Status write_delegate_call(const Node& node);
  absl::Status write_cond(const Node& node);
  absl::Status write_while_loop(const Node& node);
  absl::Status write_rows(const Node& node);  // of a map or scan
  void write_copy(const Value* from, const Value* to);
  // The steps of the method's graph or of a region.
  absl::Status write_steps(const Graph& graph);
  void write_state(const BufferWrite& write);

  flatbuffers::FlatBufferBuilder& builder_;
  const Graph& graph_;
  const Storage& storage_;
  const MemoryPlan& plan_;
  const StatePlan& state_;
  ProgramSegments& segments_;
  MethodValues values_;
  InstructionList calls_;
  std::vector<const Node*> first_callers_;  // by operator of calls_
  std::vector<flatbuffers::Offset<schema::program::BackendDelegate>> delegates_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_METHOD_WRITER_H_
