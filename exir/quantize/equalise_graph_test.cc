// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/equalise_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "exir/ir/verifier.h"
#include "exir/pass/framework/pass_case.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

constexpr char kBlock[] = R"(method @m(%x: f32[1,3,8,8]) {
    %w = constant @w : f32[4,3,3,3]
    %b = constant @b : f32[4]
    %d = constant @d : f32[4,1,3,3]
    %p = constant @p : f32[2,4,1,1]
    %first = aten.convolution.default(%x, %w, %b, [1,1], [1,1], [1,1], false, [0,0], 1)
    %relu = aten.relu.default(%first)
    %deep = aten.convolution.default(%relu, %d, none, [1,1], [1,1], [1,1], false, [0,0], 4)
    %point = aten.convolution.default(%deep, %p, none, [1,1], [0,0], [1,1], false, [0,0], 1)
    return %point })";

constexpr char kLinears[] = R"(method @m(%x: f32[2,4]) {
    %w = constant @w : f32[3,4]
    %v = constant @v : f32[3,5]
    %b = constant @b : f32[5]
    %u = constant @u : f32[2,5]
    %one = aten.linear.default(%x, %w, none)
    %active = aten.relu.default(%one)
    %two = aten.addmm.default(%b, %active, %v)
    %three = aten.linear.default(%two, %u, none)
    return %three })";

TEST(EqualiseGraph, FindsPairs) {
  const auto block = graph_of(kBlock);
  const ChannelPairs found = channel_pairs(*block, {});
  ASSERT_EQ(found.pairs.size(), 2u);
  EXPECT_EQ(found.pairs[0].first->result()->name(), "first");
  EXPECT_EQ(found.pairs[0].second->result()->name(), "deep");
  EXPECT_EQ(found.pairs[0].between.size(), 2u);
  EXPECT_EQ(found.pairs[0].dim, 1u);
  EXPECT_EQ(found.pairs[0].channels, 4u);
  EXPECT_EQ(found.pairs[1].second->result()->name(), "point");
  EXPECT_EQ(found.why_not.at("point"), "'point' is an output");
  const auto linears = graph_of(kLinears);
  ASSERT_EQ(channel_pairs(*linears, {}).pairs.size(), 2u);
  EXPECT_EQ(channel_pairs(*linears, {}).pairs[1].channels, 5u);
}

TEST(EqualiseGraph, LeavesWhatMixesChannelsOrHasNumbersBefore) {
  constexpr char kBetween[] = R"(method @m(%x: f32[1,2,8,4]) {
    %w = constant @w : f32[16,4]
    %v = constant @v : f32[3,16]
    %one = aten.linear.default(%x, %w, none)
    %between = BETWEEN
    %two = aten.linear.default(%between, %v, none)
    return %two })";
  const auto pairs_with = [&](const std::string& between) {
    std::string text = kBetween;
    return channel_pairs(*graph_of(text.replace(text.find("BETWEEN"), 7, between)), {}).pairs;
  };
  EXPECT_EQ(pairs_with("aten.relu.default(%one)").size(), 1u);
  EXPECT_TRUE(pairs_with("aten.max_pool2d.default(%one, [3,3], [1,1], [1,1])").empty());
  EXPECT_TRUE(pairs_with("aten.avg_pool2d.default(%one, [3,3], [1,1], [1,1])").empty());
  EXPECT_TRUE(pairs_with("aten.leaky_relu.default(%one, 0.1)").empty());
}

// What a channel is divided by in one weight, it is multiplied by in the next.
TEST(EqualiseGraph, ScalesWhatConnectsAChannel) {
  const auto graph = graph_of(kBlock), before = graph_of(kBlock);
  const std::vector<float> factors = {2, 0.5, 1, 8};
  ASSERT_TRUE(equalise_graph(*graph, {{"first", factors}, {"deep", {1, 1, 4, 1}}}, {}).ok());
  EXPECT_TRUE(verify_graph(*graph).ok());
  const auto check = [&](const char* fqn, const char* made, const auto& factor) {
    const std::vector<double> old = constant_elements(*before, fqn);
    const std::vector<double> now = constant_elements(*graph, made);
    ASSERT_EQ(old.size(), now.size());
    for (size_t i = 0; i < old.size(); ++i) EXPECT_EQ(now[i], old[i] * factor(i)) << made << i;
  };
  const auto of = [&](size_t c) { return static_cast<double>(factors[c]); };
  check("w", "w@equalised", [&](size_t i) { return 1 / of(i / 27); });
  check("b", "b@equalised", [&](size_t i) { return 1 / of(i); });
  // Both, for its input and its output.
  check("d", "d@equalised@equalised", [&](size_t i) { return of(i / 9) / (i / 9 == 2 ? 4 : 1); });
  check("p", "p@equalised", [&](size_t i) { return i % 4 == 2 ? 4 : 1; });
  EXPECT_EQ(graph->find_constant("w"), nullptr);
  EXPECT_EQ(graph->find_constant("w@equalised")->constant()->sources(),
            std::vector<std::string>{"w"});
}

