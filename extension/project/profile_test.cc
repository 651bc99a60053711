// SPDX-License-Identifier: Apache-2.0
#include "extension/project/profile.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::extension {
namespace {

using testing::HasSubstr;

// A board that says this, in pieces of three bytes, and ends.
class Says : public BoardStream {
 public:
  explicit Says(std::string text) : text_(std::move(text)) {}
  absl::StatusOr<std::string> read(size_t most, int64_t timeout_ms) override {
    (void)timeout_ms;
    const std::string part = text_.substr(0, std::min<size_t>(most, 3));
    text_.erase(0, part.size());
    return part;
  }
  absl::Status write(absl::string_view, int64_t) override { return absl::OkStatus(); }

 private:
  std::string text_;
};

absl::StatusOr<BoardProfile> profile_of(const std::string& text) {
  Says board(text);
  return read_profile(board, 10000);
}

TEST(ProfileTest, TakesTheLeastOfAllRuns) {
  const auto profile = profile_of(
      "bits 32, hz 1000\nmethod forward\nstep inputs, ticks 0\nstep op1_conv, ticks 12\n"
      "step inputs, ticks 1\nstep op1_conv, ticks 9\nmethod other\nstep op1_conv, ticks 4\ndone\n");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->hz, 1000);
  ASSERT_EQ(profile->methods.size(), 2u);
  ASSERT_EQ(profile->methods[0].steps.size(), 2u);
  EXPECT_EQ(profile->methods[0].steps[1].ticks, 9u);
  EXPECT_EQ(profile->methods[1].steps[0].ticks, 4u);
  EXPECT_EQ(profile->ticks(), 13u);
}

// Always has something to say, and never the last word.
class Babbles : public BoardStream {
 public:
  absl::StatusOr<std::string> read(size_t, int64_t) override {
    if (std::exchange(is_first_, false)) return "bits 32, hz 1000\nmethod forward\n";
    return "step op1_conv, ticks 12\n";
  }
  absl::Status write(absl::string_view, int64_t) override { return absl::OkStatus(); }

 private:
  bool is_first_ = true;
};

TEST(ProfileTest, ABoardThatNeverEndsIsGivenUp) {
  Babbles board;
  EXPECT_TRUE(absl::IsDeadlineExceeded(read_profile(board, 100).status()));
}

TEST(ProfileTest, SaysWhatIsWrong) {
  const std::string begin = "bits 32, hz 1000\nmethod forward\nstep op1_conv, ticks 0\n";
  const std::pair<std::string, const char*> cases[] = {
      {"bits 0, hz 0\n", "the board has no timer"},
      {"hello\n", "the board says 'hello'"},
      {begin + "timer 4\n", "the timer of the board ran over after step op1_conv"},
      {begin + "timer 5\n", "the timer of the board does not count after step op1_conv"},
      {begin + "failed 5\n", "the model ends with status -5 on the board after step op1_conv"},
      {begin + "done\n", "0 ticks for all steps"},
      {begin + "step op2, ticks x\n", "the board says 'step op2, ticks x'"},
      {begin, "the board ended before it was done"},
      {"bits 32, hz 1000\nstep op1, ticks 2\n", "the board says 'step op1"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(std::string(profile_of(text).status().message()), HasSubstr(expected)) << text;
  }
}

}  // namespace
}  // namespace petrel::extension
