// SPDX-License-Identifier: Apache-2.0
//
// Planners by name and as processes: good ones, and every way to be bad.

#include "exir/plan/external/external_planner.h"

#include <chrono>
#include <string>
#include <vector>

#include "exir/plan/external/child_process.h"
#include "exir/plan/search/planner_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Problem two_buffers() {
  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  for (const char* id : {"a", "b"}) {
    Buffer buffer;
    buffer.id = id;
    buffer.size = 10;
    buffer.lifetime = {0, 2};
    problem.buffers.push_back(buffer);
  }
  return problem;
}

absl::StatusOr<Solution> plan_by(const std::string& command, int64_t timeout_ms = 20'000) {
  Options options;
  options.planner = external_planner(command, timeout_ms);
  options.planner_name = "theirs";
  return plan(two_buffers(), options);
}

std::string message(const std::string& command, absl::StatusCode code,
                    int64_t timeout_ms = 20'000) {
  const absl::Status status = plan_by(command, timeout_ms).status();
  EXPECT_EQ(status.code(), code) << command << ": " << status;
  return std::string(status.message());
}

std::string say(const std::string& answer) { return "cat >/dev/null; echo '" + answer + "'"; }

TEST(PlannerRegistryTest, AnOwnPlannerIsBoundedAndValidated) {
  PlannerRegistry planners = PlannerRegistry::built_in();
  int64_t second = 10;
  ASSERT_TRUE(planners
                  .add("mine",
                       [&second](const Problem&, const Options&) {
                         return std::vector<Placement>{{0, 0}, {0, second}};
                       })
                  .ok());
  EXPECT_THAT(planners.names(), ElementsAre("mine", "orderings", "search", "unshared"));
  Options options;
  ASSERT_TRUE(planners.choose("mine", &options).ok());
  absl::StatusOr<Solution> solution = plan(two_buffers(), options);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->peak, 20);
  EXPECT_TRUE(solution->optimal);
  EXPECT_EQ(solution->method, "mine");

  second = 11;
  solution = plan(two_buffers(), options);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->peak, 21);
  EXPECT_EQ(solution->lower_bound, 20);
  EXPECT_FALSE(solution->optimal);

  second = 9;
  const absl::Status overlap = plan(two_buffers(), options).status();
  EXPECT_EQ(overlap.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(overlap.message()), HasSubstr("planner mine: invalid plan: buffers"));
  second = INT64_MAX;
  EXPECT_THAT(std::string(plan(two_buffers(), options).status().message()),
              HasSubstr("buffer b is at offset 9223372036854775807"));
}