TEST(EqualiseGraph, ScalesMatricesBothWays) {
  const auto graph = graph_of(kLinears), before = graph_of(kLinears);
  ASSERT_TRUE(equalise_graph(*graph, {{"one", {1, 2, 4}}, {"two", {1, 1, 1, 1, 0.5}}}, {}).ok());
  const auto old = constant_elements(*before, "v");
  const auto now = constant_elements(*graph, "v@equalised@equalised");
  for (size_t i = 0; i < old.size(); ++i) {
    const double row = i / 5 == 0 ? 1 : i / 5 == 1 ? 2 : 4;
    EXPECT_EQ(now[i], old[i] * row * (i % 5 == 4 ? 2 : 1)) << i;
  }
  EXPECT_EQ(constant_elements(*graph, "b@equalised")[4], constant_elements(*before, "b")[4] * 2);
}

TEST(EqualiseGraph, SaysWhyAProductIsFirstOfNoPair) {
  const struct {
    const char* body;
    const char* why;
  } kCases[] = {
      {"%r = aten.hardtanh.default(%a, 0.0, 6.0) %y = aten.linear.default(%r, %v, none)",
       "aten::hardtanh stands behind it"},
      {"%r = aten.gelu.default(%a) %y = aten.linear.default(%r, %v, none)",
       "aten::gelu stands behind it"},
      {"%r = aten.relu.default(%a) %s = aten.linear.default(%r, %v, none) "
       "%y = aten.add.Tensor(%s, %r)",
       "2 nodes read 'r'"},
      {"%s = aten.linear.default(%a, %w, none) %y = aten.linear.default(%s, %v, none)",
       "'w' has other readers"},
      {"%y = aten.add.Tensor(%a, %a)", "2 nodes read 'a'"},
  };
  for (const auto& row : kCases) {
    const auto graph = graph_of(std::string(R"(method @m(%x: f32[2,4]) {
        %w = constant @w : f32[4,4]
        %v = constant @v : f32[4,4]
        %a = aten.linear.default(%x, %w, none) )") +
                                row.body + " return %y }");
    ASSERT_NE(graph, nullptr) << row.body;
    EXPECT_EQ(channel_pairs(*graph, {}).why_not.at("a"), row.why);
    EXPECT_THAT(std::string(equalise_graph(*graph, {{"a", {1, 1, 1, 1}}}, {}).message()),
                HasSubstr(std::string("the record equalises 'a', whose channels cannot be "
                                      "scaled: ") +
                          row.why));
  }
}

TEST(EqualiseGraph, LeavesWhatMethodsShare) {
  Program program;
  program.methods["a"].graph = graph_of(kLinears);
  program.methods["b"].graph = program.methods["a"].graph->clone();
  const SharedConstants shared = shared_constants(program);
  EXPECT_EQ(shared.size(), 4u);
  EXPECT_EQ(channel_pairs(*program.methods["a"].graph, shared).why_not.at("one"),
            "other methods read 'w'");
}

TEST(EqualiseGraph, RefusesFactorsThatDoNotFit) {
  const auto graph = graph_of(kLinears);
  EXPECT_EQ(equalise_graph(*graph, {{"one", {1, 2}}}, {}).message(),
            "the record has 2 factors for 'one', which has 3 channels");
  EXPECT_THAT(std::string(equalise_graph(*graph, {{"active", {1}}}, {}).message()),
              HasSubstr("'active', whose channels cannot be scaled: it is not a product"));
}

// Where a channel is 1000 times as loud as the others, it is divided by about as much; where
// they are alike there is nothing to gain.
TEST(EqualiseGraph, ChoosesFactorsThatGain) {
  const auto graph = graph_of(kBlock);
  const ChannelPair pair = channel_pairs(*graph, {}).pairs[0];
  ChannelStats seen;
  const std::vector<float> even = {1, 0.5, 0.9f, 0.4f, 1, 0.6f, 0.8f, 0.7f};
  seen.add(even.data(), {1, 4, 1, 2}, 1);
  EXPECT_TRUE(choose_factors(pair, seen).empty());
  ChannelStats loud;
  std::vector<float> elements = even;
  elements[4] *= 1000;
  elements[5] *= 1000;
  loud.add(elements.data(), {1, 4, 1, 2}, 1);
  const std::vector<float> factors = choose_factors(pair, loud);
  ASSERT_EQ(factors.size(), 4u);
  EXPECT_GT(factors[2] / factors[0], 500);
  EXPECT_LT(factors[2] / factors[0], 2000);
}

TEST(ChannelStats, TellsChannelsApart) {
  ChannelStats seen;
  const std::vector<float> first = {1, -2, 3, 4, 5, 6}, second = {-7, 0, 0, 0, 0, 9};
  seen.add(first.data(), {1, 3, 2}, 1);
  seen.add(second.data(), {1, 3, 2}, 1);
  EXPECT_EQ(seen.ranges[0].min, -7);
  EXPECT_EQ(seen.ranges[0].max, 1);
  EXPECT_EQ(seen.ranges[2].max, 9);
  EXPECT_EQ(seen.mean_square(1), (9.0 + 16) / 4);
  EXPECT_EQ(seen.divided_by({7, 1, 2}).min, -1);
  EXPECT_EQ(seen.divided_by({7, 1, 2}).max, 4.5);
  std::vector<float> rows = {1, 2, 3, 4};
  divide_channels({1, 2}, {2, 2}, 1, rows.data());
  EXPECT_EQ(rows, (std::vector<float>{1, 1, 3, 2}));
}

}  // namespace
}  // namespace petrel::exir
