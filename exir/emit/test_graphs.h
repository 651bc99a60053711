// SPDX-License-Identifier: Apache-2.0
//
// Operators and small graphs for the tests of this folder, built by hand so
// that they stand on the IR alone.
#ifndef PETREL_EXIR_EMIT_TEST_GRAPHS_H_
#define PETREL_EXIR_EMIT_TEST_GRAPHS_H_

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/emit/emit.h"
#include "exir/ir/program.h"
#include "schema/program_generated.h"

namespace petrel::exir::testing {

// aten.add.Tensor, aten.relu.default, aten.view.default, aten.permute.default,
// aten.max.dim (two results), aten.split_copy.Tensor (a list), aten.sum.dim,
// aten.full.default, aten.nowhere.default (without a kernel),
// petrel.delegate_call.default, and more as the .cc file lists.
const OpInfo& test_op(const std::string& full_name);

TensorType f32(Sizes sizes);

ConstantPtr constant(const std::string& fqn, TensorType type, std::vector<uint8_t> bytes,
                     Constant::Kind kind = Constant::Kind::kParameter);
ConstantPtr f32_constant(const std::string& fqn, Sizes sizes, const std::vector<float>& values,
                         Constant::Kind kind = Constant::Kind::kParameter);

Value* add(Graph& graph, Value* a, Value* b, const std::string& name = "add");
Value* relu(Graph& graph, Value* a, const std::string& name = "relu");
Value* view(Graph& graph, Value* a, Sizes sizes, const std::string& name = "view");
Value* delegate_call(Graph& graph, const std::vector<Value*>& inputs, TensorType type,
                     const std::string& backend_id, const std::string& payload);

// A program of one method "forward".
Program program_of(std::unique_ptr<Graph> graph);

// The files that emit_program() wrote, by destination.
using Files = std::map<std::string, std::string>;
absl::StatusOr<Files> emit_files(const Program& program, RoutedBlobStore& store,
                                 const EmitOptions& options = {}, EmitReport* out_report = nullptr);

// The program table of a `.pte`, which `bytes` must outlive. Fails the running
// test and returns null when the schema's verifier refuses it.
const schema::program::Program* decode(const std::string& bytes);

// emit_to_memory() of one method "forward"; "" fails the running test.
std::string emit_one(std::unique_ptr<Graph> graph);

// Parts of a program.
template <typename T>
T read(const std::string& bytes, size_t offset) {
  T value = {};
  if (offset + sizeof(T) <= bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}
template <typename T>
std::vector<T> list(const flatbuffers::Vector<T>* items) {
  return {items->begin(), items->end()};
}
const schema::program::Tensor* tensor(const schema::program::ExecutionPlan* plan, int32_t entry);
const schema::program::KernelCall* kernel_call(const schema::program::ExecutionPlan* plan,
                                               size_t instruction);
// "aten::add.out"
std::string kernel_name(const schema::program::ExecutionPlan* plan, size_t instruction);
size_t instruction_count(const schema::program::ExecutionPlan* plan);
uint64_t arena_offset(const schema::program::Tensor* tensor);
uint64_t segment_base(const std::string& pte);
std::string segment(const std::string& pte, const schema::program::Program* program,
                    uint32_t index);

}  // namespace petrel::exir::testing

#endif  // PETREL_EXIR_EMIT_TEST_GRAPHS_H_
