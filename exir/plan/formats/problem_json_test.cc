// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/formats/problem_json.h"

#include <string>

#include "exir/plan/benchmarks/instances.h"
#include "exir/plan/formats/json.h"
#include "exir/plan/pictures/html.h"
#include "exir/plan/search/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProblemJsonTest, ReadsEverything) {
  absl::StatusOr<Problem> problem = parse_problem_json(R"({
    "pools": [{"name": "sram", "capacity": 64, "preferred_capacity": 40,
               "cost_per_access": 1, "kind": "read_only"},
              {"name": "dram"}],
    "buffers": [
      {"id": "a", "lower": 0, "upper": 3, "size": 8, "alignment": 4,
       "offset": 4, "hint": 8, "pools": ["dram", "sram"], "accesses": 7,
       "group": "conv", "gaps": [{"lower": 1, "upper": 2, "keep": [0, 1]}],
       "conflicts": ["c"]},
      {"id": "b", "lower": 0, "upper": 3, "size": 2},
      {"id": "c", "lower": 5, "upper": 6, "size": 3}],
    "conflicts": [["b", "c"]],
    "non_conflicts": [["a", "b"]],
    "overlaps": [{"lower": "a", "upper": "b", "bytes": 1}]})");
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(problem->pools[0].capacity, 64);
  EXPECT_EQ(problem->pools[0].preferred_capacity, 40);
  EXPECT_EQ(problem->pools[0].kind, PoolKind::kReadOnly);
  EXPECT_EQ(problem->pools[1].capacity, std::nullopt);
  const Buffer& a = problem->buffers[0];
  EXPECT_EQ(a.lifetime.end, 3);
  EXPECT_EQ(a.alignment, 4);
  EXPECT_EQ(a.offset, 4);
  EXPECT_EQ(a.hint, 8);
  EXPECT_EQ(a.pools, (std::vector<PoolIdx>{1, 0}));
  EXPECT_EQ(a.access_count, 7);
  EXPECT_EQ(a.group, "conv");
  EXPECT_EQ(a.gaps[0].high, 1);
  ASSERT_EQ(problem->conflicts.size(), 2u);
  EXPECT_EQ(problem->conflicts[1].second, 2);
  EXPECT_EQ(problem->non_conflicts[0].second, 1);
  EXPECT_EQ(problem->overlaps[0].bytes, 1);
}

TEST(ProblemJsonTest, WrittenProblemsReadBackTheSame) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Problem problem = random_problem(20, 3, seed);
    if (!check_problem(problem).ok()) continue;
    const std::string text = format_problem_json(problem);
    absl::StatusOr<Problem> again = parse_problem_json(text);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
    EXPECT_EQ(format_problem_json(*again), text);
  }
}

TEST(ProblemJsonTest, ARequestAsksForTheSamePlansAndItsPlanIsAnAnswer) {
  int planned = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Problem problem = random_problem(12, 2, seed);
    if (!check_problem(problem).ok()) continue;
    absl::StatusOr<std::string> request = format_request_json(problem);
    ASSERT_TRUE(request.ok()) << request.status();
    absl::StatusOr<Problem> again = parse_problem_json(*request);
    ASSERT_TRUE(again.ok()) << again.status();
    absl::StatusOr<Solution> solution = plan(*again);
    if (!solution.ok()) continue;
    ++planned;
    absl::StatusOr<std::vector<Placement>> places =
        parse_answer_json(problem, format_json(*again, *solution));
    ASSERT_TRUE(places.ok()) << places.status();
    Options options;
    options.planner = [&](const Problem&, const Options&) { return *places; };
    EXPECT_TRUE(plan(problem, options).ok()) << plan(problem, options).status();
  }
  EXPECT_GT(planned, 20);
}

