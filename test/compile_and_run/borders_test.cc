// SPDX-License-Identifier: Apache-2.0
//
// What goes into delegates and comes out of them is computed where it is used:
// every argument of a delegate lies in an arena with room behind it, so that no
// backend has to copy it, and no instruction copies at a border.
#include <cstdint>
#include <set>
#include <string>

#include "extension/data_loader/file_data_loader.h"
#include "gtest/gtest.h"
#include "runtime/core/scalar_type.h"
#include "runtime/executor/program.h"
#include "schema/program_generated.h"

namespace petrel::compile_and_run {
namespace {

namespace fb = schema::program;

// Vector code of backends may read as far behind a tensor.
constexpr uint64_t kSlack = 64;

uint64_t bytes_of(const fb::Tensor& tensor) {
  uint64_t bytes = runtime::element_size(static_cast<runtime::ScalarType>(tensor.scalar_type()));
  for (const int32_t size : *tensor.sizes()) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

bool is_copy(const std::string& kernel) {
  for (const char* name :
       {"aten::clone", "aten::copy", "aten::copy_", "aten::view_copy", "aten::expand_copy",
        "aten::_clone_dim_order", "dim_order_ops::_to_dim_order_copy"}) {
    if (kernel == name) return true;
  }
  return false;
}

class Borders : public ::testing::TestWithParam<const char*> {};

TEST_P(Borders, NeedNoCopies) {
  const std::string path = "test/compile_and_run/" + std::string(GetParam()) + ".pte";
  auto loader = extension::FileDataLoader::from(path.c_str());
  ASSERT_TRUE(loader.ok());
  const auto program = runtime::Program::load(&*loader);
  ASSERT_TRUE(program.ok());
  size_t num_calls = 0;
  for (const fb::ExecutionPlan* plan : *program->internal_program()->execution_plan()) {
    SCOPED_TRACE(plan->name()->str());
    std::set<int32_t> at_borders;
    const auto& instructions = *plan->chains()->Get(0)->instructions();
    for (const fb::Instruction* instruction : instructions) {
      const auto* call = instruction->instr_args_as_DelegateCall();
      if (call == nullptr) continue;
      ++num_calls;
      for (const int32_t arg : *call->args()) {
        const fb::Tensor& tensor =
            *plan->values()->Get(static_cast<uint32_t>(arg))->val_as_Tensor();
        const fb::AllocationDetails* place = tensor.allocation_info();
        ASSERT_NE(place, nullptr) << "value " << arg << " lies in no arena";
        const auto arena =
            static_cast<uint64_t>(plan->non_const_buffer_sizes()->Get(place->memory_id()));
        EXPECT_LE(place->memory_offset_low() + bytes_of(tensor) + kSlack, arena) << arg;
        at_borders.insert(arg);
      }
    }
    for (const fb::Instruction* instruction : instructions) {
      const auto* call = instruction->instr_args_as_KernelCall();
      if (call == nullptr) continue;
      const std::string kernel =
          plan->operators()->Get(static_cast<uint32_t>(call->op_index()))->name()->str();
      if (!is_copy(kernel)) continue;
      for (const int32_t arg : *call->args()) {
        EXPECT_EQ(at_borders.count(arg), 0u) << kernel << " of value " << arg;
      }
    }
  }
  EXPECT_GT(num_calls, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, Borders, ::testing::Values("decoder.xnnpack", "encoder.xnnpack"),
                         [](const auto& info) {
                           return std::string(info.param, std::string(info.param).find('.'));
                         });

}  // namespace
}  // namespace petrel::compile_and_run
