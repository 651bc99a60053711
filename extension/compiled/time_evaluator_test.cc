// SPDX-License-Identifier: Apache-2.0
#include "extension/compiled/time_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::Result;
using Clock = std::chrono::steady_clock;

void sleep_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(TimeEvaluator, GivesAFigureOfOneRunForEachRepetition) {
  int runs = 0;
  TimePlan plan;
  plan.number = 5;
  plan.repeat = 3;
  const auto seconds = evaluate_time([&] { return ++runs, sleep_ms(2), Error::Ok; }, plan);
  ASSERT_TRUE(seconds.ok());
  EXPECT_EQ(runs, 1 + 3 * 5);
  EXPECT_THAT(*seconds, testing::SizeIs(3));
  EXPECT_THAT(*seconds, testing::Each(testing::AllOf(testing::Ge(0.002), testing::Lt(0.2))));
}

TEST(TimeEvaluator, RunsUntilAFigureTookLongEnough) {
  int runs = 0;
  TimePlan plan;
  plan.min_repeat_ms = 30;
  const auto begin = Clock::now();
  ASSERT_TRUE(evaluate_time([&] { return ++runs, sleep_ms(1), Error::Ok; }, plan).ok());
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(30));
  EXPECT_GT(runs, 3);
  // What takes no time at all ends, too.
  ASSERT_TRUE(evaluate_time([] { return Error::Ok; }, plan).ok());
}

TEST(TimeEvaluator, RestsBetweenRepetitions) {
  TimePlan plan;
  plan.repeat = 3;
  plan.cooldown_ms = 20;
  const auto begin = Clock::now();
  ASSERT_TRUE(evaluate_time([] { return Error::Ok; }, plan).ok());
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(40));
}

TEST(TimeEvaluator, RefusesPlansWithoutRunsAndTellsWhatFails) {
  int runs = 0;
  const auto count = [&] { return ++runs, Error::Ok; };
  for (int64_t TimePlan::*member : {&TimePlan::number, &TimePlan::repeat}) {
    TimePlan plan;
    plan.*member = 0;
    EXPECT_EQ(evaluate_time(count, plan).error(), Error::InvalidArgument);
  }
  for (int64_t TimePlan::*member : {&TimePlan::min_repeat_ms, &TimePlan::cooldown_ms}) {
    TimePlan plan;
    plan.*member = -1;
    EXPECT_EQ(evaluate_time(count, plan).error(), Error::InvalidArgument);
  }
  EXPECT_EQ(runs, 0);
  const auto fail_later = [&] { return ++runs < 3 ? Error::Ok : Error::OutOfResources; };
  TimePlan plan;
  plan.number = 10;
  EXPECT_EQ(evaluate_time(fail_later, plan).error(), Error::OutOfResources);
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace petrel::extension
