// SPDX-License-Identifier: Apache-2.0
//
// Whatever a line does to frames, a call gives what it must and is made once, or is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "extension/device/device.h"
#include "extension/device/device_method.h"
#include "extension/device/testing_device.h"

namespace petrel::extension {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using testing::HasSubstr;

SessionOptions quick() {
  SessionOptions options;
  options.retry_after = milliseconds(1);
  return options;
}

// Runs `calls` calls; returns what is wrong.
std::string problem_of(Device& host, int calls, int32_t runs_before) {
  DeviceMethod& forward = **host.method("forward");
  for (int32_t call = 1; call <= calls; ++call) {
    const int32_t x[4] = {call, -call, 3 * call, 0};
    std::memcpy(forward.get_input(0)->mutable_data_ptr(), x, sizeof x);
    const absl::Status status = forward.execute();
    if (!status.ok()) return status.ToString();
    const auto* y = forward.get_output(0)->const_data_ptr<int32_t>();
    for (int i = 0; i < 4; ++i) {
      if (y[i] != 2 * x[i] + 1) return "y is wrong in call " + std::to_string(call);
    }
    const int32_t runs = *forward.get_output(1)->const_data_ptr<int32_t>();
    if (runs != runs_before + call) {
      return "call " + std::to_string(call) + " was run as run " + std::to_string(runs);
    }
  }
  return "";
}

std::string problem_with(const FaultyLine::Faults& faults, uint32_t seed, int calls,
                         uint64_t* resent = nullptr) {
  TestingDevice device;
  auto host = Device::open(std::make_unique<FaultyLine>(device, faults, seed), "test", quick());
  if (!host.ok()) return host.status().ToString();
  const std::string problem = problem_of(**host, calls, 0);
  if (resent != nullptr) *resent += (*host)->stats().resent;
  return problem;
}

void expect_all_right(const FaultyLine::Faults& faults) {
  uint64_t resent = 0;
  for (uint32_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(problem_with(faults, seed, 10, &resent), "") << "seed " << seed;
  }
  EXPECT_GT(resent, 0u) << "nothing went wrong on the line";
}

TEST(Faults, Dropped) {
  FaultyLine::Faults faults;
  faults.drop = 0.1;
  expect_all_right(faults);
}

TEST(Faults, Damaged) {
  FaultyLine::Faults faults;
  faults.damage = 0.1;
  expect_all_right(faults);
}

TEST(Faults, Truncated) {
  FaultyLine::Faults faults;
  faults.truncate = 0.1;
  expect_all_right(faults);
}

TEST(Faults, WithNoiseBetween) {
  FaultyLine::Faults faults;
  faults.insert = 0.1;
  expect_all_right(faults);
}

TEST(Faults, Reordered) {
  FaultyLine::Faults faults;
  faults.reorder = 0.1;
  expect_all_right(faults);
}

TEST(Faults, Doubled) {
  FaultyLine::Faults faults;
  faults.repeat = 0.3;
  for (uint32_t seed = 0; seed < 10; ++seed) EXPECT_EQ(problem_with(faults, seed, 10), "");
}

TEST(Faults, Split) {
  FaultyLine::Faults faults;
  faults.split = true;
  EXPECT_EQ(problem_with(faults, 1, 10), "");
}

TEST(Faults, AllAtOnce) {
  FaultyLine::Faults faults;
  faults.drop = faults.damage = faults.truncate = faults.insert = faults.reorder = faults.repeat =
      0.03;
  faults.split = true;
  expect_all_right(faults);
}

// A wrong byte anywhere, in either direction, is noticed: no call gives wrong numbers.
TEST(Faults, EveryByteOfASessionDamaged) {
  TestingDevice device;
  auto line = std::make_unique<FaultyLine>(device, FaultyLine::Faults(), 1);
  const FaultyLine& seen = *line;
  auto host = Device::open(std::move(line), "test", quick());
  ASSERT_TRUE(host.ok()) << host.status();
  ASSERT_EQ(problem_of(**host, 1, 0), "");
  const auto bytes = static_cast<int64_t>(seen.carried());
  ASSERT_GT(bytes, 1000);
  for (int64_t at = 0; at < bytes; ++at) {
    for (const uint8_t change : {0x01, 0x80, 0xff}) {
      FaultyLine::Faults faults;
      faults.damaged_byte = at;
      faults.damage_with = change;
      ASSERT_EQ(problem_with(faults, 1, 1), "") << "byte " << at << " changed by " << int{change};
    }
  }
}

// Power fails before any byte that the device gets.
TEST(Faults, ResetAtEveryByteOfATransferIsRecoveredWithinASecond) {
  for (uint64_t at = 0; at < 700; at += 7) {
    TestingDevice device;
    FaultyLine::Faults faults;
    faults.on_byte = [&](uint64_t written) {
      if (written == at) device.start();
    };
    auto host = Device::open(std::make_unique<FaultyLine>(device, faults, 1), "test");
    ASSERT_TRUE(host.ok()) << "at byte " << at << ": " << host.status();
    const auto before = Clock::now();
    ASSERT_TRUE((*host->get()->method("forward"))->execute().ok()) << "at byte " << at;
    EXPECT_LT(Clock::now() - before, milliseconds(1000)) << "at byte " << at;
  }
}

TEST(Faults, StateThatAResetTookIsTold) {
  TestingDevice device(testing_metadata_with_state());
  auto host =
      Device::open(std::make_unique<FaultyLine>(device, FaultyLine::Faults(), 1), "test", quick());
  ASSERT_TRUE(host.ok()) << host.status();
  DeviceMethod& forward = **(*host)->method("forward");
  ASSERT_TRUE(forward.execute().ok());
  device.start();
  const absl::Status status = forward.execute();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(status.ToString(), HasSubstr("the state of the model is what it was at first"));
  EXPECT_TRUE(forward.execute().ok());
}

TEST(Faults, AnotherModelAfterAResetIsTold) {
  TestingDevice device;
  auto host =
      Device::open(std::make_unique<FaultyLine>(device, FaultyLine::Faults(), 1), "test", quick());
  ASSERT_TRUE(host.ok()) << host.status();
  device.start(testing_metadata_of_another());
  EXPECT_THAT((*(*host)->method("forward"))->execute().ToString(),
              HasSubstr("the device has another model now: ffffffff89abcdef"));
}

}  // namespace
}  // namespace petrel::extension
