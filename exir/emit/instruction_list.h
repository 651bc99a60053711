// SPDX-License-Identifier: Apache-2.0
//
// The instructions of one method, in the order in which they run, and the
// operators that they call by number. A jump whose target is not known yet
// takes its place first:
//
//   const size_t jump = list.reserve_jump();
//   list.append_kernel("aten::add", "out", {a, b, one, c, c});
//   list.set_jump(jump, condition, list.size());
//
// Invariant: each operator is there once. The tables lie in the builder, which
// must outlive the list.
#ifndef PETREL_EXIR_EMIT_INSTRUCTION_LIST_H_
#define PETREL_EXIR_EMIT_INSTRUCTION_LIST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schema/program_generated.h"

namespace petrel::exir {

class InstructionList {
 public:
  using Instruction = flatbuffers::Offset<schema::program::Instruction>;
  using Operator = flatbuffers::Offset<schema::program::Operator>;

  explicit InstructionList(flatbuffers::FlatBufferBuilder& builder) : builder_(builder) {}

  // `args` are indices of entries, `delegate` one of a delegate.
  void append_kernel(const std::string& name, const std::string& overload,
                     const std::vector<int32_t>& args);
  void append_delegate(int32_t delegate, const std::vector<int32_t>& args);

  // Room for a jump to the instruction `target`, taken when the entry
  // `condition` is false.
  size_t reserve_jump();
  void set_jump(size_t place, int32_t condition, size_t target);

  size_t size() const { return instructions_.size(); }
  const std::vector<Instruction>& instructions() const { return instructions_; }
  const std::vector<Operator>& operators() const { return operators_; }

  // The kernel of each operator, "aten::add.out".
  const std::vector<std::string>& kernel_names() const { return kernel_names_; }
  // Calls of kernels by name.
  const std::map<std::string, size_t>& kernels() const { return kernels_; }

 private:
  flatbuffers::FlatBufferBuilder& builder_;
  std::vector<Instruction> instructions_;
  std::vector<Operator> operators_;
  std::map<std::pair<std::string, std::string>, int32_t> operator_index_;
  std::vector<std::string> kernel_names_;
  std::map<std::string, size_t> kernels_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_INSTRUCTION_LIST_H_