TEST(PlannerRegistryTest, NamesAreUniqueAndKnown) {
  PlannerRegistry planners = PlannerRegistry::built_in();
  const PlacementFn none = [](const Problem&, const Options&) { return std::vector<Placement>(); };
  EXPECT_EQ(planners.add("search", none).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_FALSE(planners.add("", none).ok());
  ASSERT_TRUE(planners.add("none", none).ok());
  Options options;
  EXPECT_EQ(planners.choose("nothing", &options).code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(planners.choose("none", &options).ok());
  EXPECT_THAT(std::string(plan(two_buffers(), options).status().message()),
              HasSubstr("has 0 places for 2 buffers"));
}

TEST(PlannerRegistryTest, UnsharedBuffersNeedTheSumOfSizes) {
  Problem problem = two_buffers();
  problem.buffers[1].lifetime = {5, 6};
  Options options;
  ASSERT_TRUE(PlannerRegistry::built_in().choose("unshared", &options).ok());
  EXPECT_EQ(plan(problem, options)->peak, 20);
  EXPECT_EQ(plan(problem)->peak, 10);
  problem.pools[0].capacity = 19;
  EXPECT_EQ(plan(problem, options).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ExternalPlannerTest, GetsSizesConflictsAndPoolsAndAnswersWithPlaces) {
  const std::string check =
      "read x; read y; cat >/dev/null; "
      "case \"$y\" in *'\"id\":\"arena\"'*) ;; esac; ";
  absl::StatusOr<Solution> solution =
      plan_by(check +
              "echo '{\"buffers\": [{\"id\": \"b\", \"offset\": 0}, "
              "{\"id\": \"a\", \"pool\": \"arena\", \"offset\": 10}]}'");
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->placements[0].offset, 10);
  EXPECT_EQ(solution->placements[1].offset, 0);
  // What it got, told through its standard error.
  const std::string request = message("cat >&2; exit 1", absl::StatusCode::kAborted);
  EXPECT_THAT(request, HasSubstr("\"id\":\"b\",\"lower\":0,\"upper\":2,"
                                 "\"size\":10,\"alignment\":1,"
                                 "\"pools\":[\"arena\"],"
                                 "\"conflicts\":[\"a\"]}"));
}

TEST(ExternalPlannerTest, WrongAnswersAreNamed) {
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(message(say("hello"), invalid), HasSubstr("is not JSON"));
  EXPECT_THAT(message(say(""), invalid), HasSubstr("is not JSON"));
  EXPECT_THAT(message(say("[]"), invalid), HasSubstr("a list"));
  EXPECT_THAT(message(say("{\"buffers\": [{\"id\": \"a\", \"offset\": 0}]}"), invalid),
              HasSubstr("buffer b has no place"));
  EXPECT_THAT(message(say("{\"buffers\": [{\"id\": \"c\", \"offset\": 0}]}"), invalid),
              HasSubstr("\"c\", which is not a buffer"));
  EXPECT_THAT(message(say("{\"buffers\": [{\"id\": \"a\", \"offset\": 0.5}]}"), invalid),
              HasSubstr("buffer a: offset is 0.5, must be a whole number"));
  EXPECT_THAT(message(say("{\"buffers\": [{\"id\": \"a\", \"offset\": 0}, "
                          "{\"id\": \"a\", \"offset\": 0}]}"),
                      invalid),
              HasSubstr("two places"));
  EXPECT_THAT(message(say("{\"buffers\": [{\"id\": \"a\", \"pool\": \"moon\", "
                          "\"offset\": 0}]}"),
                      invalid),
              HasSubstr("\"moon\", which is not a pool"));
  EXPECT_THAT(message(say("{\"buffers\": [{\"id\": \"a\", \"offset\": 0}, "
                          "{\"id\": \"b\", \"offset\": 5}]}"),
                      absl::StatusCode::kInternal),
              HasSubstr("planner theirs: invalid plan"));
}

TEST(ExternalPlannerTest, FailuresOfTheProcessAreNamed) {
  const auto aborted = absl::StatusCode::kAborted;
  EXPECT_THAT(message("echo first >&2; echo why >&2; exit 3", aborted),
              HasSubstr("failed with exit code 3: why"));
  EXPECT_THAT(message("kill -9 $$", aborted), HasSubstr("signal 9"));
  EXPECT_THAT(message("no_such_program_at_all", aborted), HasSubstr("exit code 127"));
}

TEST(ExternalPlannerTest, SlowOnesAreStoppedWithAllTheyStarted) {
  const auto begin = std::chrono::steady_clock::now();
  const auto late = absl::StatusCode::kDeadlineExceeded;
  EXPECT_THAT(message("sleep 30", late, 100), HasSubstr("within 100 ms"));
  // A grandchild keeps the output open.
  message("sleep 30 & exit 0", late, 100);
  // The output is closed, but it stays.
  message("exec >&- 2>&-; sleep 30", late, 100);
  // It writes for ever.
  const absl::StatusCode code = plan_by("yes", 300).status().code();
  EXPECT_TRUE(code == late || code == absl::StatusCode::kResourceExhausted);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

TEST(RunCommandTest, MovesMoreThanPipesHoldInBothDirections) {
  std::string input;
  for (int i = 0; i < 300'000; ++i) input += "line " + std::to_string(i) + "\n";
  absl::StatusOr<std::string> output = run_command("cat", input, 20'000);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_TRUE(*output == input);
  // Input that nobody reads is not an error.
  output = run_command("echo done", input, 20'000);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(*output, "done\n");
}

}  // namespace
}  // namespace petrel::exir::plan
