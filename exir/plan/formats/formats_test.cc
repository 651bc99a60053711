// SPDX-License-Identifier: Apache-2.0
//
// CSV, JSON and SVG.

#include <cstdint>
#include <string>

#include "exir/plan/benchmarks/instances.h"
#include "exir/plan/formats/csv.h"
#include "exir/plan/formats/json.h"
#include "exir/plan/pictures/svg.h"
#include "exir/plan/search/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

using ::testing::HasSubstr;

TEST(CsvTest, BoundsTheMemoryThatShortRowsTake) {
  std::string text = "id,lower,upper,size\n";
  for (int i = 0; i < 500'000; ++i) text += "b" + std::to_string(i) + ",0,1,1\n";
  const absl::Status status = parse_csv(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("buffers, the most that a file of "));
  EXPECT_TRUE(parse_csv(text.substr(0, text.find("b100000,"))).ok());
}

TEST(CsvTest, ReadsEveryColumnInAnyOrder) {
  absl::StatusOr<Problem> problem = parse_csv(
      "size,id,upper,lower,alignment,gaps,hint,offset\r\n"
      "4,b1,3,0,2,,8,\n"
      "\n"
      "6,b2,9,3,1,4-6 7-8@1:3,,2\n");
  ASSERT_TRUE(problem.ok()) << problem.status();
  ASSERT_EQ(problem->buffers.size(), 2u);
  const Buffer& b1 = problem->buffers[0];
  EXPECT_EQ(b1.id, "b1");
  EXPECT_EQ(b1.size, 4);
  EXPECT_EQ(b1.alignment, 2);
  EXPECT_EQ(b1.hint, 8);
  EXPECT_EQ(b1.offset, std::nullopt);
  const Buffer& b2 = problem->buffers[1];
  EXPECT_EQ(b2.lifetime.begin, 3);
  EXPECT_EQ(b2.lifetime.end, 9);
  EXPECT_EQ(b2.offset, 2);
  ASSERT_EQ(b2.gaps.size(), 2u);
  EXPECT_EQ(b2.gaps[0].time.begin, 4);
  EXPECT_EQ(b2.gaps[0].time.end, 6);
  EXPECT_EQ(b2.gaps[0].high, 0);
  EXPECT_EQ(b2.gaps[1].low, 1);
  EXPECT_EQ(b2.gaps[1].high, 3);
}

TEST(CsvTest, TakesWhatSpreadsheetsPutFirstAndRefusesNothingAtAll) {
  absl::StatusOr<Problem> problem = parse_csv("\xef\xbb\xbfid,lower,upper,size\na,0,3,4\n");
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(problem->buffers.size(), 1u);
  for (const char* text : {"", "\n", " \r\n"}) {
    EXPECT_EQ(parse_csv(text).status().message(),
              "line 1: the file is empty, must begin with the columns");
  }
}

TEST(CsvTest, QuotedCellsHoldCommasQuotesAndLineEnds) {
  absl::StatusOr<Problem> problem = parse_csv(
      "\"id\",lower,upper,\"size\",gaps\r\n"
      "\"conv, 3x3\",0,3,\"4\",\"\"\r\n"
      "\n"
      "  \"the \"\"big\"\" one\" ,0, 3 ,4,1-2\n"
      "\"two\r\nlines\",3,9,6,\"4-6 7-8@1:3\"\n"
      "\" kept \",3,9,1,");
  ASSERT_TRUE(problem.ok()) << problem.status();
  ASSERT_EQ(problem->buffers.size(), 4u);
  EXPECT_EQ(problem->buffers[0].id, "conv, 3x3");
  EXPECT_EQ(problem->buffers[0].size, 4);
  EXPECT_EQ(problem->buffers[1].id, "the \"big\" one");
  EXPECT_EQ(problem->buffers[1].lifetime.end, 3);
  EXPECT_EQ(problem->buffers[2].id, "two\r\nlines");
  EXPECT_EQ(problem->buffers[2].gaps.size(), 2u);
  EXPECT_EQ(problem->buffers[3].id, " kept ");
  EXPECT_EQ(problem->buffers[3].origin, "line 7");

  absl::StatusOr<Problem> again = parse_csv(format_csv(*problem));
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(again->buffers.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(again->buffers[i].id, problem->buffers[i].id);
  }
}

TEST(CsvTest, EndIsInclusiveWhereUpperIsNot) {
  absl::StatusOr<Problem> problem = parse_csv("id,start,end,size\na,0,3,4\nb,3,5,4\n");
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(problem->buffers[0].lifetime.end, 4);
  EXPECT_EQ(plan(*problem)->peak, 8);  // both alive at time 3
}

TEST(CsvTest, WrittenProblemsReadBackTheSame) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Problem problem = random_problem(20, 1, seed);
    problem.pools[0] = Pool();
    const std::string text = format_csv(problem);
    absl::StatusOr<Problem> again = parse_csv(text);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
    EXPECT_EQ(format_csv(*again), text);
  }
}

