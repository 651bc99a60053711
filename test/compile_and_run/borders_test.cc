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
#include "runtime/executor/program.h"

namespace petrel::compile_and_run {
namespace {

using runtime::InstructionView;

// Vector code of backends may read as far behind a tensor.
constexpr uint64_t kSlack = 64;

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
  for (uint32_t m = 0; m < program->view().num_methods(); ++m) {
    const runtime::MethodView method = program->view().method(m);
    SCOPED_TRACE(method.name());
    std::set<int32_t> at_borders;
    const runtime::ChainView chain = method.chain(0);
    for (uint32_t i = 0; i < chain.num_instructions(); ++i) {
      const InstructionView call = chain.instruction(i);
      if (call.kind != InstructionView::Kind::Delegate) continue;
      ++num_calls;
      for (const int32_t arg : call.args) {
        const runtime::TensorView tensor = method.value(arg).as_tensor().value();
        ASSERT_TRUE(tensor.is_planned()) << "value " << arg << " lies in no arena";
        EXPECT_LE(tensor.arena_offset + tensor.nbytes() + kSlack, method.arena_bytes(tensor.arena))
            << arg;
        at_borders.insert(arg);
      }
    }
    for (uint32_t i = 0; i < chain.num_instructions(); ++i) {
      const InstructionView call = chain.instruction(i);
      if (call.kind != InstructionView::Kind::Kernel) continue;
      const std::string kernel(method.op(call.target).name);
      if (!is_copy(kernel)) continue;
      for (const int32_t arg : call.args) {
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
