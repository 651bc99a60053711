// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "test/faults/golden.h"
#include "test/faults/runner.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

class GoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, GivesWhatEagerTorchGives) {
  const Golden golden = load_golden(GetParam());
  Faults faults;
  const Report report = run_program(golden.bytes, golden, &faults, /*compare=*/true);
  EXPECT_EQ(report.load, runtime::Error::Ok);
  EXPECT_TRUE(report.all_ok());
  EXPECT_EQ(report.differences, std::vector<std::string>());
  EXPECT_EQ(report.leaked_buffers, 0);
  EXPECT_EQ(live_handles(), 0);
  EXPECT_GE(report.methods.size(), golden.methods.size());
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTest, ::testing::ValuesIn(golden_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace petrel::faults
