// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/node_problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ir/text.h"
#include "exir/memory/planned_program.h"
#include "exir/memory/storage.h"
#include "exir/ops/table.h"

namespace petrel::exir::emit_c {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Of one node that makes `out` of %x, and of %w where that is wanted.
std::vector<std::string> problems(const std::string& inputs, const std::string& node) {
  const std::string text =
      absl::StrCat("method @m(", inputs, ") {\n  %y = ", node, "\n  return %y\n}\n");
  auto graph = parse_graph(text, find_op, nullptr);
  if (!graph.ok()) return {std::string(graph.status().message())};
  PlannedMethod method;
  method.name = "m";
  method.graph = *std::move(graph);
  method.storage = std::make_unique<Storage>(*method.graph);
  return problems_of(method, {}, CPools());
}

TEST(NodeProblems, WindowsMayNotReachFartherThanCCounts) {
  const char* const inputs = "%x: f32[1,1,1], %w: f32[1,1,1]";
  EXPECT_THAT(
      problems(inputs, "aten.convolution.default(%x, %w, none, [2], [2], [1], false, [0], 1)"),
      IsEmpty());
  // The first window of the second piece would begin before all memory.
  EXPECT_THAT(problems(inputs,
                       "aten.convolution.default(%x, %w, none, [1073741824], [1610612736], [1], "
                       "false, [0], 1)"),
              ElementsAre(HasSubstr("reach farther than C counts")));
  EXPECT_THAT(problems("%x: f32[1,1,100000,1]", "aten._adaptive_avg_pool2d.default(%x, [30000,1])"),
              ElementsAre(HasSubstr("reach farther than C counts")));
  EXPECT_THAT(problems("%x: f32[1,1,1000,1]", "aten._adaptive_avg_pool2d.default(%x, [300,1])"),
              IsEmpty());
}

TEST(NodeProblems, ConvolutionsOfIntegersDoNotExist) {
  EXPECT_THAT(problems("%x: i64[1,1,4], %w: i64[1,1,1]",
                       "aten.convolution.default(%x, %w, none, [1], [0], [1], false, [0], 1)"),
              ElementsAre(HasSubstr("convolutions of integers")));
}

TEST(NodeProblems, WhatKernelsRefuseIsSaidBesideWhatNoKernelTakes) {
  auto graph = parse_graph(
      "method @m(%x: i64[1,1,4], %w: i64[1,1,1], %c: u8[4], %y: f32[4]) {\n"
      "  %a = aten.convolution.default(%x, %w, none, [1], [0], [1], false, [0], 1)\n"
      "  %b = aten.where.self(%c, %y, %y)\n"
      "  %d = aten.relu.default(%y)\n"
      "  %e = aten.rand.default([4])\n"
      "  return %a, %b, %d, %e\n}\n",
      find_op, nullptr);
  ASSERT_TRUE(graph.ok()) << graph.status();
  PlannedMethod method;
  method.name = "m";
  method.graph = *std::move(graph);
  method.storage = std::make_unique<Storage>(*method.graph);
  EXPECT_THAT(problems_of(method, {}, CPools()),
              ElementsAre(HasSubstr("convolutions of integers"),
                          HasSubstr("conditions that are not bool do not exist in C yet"),
                          HasSubstr("makes random numbers")));
}

TEST(NodeProblems, IntegersHaveIntegerFactors) {
  const char* const inputs = "%x: i64[2,2], %w: i64[2,2]";
  EXPECT_THAT(problems(inputs, "aten.addmm.default(%x, %x, %w, beta=2, alpha=3)"), IsEmpty());
  EXPECT_THAT(problems(inputs, "aten.addmm.default(%x, %x, %w, beta=0.5)"),
              ElementsAre(HasSubstr("no factors but integers")));
  EXPECT_THAT(problems(inputs, "aten.addmm.default(%x, %x, %w, alpha=false)"),
              ElementsAre(HasSubstr("no factors but integers")));
}

TEST(NodeProblems, WhatKernelsComputeInFloatsIsOfFloats) {
  for (const char* node :
       {"aten._softmax.default(%x, 1, false)", "aten._log_softmax.default(%x, 1, false)",
        "aten.upsample_bilinear2d.vec(%x, [4,4], false, none)"}) {
    EXPECT_THAT(problems("%x: f32[1,1,2,2]", node), IsEmpty()) << node;
    EXPECT_THAT(problems("%x: i64[1,1,2,2]", node),
                ElementsAre(HasSubstr("'x' is i64[1,1,2,2], must be of floats")))
        << node;
  }
}

TEST(NodeProblems, WhatIsMadeOfElementsNeedsSome) {
  for (const char* node : {"aten.upsample_nearest2d.vec(%x, [4,4], none)",
                           "aten.upsample_bilinear2d.vec(%x, [4,4], false, none)",
                           "aten.replication_pad2d.default(%x, [1,1,1,1])",
                           "aten._adaptive_avg_pool2d.default(%x, [1,1])"}) {
    EXPECT_THAT(problems("%x: f32[1,1,2,2]", node), IsEmpty()) << node;
    EXPECT_THAT(problems("%x: f32[1,1,0,2]", node), ElementsAre(HasSubstr("'x' has no elements")))
        << node;
  }
}

TEST(NodeProblems, MasksBesideOtherIndicesAreNamed) {
  const char* const inputs = "%x: f32[4,3], %m: bool[4], %i: i64[1], %v: f32[]";
  EXPECT_THAT(problems(inputs, "aten.index_put.default(%x, [%i, %i], %v, false)"), IsEmpty());
  EXPECT_THAT(problems(inputs, "aten.index_put.default(%x, [%m, %i], %v, false)"),
              ElementsAre(HasSubstr("'m' is a mask beside other indices")));
}

}  // namespace
}  // namespace petrel::exir::emit_c
