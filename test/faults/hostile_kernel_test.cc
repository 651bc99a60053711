// SPDX-License-Identifier: Apache-2.0
//
// Programs that call the shipped kernels in ways that no exporter writes, so
// that a kernel that trusted its arguments would read or write where the file
// says.

#include <gtest/gtest.h>

#include "test/faults/attack.h"

namespace petrel::faults {
namespace {

const Attack kAttacks[] = {
    {"FullOfAViewOfNothing",
     [](Recipe& r) {
       const EmptyView made = add_empty_view(r);
       add_value(r, list_value(Types::IntList, {made.index}));
       // full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out)
       add_kernel_call(r, "aten::full", "out", {made.index + 1, made.index, made.view, made.view});
     },
     Error::NotSupported, "aten::full.out"},
};

class HostileKernelTest : public ::testing::TestWithParam<Attack> {};

TEST_P(HostileKernelTest, IsStoppedWithItsReason) {
  QuietLog quiet;
  Recipe recipe;
  GetParam().change(recipe);
  const Report report = run(recipe);
  ASSERT_EQ(report.load, Error::Ok) << QuietLog::last();
  EXPECT_EQ(report.methods[0], GetParam().error) << to_string(report.methods[0]);
  EXPECT_NE(QuietLog::last().find(GetParam().words), std::string::npos) << QuietLog::last();
}

INSTANTIATE_TEST_SUITE_P(All, HostileKernelTest, ::testing::ValuesIn(kAttacks),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace petrel::faults