// A text that names all pairs of 3,000 buffers has 30 MB.
TEST(ProblemJsonTest, ARequestNamesNoMorePairsThanItMay) {
  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  for (int i = 0; i < 3'000; ++i) {
    Buffer buffer;
    buffer.id = std::to_string(i);
    buffer.size = 1;
    buffer.lifetime = {0, 1};
    problem.buffers.push_back(buffer);
  }
  EXPECT_EQ(format_request_json(problem).status().message(),
            "4498500 pairs of buffers are needed at the same time, another planner is asked of at "
            "most 2097152");
  problem.buffers.resize(2'000);
  EXPECT_TRUE(format_request_json(problem).ok());
}

TEST(ProblemJsonTest, ErrorsNameTheBufferAndWhereItIs) {
  const auto message = [](const std::string& text) {
    const absl::Status status = parse_problem_json(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    return std::string(status.message());
  };
  const auto with = [&](const std::string& buffers) {
    return message("{\"buffers\": [" + buffers + "]}");
  };
  EXPECT_THAT(message("{\n\n x"), HasSubstr("line 3: is not JSON at byte 5"));
  EXPECT_THAT(message("[]"), HasSubstr("the problem is a list, must be an object"));
  EXPECT_THAT(message("{}"), HasSubstr("no buffers"));
  EXPECT_THAT(message("{\"buffers\": 3}"), HasSubstr("must be a list"));
  EXPECT_THAT(message("{\"buffers\": [], \"bufers\": []}"), HasSubstr("\"bufers\" is not one of"));
  EXPECT_THAT(with("{\"id\": 3}"), HasSubstr("buffers[0]: id is 3"));
  EXPECT_THAT(with("{\"id\": \"\"}"), HasSubstr("buffers[0]: id is \"\", must be a text"));
  EXPECT_THAT(with("{\"lower\": 0}"), HasSubstr("buffers[0]: has no id"));
  EXPECT_THAT(with("{\"id\": \"a\"}"), HasSubstr("buffer a (buffers[0]): has no lower"));
  const std::string a = "{\"id\": \"a\", \"lower\": 0, \"upper\": 1, ";
  EXPECT_THAT(with(a + "\"size\": -1}"), HasSubstr("buffer a (buffers[0]): size is -1"));
  EXPECT_THAT(with(a + "\"size\": 18446744073709551615}"), HasSubstr("must be below 2^63"));
  EXPECT_THAT(with(a + "\"size\": 1e30}"), HasSubstr("must be a whole number"));
  EXPECT_THAT(with(a + "\"size\": 1}, " + a + "\"size\": 1}"),
              HasSubstr("buffer a (buffers[1]) has the id of another"));
  EXPECT_THAT(with(a + "\"size\": 1, \"pools\": [\"x\"]}"),
              HasSubstr("\"x\", which is not a pool"));
  EXPECT_THAT(with(a + "\"size\": 1, \"conflicts\": [\"x\"]}"),
              HasSubstr("\"x\", which is not a buffer"));
  EXPECT_THAT(with(a + "\"size\": 1, \"conflicts\": [\"a\"]}"), HasSubstr("paired with itself"));
  EXPECT_THAT(with(a + "\"size\": 1, \"pools\": [3]}"), HasSubstr("must be the name of a pool"));
  EXPECT_THAT(with(a + "\"size\": 1, \"gaps\": [{\"lower\": 0, \"upper\": 1, \"keep\": [1]}]}"),
              HasSubstr("keep has 1 numbers, must have 2"));
  EXPECT_THAT(message("{\"pools\": [{\"name\": \"p\", \"kind\": \"odd\"}], \"buffers\": []}"),
              HasSubstr("must be read_write or read_only"));
  for (const char* pair : {"3", "[\"a\"]", "{\"a\": \"a\", \"b\": \"b\"}"}) {
    EXPECT_THAT(message("{\"buffers\": [" + a + "\"size\": 1}], \"conflicts\": [" + pair + "]}"),
                HasSubstr("must be two ids of buffers"));
  }
  EXPECT_THAT(message(std::string(200'000, '[')), HasSubstr("inside each other"));
  EXPECT_THAT(message("{\"buffers\": " + std::string(90, '[') + std::string(90, ']') + "}"),
              HasSubstr("must be an object"));
  EXPECT_THAT(
      message("{\"buffers\": " + std::string(200'000, '[') + std::string(200'000, ']') + "}"),
      HasSubstr("more than 100 arrays and objects are inside each other"));
}

TEST(ProblemJsonTest, AnAnswerGivesEachBufferOnePlace) {
  const auto ask = [](const std::string& pools) {
    return parse_problem_json("{\"pools\": [" + pools + R"(], "buffers": [
      {"id": "a", "lower": 0, "upper": 1, "size": 1},
      {"id": "b", "lower": 0, "upper": 1, "size": 1}]})");
  };
  const absl::StatusOr<Problem> one = ask("");
  const absl::StatusOr<Problem> two = ask(R"({"name": "x"}, {"name": "y"})");
  ASSERT_TRUE(one.ok() && two.ok()) << one.status() << two.status();
  const auto message = [](const Problem& problem, const std::string& buffers) {
    return std::string(
        parse_answer_json(problem, "{\"buffers\": [" + buffers + "]}").status().message());
  };
  const std::string a = R"({"id": "a", "offset": 0})", b = R"({"id": "b", "offset": 1})";
  EXPECT_EQ(message(*one, a + "," + b), "");
  EXPECT_THAT(message(*one, a + "," + a), HasSubstr("buffer a has two places"));
  EXPECT_THAT(message(*one, a), HasSubstr("buffer b has no place"));
  EXPECT_THAT(message(*two, a + "," + b), HasSubstr("buffer a has no pool"));
  EXPECT_THAT(message(*one, "3"), HasSubstr("buffers[0] is 3, must be an object"));
  for (const char* text : {"3", "{}"}) {
    EXPECT_THAT(parse_answer_json(*one, text).status().message(),
                HasSubstr("must be an object with buffers"));
  }
}

TEST(HtmlTest, HoldsItsDataAndLoadsNothing) {
  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  problem.buffers.resize(1);
  problem.buffers[0].id = "</script><b>";
  problem.buffers[0].size = 4;
  problem.buffers[0].lifetime = {0, 9};
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  const std::string html = render_html(problem, *solution, "a plan");
  EXPECT_THAT(html, HasSubstr("\\u003c/script>\\u003cb>"));
  EXPECT_THAT(html, Not(HasSubstr("</script><b>")));
  EXPECT_THAT(html, HasSubstr("\"stretches\":[[0,0,9,0,4]]"));
  for (const char* outside : {"http", "src=", "@import", "url(", "fetch("}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
}

}  // namespace
}  // namespace petrel::exir::plan
