// SPDX-License-Identifier: Apache-2.0
#include "extension/project/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace petrel::extension {
namespace {

using ::testing::HasSubstr;

// Gives pieces, each after a while; then nothing more comes.
class FakeStream : public BoardStream {
 public:
  explicit FakeStream(std::deque<std::string> pieces) : pieces_(std::move(pieces)) {}
  absl::StatusOr<std::string> read(size_t, int64_t) override {
    if (pieces_.empty()) return absl::DeadlineExceededError("nothing comes");
    usleep(20000);
    std::string piece = pieces_.front();
    pieces_.pop_front();
    return piece;
  }
  absl::Status write(absl::string_view, int64_t) override { return absl::OkStatus(); }

 private:
  std::deque<std::string> pieces_;
};

absl::StatusOr<BoardCalibration> told(std::deque<std::string> pieces) {
  FakeStream stream(std::move(pieces));
  return calibrate(stream, 10000);
}

TEST(CalibrateTest, TicksAreComparedWithTheTimeBetweenTwoLines) {
  const auto found = told({"bits 32, hz 1000\n", "begin\n", "end 5", "0, status 0\nbeg", "in\n",
                           "end 50, status 0\n", "done\n"});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->bits, 32);
  EXPECT_EQ(found->told_hz, 1000);
  // 50 ticks in 20 ms at least.
  EXPECT_GT(found->hz, 0);
  EXPECT_LE(found->hz, 50 / 0.020);
  EXPECT_GE(found->seconds, 0.040);
}

TEST(CalibrateTest, WhatIsWrongWithATimerIsSaid) {
  const std::pair<std::deque<std::string>, const char*> cases[] = {
      {{"bits 0, hz 0\n"}, "the board has no timer"},
      {{"bits 24, hz 5\n", "done\n"}, "does not count"},
      {{"bits 24, hz 5\n", "begin\n", "end 7, status 4\n"}, "counted 7 ticks and says -4"},
      {{"bits 24, hz 5\n", "begin\n", "end 0, status 0\n"}, "counted 0 ticks"},
      {{"hello\n"}, "the board says 'hello'"},
      {{"bits 24, hz 5\n", "end x, status 0\n"}, "the board says 'end x"},
      {{std::string(300, 'x')}, "sends no lines"},
      {{"bits 24, hz 5\n", "begin\n"}, "nothing comes"},
      {{"bits 24, hz 5\n", ""}, "ended before it was done"},
  };
  for (const auto& [pieces, expected] : cases) {
    const auto found = told(pieces);
    EXPECT_FALSE(found.ok());
    EXPECT_THAT(std::string(found.status().message()), HasSubstr(expected));
  }
}

}  // namespace
}  // namespace petrel::extension
