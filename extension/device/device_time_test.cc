// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "extension/device/testing_device.h"

namespace petrel::extension {
namespace {

using testing::HasSubstr;

std::unique_ptr<Device> opened(TestingDevice& device) {
  auto host = Device::open(std::make_unique<FaultyLine>(device, FaultyLine::Faults(), 1), "test");
  EXPECT_TRUE(host.ok()) << host.status();
  return host.ok() ? std::move(*host) : nullptr;
}

absl::StatusOr<DeviceTimes> times_of(TestingDevice& device) {
  const auto host = opened(device);
  return time_method(**host->method("forward"), DeviceTimePlan());
}

TEST(DeviceTime, MeanOfRuns) {
  TestingDevice device;  // 1000 ticks of 1 us
  const auto times = times_of(device);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_DOUBLE_EQ(times->mean_seconds, 1e-3);
  EXPECT_DOUBLE_EQ(times->ticks, 1000);
  EXPECT_GE(times->number, 20u);  // 0.02 s
  EXPECT_LE(times->relative_error, 0.01);
}

TEST(DeviceTime, ACoarseTimerGetsMoreRuns) {
  TestingDevice device;
  device.timer().ticks_per_run = 3;
  device.timer().resolution = 100;
  const auto times = times_of(device);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_GE(times->number, 6000u);
  EXPECT_NEAR(times->ticks, 3, 0.05);
}

TEST(DeviceTime, ATimerThatOverflowsGetsFewer) {
  TestingDevice device;
  device.board().timer.bits = 12;  // 4 runs
  device.start();
  const auto times = times_of(device);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_GE(times->number, 1u);
  EXPECT_LE(times->number, 4u);
  EXPECT_DOUBLE_EQ(times->mean_seconds, 1e-3);
}

TEST(DeviceTime, OneRunThatOverflowsIsAnError) {
  TestingDevice device;
  device.config().plan = nullptr;
  device.board().timer.bits = 9;
  device.start();
  EXPECT_THAT(times_of(device).status().ToString(),
              HasSubstr("the timer overflowed: that takes longer than it counts"));
}

TEST(DeviceTime, OneRunThatOverflowsIsTimedStepByStep) {
  TestingDevice device;
  device.board().timer.bits = 9;
  device.timer().ticks_per_run = 0;
  device.timer().ticks_per_step = 500;
  device.start();
  const auto times = times_of(device);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_TRUE(times->by_steps);
  EXPECT_EQ(times->number, 1u);
  EXPECT_DOUBLE_EQ(times->ticks, 500 * 5);
}

TEST(DeviceTime, AStepThatOverflowsIsNamed) {
  TestingDevice device;
  device.board().timer.bits = 9;
  device.timer().ticks_per_run = 0;
  device.timer().ticks_per_step = 600;
  device.start();
  EXPECT_THAT(times_of(device).status().ToString(),
              HasSubstr("step 'begin' alone takes longer than the 0.000512 s that the timer of 9 "
                        "bits counts"));
}

TEST(DeviceTime, ATimerThatStandsStillIsAnError) {
  TestingDevice device;
  device.timer().ticks_per_run = 0;
  EXPECT_THAT(times_of(device).status().ToString(),
              HasSubstr("says 0 ticks for 10000 runs: it does not count, or is too coarse"));
}

// A timer that says 0 once, in the `number`-th measurement from 1 on.
int measurements = 0, silent = 0;

absl::StatusOr<DeviceTimes> times_with_silence(TestingDevice& device, int number) {
  measurements = 0;
  silent = number;
  device.board().timer.stop = [](void*, uint64_t* ticks) {
    *ticks = ++measurements == silent ? 0 : 100'000 + static_cast<uint64_t>(measurements);
    return int32_t{PETREL_BOARD_OK};
  };
  return times_of(device);
}

TEST(DeviceTime, ATimerThatStandsStillLaterIsAnError) {
  TestingDevice device;
  EXPECT_TRUE(times_with_silence(device, 0).ok());
  EXPECT_THAT(times_with_silence(device, 2).status().ToString(),
              HasSubstr("the timer of board 'testing' says 0 ticks for 1 runs"));
}

TEST(DeviceTime, TheOnlyRunThatATimerDoesNotCountIsAnError) {
  TestingDevice device;
  device.config().plan = nullptr;  // inputs are given for each run
  device.start();
  EXPECT_TRUE(times_with_silence(device, 0).ok());
  EXPECT_THAT(times_with_silence(device, 1).status().ToString(),
              HasSubstr("the timer of board 'testing' says 0 ticks for 1 runs"));
}

TEST(DeviceTime, NoTimerIsAnError) {
  TestingDevice device;
  device.board().timer.hz = 0;
  EXPECT_THAT(times_of(device).status().ToString(), HasSubstr("board 'testing' has no timer"));
}

TEST(DeviceTime, WhatMaySleepNeedsATimerThatCountsOn) {
  const petrel_device_info npu = {"npu"};
  petrel_model_metadata model = *testing_metadata();
  model.devices = &npu;
  model.num_devices = 1;
  TestingDevice device(&model);
  EXPECT_TRUE(times_of(device).ok());
  device.board().timer.flags = PETREL_TIMER_STOPS_IN_SLEEP;
  device.start();
  EXPECT_THAT(times_of(device).status().ToString(),
              HasSubstr("the timer of board 'testing' stands still while the processor sleeps"));
  const auto host = opened(device);
  EXPECT_FALSE(profile_method(**host->method("forward"), 1).ok());
  device.start(testing_metadata());
  EXPECT_TRUE(times_of(device).ok());
}

TEST(DeviceTime, InputsThatRunsDestroyAreGivenEachTime) {
  TestingDevice device;
  device.config().plan = nullptr;  // nobody says that they are kept
  device.start();
  const auto times = times_of(device);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_EQ(times->number, 1u);
  EXPECT_DOUBLE_EQ(times->mean_seconds, 1e-3);
}

TEST(DeviceTime, StepsAreProfiled) {
  TestingDevice device;
  const auto host = opened(device);
  DeviceMethod& forward = **host->method("forward");
  const auto steps = profile_method(forward, 2);
  ASSERT_TRUE(steps.ok()) << steps.status();
  ASSERT_EQ(steps->size(), 5u);
  EXPECT_EQ((*steps)[3].ticks, 1000);
  EXPECT_EQ((*steps)[3].share, 1);
  EXPECT_THAT(profile_text(forward, *steps, 1'000'000),
              HasSubstr("op2_count                                    1000       1000.0  100.0%"));
}

TEST(DeviceTime, StepsAreProfiledWithoutATrace) {
  TestingDevice device;
  device.config().num_trace = 0;
  device.start();
  const auto host = opened(device);
  const auto steps = profile_method(**host->method("forward"), 1);
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_EQ((*steps)[3].ticks, 1000);
}

TEST(DeviceTime, CalibratesWithinTheRangeOfTheTimer) {
  TestingDevice device;
  device.board().timer.bits = 10;
  device.start();
  const auto host = opened(device);
  EXPECT_THAT(calibrate_timer(*host, std::chrono::milliseconds(10)).status().ToString(),
              HasSubstr("the timer counts for 0.00102 s, which is too short for 0.01 s"));
  EXPECT_THAT(calibrate_timer(*host, std::chrono::milliseconds(0)).status().ToString(),
              HasSubstr("does not count: 0 ticks"));
}

}  // namespace
}  // namespace petrel::extension
