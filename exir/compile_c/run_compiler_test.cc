// SPDX-License-Identifier: Apache-2.0
#include "exir/compile_c/run_compiler.h"

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::StartsWith;

class RunCompilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/run_compiler_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  static void expect_error(const absl::Status& status, absl::StatusCode code,
                           const std::string& message) {
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(std::string(status.message()), message);
  }

  std::string folder_;
};

TEST_F(RunCompilerTest, TellsWhyACompilerCannotBeStarted) {
  expect_error(run_compiler({"no-such-cc"}, folder_), absl::StatusCode::kNotFound,
               "C compiler 'no-such-cc' cannot be started: No such file or directory; CC names "
               "another one");
  // What it would say has no place there; it is not said that the compiler is missing.
  expect_error(run_compiler({"true"}, folder_ + "/none"), absl::StatusCode::kInternal,
               "C compiler 'true' cannot be started: cannot open '" + folder_ +
                   "/none/compiler_output_0.txt': No such file or directory");
}

TEST_F(RunCompilerTest, TellsWhatACompilerSaid) {
  expect_error(run_compiler({"sh", "-c", "seq 9; exit 4"}, folder_),
               absl::StatusCode::kFailedPrecondition,
               "'sh -c seq 9; exit 4' failed with exit code 4\n1\n2\n3\n4\n5");
  expect_error(run_compiler({"sh", "-c", "kill -9 $$"}, folder_),
               absl::StatusCode::kFailedPrecondition, "'sh -c kill -9 $$' was killed by signal 9");
  EXPECT_EQ(ask_compiler({"echo", "12.2"}, folder_), "12.2");
  EXPECT_EQ(ask_compiler({"false"}, folder_), "");
}

TEST_F(RunCompilerTest, RunsAllAndTellsTheFirstErrorInTheirOrder) {
  const absl::Status status = run_compilers(
      {{"touch", "a"}, {"sh", "-c", "sleep 0.1; exit 1"}, {"no-such-cc"}, {"touch", "b"}}, folder_);
  EXPECT_THAT(std::string(status.message()), StartsWith("'sh -c sleep 0.1; exit 1' failed"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/a"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/b"));
}

}  // namespace
}  // namespace petrel::exir
