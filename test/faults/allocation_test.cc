// SPDX-License-Identifier: Apache-2.0
//
// Fails every allocation and every read, one after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "test/faults/golden.h"
#include "test/faults/runner.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

using runtime::Error;

class FaultTest : public ::testing::TestWithParam<std::string> {
 protected:
  FaultTest() : golden_(load_golden(GetParam())) {}

  static bool mentions(const Report& report, Error error) {
    return report.load == error ||
           std::count(report.methods.begin(), report.methods.end(), error) != 0;
  }

  // What one run does when nothing fails.
  Faults count() const {
    Faults faults;
    EXPECT_TRUE(run_program(golden_.bytes, golden_, &faults).all_ok());
    return faults;
  }

  const Golden golden_;
  QuietLog quiet_;
};

TEST_P(FaultTest, ReportsEveryFailedAllocation) {
  const int64_t allocations = count().allocations;
  ASSERT_GT(allocations, 5);
  for (const bool keep_failing : {false, true}) {
    for (int64_t n = 0; n < allocations; ++n) {
      Faults faults;
      faults.fail_allocation = n;
      faults.keep_failing = keep_failing;
      const Report report = run_program(golden_.bytes, golden_, &faults);
      EXPECT_EQ(report.load, Error::Ok) << "allocation " << n;
      EXPECT_TRUE(mentions(report, Error::MemoryAllocationFailed)) << "allocation " << n;
      for (const Error error : report.methods) {
        EXPECT_TRUE(error == Error::Ok || error == Error::MemoryAllocationFailed)
            << "allocation " << n << ": " << to_string(error);
      }
      EXPECT_EQ(report.leaked_buffers, 0) << "allocation " << n;
      EXPECT_EQ(live_handles(), 0) << "allocation " << n;
      Faults none;
      ASSERT_TRUE(run_program(golden_.bytes, golden_, &none).all_ok()) << "after allocation " << n;
    }
  }
  std::printf("%s: %" PRId64 " allocations, each failed alone and with all after it\n",
              golden_.name.c_str(), allocations);
}

TEST_P(FaultTest, ReportsEveryFailedRead) {
  const int64_t loads = count().loads;
  ASSERT_GE(loads, 2);
  for (const auto fault :
       {Faults::LoadFault::Error, Faults::LoadFault::ShortRead, Faults::LoadFault::Misaligned}) {
    for (int64_t n = 0; n < loads; ++n) {
      Faults faults;
      faults.fail_load = n;
      faults.load_fault = fault;
      const Report report = run_program(golden_.bytes, golden_, &faults);
      // Initial values may be read to any address, and from there be copied.
      const bool harmless = fault == Faults::LoadFault::Misaligned && report.all_ok();
      EXPECT_TRUE(harmless || mentions(report, Error::AccessFailed))
          << "read " << n << ", fault " << static_cast<int>(fault);
      EXPECT_EQ(report.leaked_buffers, 0);
      EXPECT_EQ(live_handles(), 0);
    }
  }
  std::printf("%s: %" PRId64 " reads, each failed in 3 ways\n", golden_.name.c_str(), loads);
}

// A file that is replaced between two reads: the second one counts, and what
// was read before is not used with it.
TEST_P(FaultTest, NoticesOrSurvivesOtherBytesInEveryRead) {
  const int64_t loads = count().loads;
  for (int64_t n = 0; n < loads; ++n) {
    Faults faults;
    faults.fail_load = n;
    faults.load_fault = Faults::LoadFault::OtherBytes;
    const Report report = run_program(golden_.bytes, golden_, &faults);
    if (n < 2) {
      EXPECT_NE(report.load, Error::Ok) << "read " << n;
    }
    EXPECT_EQ(report.leaked_buffers, 0);
    EXPECT_EQ(live_handles(), 0);
  }
}

TEST_P(FaultTest, SurvivesAWrongFileSize) {
  const auto size = static_cast<int64_t>(golden_.bytes.size());
  for (const int64_t error :
       {-size, -size + 63, -size / 2, int64_t{-1}, int64_t{1}, int64_t{4096}, INT64_MAX - size}) {
    Faults faults;
    faults.size_error = error;
    const Report report = run_program(golden_.bytes, golden_, &faults);
    EXPECT_TRUE(error > 0 || report.load == Error::InvalidProgram) << error;
    EXPECT_EQ(report.leaked_buffers, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FaultTest, ::testing::ValuesIn(golden_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace petrel::faults