TEST(CsvTest, AWrittenPlanIsAProblemWithFixedOffsets) {
  const Problem problem = cut_rectangle(CutOptions(), 1);
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  absl::StatusOr<Problem> fixed = parse_csv(format_csv(problem, *solution));
  ASSERT_TRUE(fixed.ok()) << fixed.status();
  absl::StatusOr<Solution> again = plan(*fixed);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->peak, solution->peak);
}

TEST(CsvTest, ErrorsNameTheLine) {
  const auto message = [](const char* text) {
    const absl::Status status = parse_csv(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    return std::string(status.message());
  };
  EXPECT_THAT(message(""), HasSubstr("line 1"));
  EXPECT_THAT(message("id,lower,upper"), HasSubstr("line 1"));
  EXPECT_THAT(message("id,lower,upper,start,end,size"), HasSubstr("line 1"));
  EXPECT_THAT(message("id,lower,upper,size,colour"),
              HasSubstr("column \"colour\" is not one of id"));
  EXPECT_THAT(message("lower,upper,size\n0,1,1\n"), HasSubstr("line 1: columns must hold id"));
  EXPECT_THAT(message("id,id,lower,upper,size"), HasSubstr("twice"));
  EXPECT_THAT(message("id,lower,upper,size\na,0,1,1\nb,0,1\n"),
              HasSubstr("line 3: has 3 columns, must have 4"));
  EXPECT_THAT(message("id,lower,upper,size\na,0,1,big\n"), HasSubstr("line 2: size is \"big\""));
  EXPECT_THAT(message("id,lower,upper,size\na,0,1,99999999999999999999\n"),
              HasSubstr("line 2: size"));
  EXPECT_THAT(message("id,start,end,size\na,0,9223372036854775807,1\n"), HasSubstr("line 2: end"));
  EXPECT_THAT(message("id,lower,upper,size,gaps\na,0,9,1,5\n"), HasSubstr("line 2: gap"));
  EXPECT_THAT(message("id,lower,upper,size,gaps\na,0,9,8,5-6@2:9\n"),
              HasSubstr("line 2: gap keeps bytes [2, 9)"));
  EXPECT_THAT(message("id,lower,upper,size,gaps\na,0,9,8,5-6@-1:3\n"),
              HasSubstr("line 2: gap keeps bytes [-1, 3)"));
  EXPECT_THAT(message("id,lower,upper,size,gaps\na,0,9,8,5-6@6:3\n"),
              HasSubstr("line 2: gap keeps bytes [6, 3)"));
  EXPECT_EQ(message("id,lower,upper,size\na,0,1,1\n\"b,0,1,1\nc,0,1,1\n"),
            "line 3: cell \"b,0,1,1\" has no closing quote");
  EXPECT_EQ(message("id,lower,upper,size\n\"a\nb\" c,0,1,1\n"),
            "line 3: \"c\" follows a closing quote, must be a comma or the end "
            "of the line");
  EXPECT_EQ(message("id,lower,upper,size\na\"b\",0,1,1\n"),
            "line 2: cell \"a\"b\"\" has a quote inside; such a cell must stand "
            "in quotes, each of its own doubled");
  EXPECT_THAT(message("id,lower,upper,size\n\"a,0\",1,1\n"),
              HasSubstr("line 2: has 3 columns, must have 4"));
  EXPECT_EQ(message("id,lower,upper,size\n\"\",0,1,1\n"), "line 2: id is empty");
  EXPECT_THAT(message("id,lower,upper,size\na,5,5,1\n"),
              HasSubstr("buffer a (line 2): lifetime [5, 5)"));
  EXPECT_THAT(message("id,lower,upper,size\na,0,5,-1\n"),
              HasSubstr("buffer a (line 2): size is -1"));
  EXPECT_THAT(message("id,lower,upper,size\na,0,5,1152921504606846975\n"
                      "b,0,5,1\n"),
              HasSubstr("buffer b (line 3): its size 1 brings the sum"));
  EXPECT_THAT(message("id,lower,upper,size\na,0,5,1\n\na,0,5,1\n"),
              HasSubstr("buffer a (line 4) has the id of another, "
                        "a (line 2)"));
}

TEST(CsvTest, DamagedTextIsRefusedOrReadNeverWorse) {
  const std::string text =
      "id,lower,upper,size,alignment,gaps,offset\n\"a\",0,9,8,4,2-3 5-6@1:2,4\n";
  for (size_t i = 0; i < text.size(); ++i) {
    parse_csv(text.substr(0, i)).status().IgnoreError();
    for (const char c : {'\0', '-', ',', '"', '\n', '9', '\xff'}) {
      std::string damaged = text;
      damaged[i] = c;
      absl::StatusOr<Problem> problem = parse_csv(damaged);
      if (problem.ok()) plan(*problem).status().IgnoreError();
    }
  }
}

TEST(JsonTest, WritesWhatToolsRead) {
  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  problem.buffers.resize(1);
  problem.buffers[0].id = "a\"\\\n";
  problem.buffers[0].size = 4;
  problem.buffers[0].lifetime = {0, 1};
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  solution->seconds = 0.25;
  EXPECT_EQ(format_json(problem, *solution),
            "{\"peak\":4,\"lower_bound\":4,\"optimal\":true,\"seconds\":0.25,"
            "\"method\":\"single buffer\","
            "\"pools\":[{\"name\":\"arena\",\"peak\":4,\"lower_bound\":4}],\"buffers\":[\n"
            "{\"id\":\"a\\\"\\\\\\n\",\"pool\":\"arena\",\"offset\":0}]}\n");
}

TEST(SvgTest, DrawsOneRectanglePerStretchAndEscapesNames) {
  Problem problem;
  problem.pools.resize(2);
  problem.pools[0].name = "fast & small";
  problem.pools[1].name = "slow";
  problem.buffers.resize(2);
  problem.buffers[0].id = "<a>";
  problem.buffers[0].size = 4;
  problem.buffers[0].lifetime = {0, 9};
  problem.buffers[0].gaps = {{{3, 5}, 0, 0}};
  problem.buffers[1].id = "b";
  problem.buffers[1].size = 4;
  problem.buffers[1].lifetime = {0, 9};
  problem.buffers[1].pools = {1};
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  const std::string svg = render_svg(problem, *solution);
  EXPECT_THAT(svg, HasSubstr("fast &amp; small: 4 bytes"));
  EXPECT_THAT(svg, HasSubstr("&lt;a&gt;: 4 bytes at 0, time [0, 3)"));
  size_t rectangles = 0;
  for (size_t at = svg.find("<title>", 0); at != std::string::npos;
       at = svg.find("<title>", at + 1)) {
    ++rectangles;
  }
  EXPECT_EQ(rectangles, 3u + 2 * 3);  // and three levels in each panel
  EXPECT_THAT(svg, ::testing::EndsWith("</svg>\n"));
}

}  // namespace
}  // namespace petrel::exir::plan
