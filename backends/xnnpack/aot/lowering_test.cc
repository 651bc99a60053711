// SPDX-License-Identifier: Apache-2.0
//
// What partitions become, by structure; test/xnnpack runs them.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/test_partition.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/pass/framework/table_limit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kConv[] = ", none, [1,1], [1,1], [1,1], false, [0,0], 1)\n";

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// --- layout ---

TEST(Layout, TransposesACnnAtItsEndsOnly) {
  const std::string text = lowered_text(std::string(R"(method @forward(%x: f32[1,3,8,8]) {
  %w = constant @w : f32[3,3,3,3]
  %c1 = aten.convolution.default(%x, %w)") +
                                        kConv + R"(
  %r1 = aten.hardswish.default(%c1)
  %c2 = aten.convolution.default(%r1, %w)" +
                                        kConv + R"(
  %s = aten.add.Tensor(%c2, %x)
  %p = aten.max_pool2d.default(%s, [2])
  %c3 = aten.convolution.default(%p, %w)" +
                                        kConv + R"(
  return %c3
})");
  EXPECT_EQ(count(text, "StaticTranspose"), 2u) << text;
  EXPECT_EQ(text.find("StaticTranspose #0 -> #1[1,8,8,3]"), 0u) << text;
  EXPECT_EQ(count(text, "StaticReshape"), 0u) << text;
}

TEST(Layout, NeedsNoTransposeBehindAGlobalMean) {
  const std::string text = lowered_text(std::string(R"(method @forward(%x: f32[2,3,8,8]) {
  %w = constant @w : f32[4,3,3,3]
  %l = constant @l : f32[5,4]
  %c = aten.convolution.default(%x, %w)") +
                                        kConv + R"(
  %m = aten.mean.dim(%c, [2,3], true)
  %f = aten.view.default(%m, [2,4])
  %y = aten.linear.default(%f, %l)
  return %y
})");
  EXPECT_EQ(count(text, "StaticTranspose"), 1u) << text;
  EXPECT_THAT(text, HasSubstr("GlobalAvgPooling2d #3 -> #4[2,1,1,4]"));
}

TEST(Layout, ReshapesImagesOfOneChannel) {
  const std::string text = lowered_text(std::string(R"(method @forward(%x: f32[1,1,8,8]) {
  %w = constant @w : f32[4,1,3,3]
  %c = aten.convolution.default(%x, %w)") +
                                        kConv + R"(
  return %c
})");
  EXPECT_THAT(text, HasSubstr("StaticReshape #0 -> #1[1,8,8,1]"));
  EXPECT_THAT(text, HasSubstr("Conv2d #1 constant[4,3,3,1] -> #3[1,8,8,4]"));
}

TEST(Layout, LeavesMatricesAlone) {
  const std::string text = lowered_text(R"(method @forward(%x: f32[2,3,5]) {
  %w = constant @w : f32[4,5]
  %h = aten.linear.default(%x, %w)
  %g = aten.gelu.default(%h)
  %y = aten.add.Tensor(%g, %g)
  return %y
})");
  EXPECT_EQ(text,
            "FullyConnected #0 constant[4,5] -> #2[2,3,4]\n"
            "Gelu #2 -> #3[2,3,4]\n"
            "Add #3 #3 -> #4[2,3,4]\n");
}

TEST(Layout, ShufflesPixelsInTheLayoutTheyHave) {
  const std::string text = lowered_text(std::string(R"(method @forward(%x: f32[1,1,8,8]) {
  %w = constant @w : f32[4,1,3,3]
  %c = aten.convolution.default(%x, %w)") +
                                        kConv + R"(
  %y = aten.pixel_shuffle.default(%c, 2)
  return %y
})");
  EXPECT_EQ(count(text, "StaticTranspose"), 1u) << text;
  EXPECT_THAT(text, HasSubstr("-> #5[1,8,2,8,2,1]"));
}

TEST(Layout, TransposesOnceForManyUsers) {
  const std::string text = lowered_text(std::string(R"(method @forward(%x: f32[1,3,8,8]) {
  %w = constant @w : f32[3,3,3,3]
  %l = constant @l : f32[4,8]
  %a = aten.convolution.default(%x, %w)") +
                                        kConv + R"(
  %b = aten.convolution.default(%x, %w)" +
                                        kConv + R"(
  %c = aten.cat.default([%a, %b, %x], 1)
  %p = aten.max_pool2d.default(%c, [2])
  %y = aten.linear.default(%a, %l)
  %z = aten.linear.default(%a, %l)
  return %p, %y, %z, %a
})");
  // x goes in, a and p come out.
  EXPECT_EQ(count(text, "StaticTranspose"), 3u) << text;
  EXPECT_EQ(count(text, "Copy"), 0u) << text;
}

TEST(Layout, PermutesConstantsThatAreAddedToImages) {
  const auto partition = parse_partition(std::string(R"(method @forward(%x: f32[1,3,2,2]) {
  %w = constant @w : f32[3,3,3,3]
  %k = constant @k : f32[3,1,1]
  %m = constant @m : f32[3,2,2]
  %c = aten.convolution.default(%x, %w)") +
                                         kConv + R"(
  %a = aten.add.Tensor(%c, %k)
  %b = aten.mul.Tensor(%a, %m)
  %y = aten.convolution.default(%b, %w)" +
                                         kConv + R"(
  return %y
})");
  ASSERT_NE(partition, nullptr);
  const LoweredPartition lowered = lower_partition(*partition);
  const auto find = [&](NodeKind kind) -> const Node& {
    return *std::find_if(lowered.graph.nodes.begin(), lowered.graph.nodes.end(),
                         [kind](const Node& node) { return node.kind == kind; });
  };
  const uint32_t k = find(NodeKind::Add).inputs[1];
  EXPECT_EQ(lowered.graph.values[k].dims, (Dims{1, 1, 1, 3}));
  EXPECT_EQ(lowered.constant(k), (std::vector<float>{0, 1, 2}));
  const uint32_t m = find(NodeKind::Multiply).inputs[1];
  EXPECT_EQ(lowered.graph.values[m].dims, (Dims{1, 2, 2, 3}));
  EXPECT_EQ(lowered.constant(m), (std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
}

// --- activations ---

TEST(Activations, AreMergedIntoWhatTheyFollowOnce) {
  EXPECT_EQ(lowered_text(R"(method @forward(%x: f32[2,5]) {
  %w = constant @w : f32[4,5]
  %h = aten.linear.default(%x, %w)
  %y = aten.hardtanh.default(%h, 0, 6)
  return %y
})"),
            "FullyConnected #0 constant[4,5] -> #2[2,4] [0,6]\n");
  EXPECT_EQ(lowered_text(R"(method @forward(%x: f32[2,5]) {
  %a = aten.add.Tensor(%x, %x)
  %r = aten.relu.default(%a)
  %y = aten.clamp.default(%r, none, 3)
  return %y
})"),
            "Add #0 #0 -> #1[2,5] [0,inf]\n"
            "Clamp #1 -> #2[2,5] [-inf,3]\n");
}

TEST(Activations, StayWhereTheProducerIsUsedElsewhere) {
  const char* const kExpected =
      "Add #0 #0 -> #1[2,5]\n"
      "Clamp #1 -> #2[2,5] [0,inf]\n";
  EXPECT_EQ(lowered_text(R"(method @forward(%x: f32[2,5]) {
  %a = aten.add.Tensor(%x, %x)
  %r = aten.relu.default(%a)
  return %a, %r
})"),
            kExpected);
  EXPECT_EQ(lowered_text(R"(method @forward(%x: f32[2,5]) {
  %e = aten.exp.default(%x)
  %r = aten.relu.default(%e)
  return %r
})"),
            "Exp #0 -> #1[2,5]\n"
            "Clamp #1 -> #2[2,5] [0,inf]\n");
}

// --- arguments of the delegate ---

TEST(Externals, AreTheInputsThenTheOutputs) {
  const auto partition = parse_partition(R"(method @forward(%a: f32[2], %b: f32[2]) {
  %s = aten.sub.Tensor(%b, %a)
  %t = aten.mul.Tensor(%s, %a)
  return %t, %s
})");
  ASSERT_NE(partition, nullptr);
  const Graph graph = lower_partition(*partition).graph;
  EXPECT_EQ(graph.num_externs, 4u);
  EXPECT_EQ(graph.values[0].external_id, 0u);
  EXPECT_EQ(graph.values[1].external_id, 1u);
  EXPECT_EQ(graph.nodes[0].inputs, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(graph.values[graph.nodes[0].outputs[0]].external_id, 3u);
  EXPECT_EQ(graph.values[graph.nodes[1].outputs[0]].external_id, 2u);
}

TEST(Externals, AreCopiedWhenTheyPassThroughOrLeaveTwice) {
  EXPECT_EQ(lowered_text(R"(method @forward(%x: f32[2,5]) {
  %w = constant @w : f32[3]
  %s = constant @s : f32[]
  %a = aten.neg.default(%x)
  return %a, %x, %a, %w, %s
})"),
            "Negate #0 -> #1[2,5]\n"
            "Copy #0 -> #2[2,5]\n"
            "Copy #1 -> #3[2,5]\n"
            "Copy constant[3] -> #5[3]\n"
            "StaticReshape constant[1] -> #7[]\n");
}

// --- filters ---

struct Filter {
  const char* name;
  const char* type;
  const char* arguments;  // behind the weight
  const char* input;
  NodeKind kind;
  Dims dims;
  std::vector<float> data;
};

class Filters : public ::testing::TestWithParam<Filter> {};

TEST_P(Filters, LieAsXnnpackReadsThem) {
  const Filter& f = GetParam();
  const auto partition = parse_partition(
      std::string("method @forward(%x: ") + f.input + ") {\n" + "  %w = constant @w : " + f.type +
      "\n" + "  %y = aten.convolution.default(%x, %w, none, " + f.arguments + ")\n  return %y\n}");
  ASSERT_NE(partition, nullptr);
  const LoweredPartition lowered = lower_partition(*partition);
  const auto conv = std::find_if(lowered.graph.nodes.begin(), lowered.graph.nodes.end(),
                                 [&f](const Node& node) { return node.kind == f.kind; });
  ASSERT_NE(conv, lowered.graph.nodes.end()) << to_text(lowered.graph);
  EXPECT_EQ(lowered.graph.values[conv->inputs[1]].dims, f.dims);
  EXPECT_EQ(lowered.constant(conv->inputs[1]), f.data);
}

INSTANTIATE_TEST_SUITE_P(
    All, Filters,
    ::testing::Values(Filter{"Ordinary",
                             "f32[2,2,1,2]",
                             "[1,1], [0,0], [1,1], false, [0,0], 1",
                             "f32[1,2,3,3]",
                             NodeKind::Conv2d,
                             {2, 1, 2, 2},
                             {0, 2, 1, 3, 4, 6, 5, 7}},
                      Filter{"Grouped",
                             "f32[2,1,1,2]",
                             "[1,1], [0,0], [1,1], false, [0,0], 1",
                             "f32[1,1,3,3]",
                             NodeKind::Conv2d,
                             {2, 1, 2, 1},
                             {0, 1, 2, 3}},
                      Filter{"Depthwise",
                             "f32[2,1,2,2]",
                             "[1,1], [0,0], [1,1], false, [0,0], 2",
                             "f32[1,2,3,3]",
                             NodeKind::DepthwiseConv2d,
                             {1, 2, 2, 2},
                             {0, 4, 1, 5, 2, 6, 3, 7}},
                      // [I=2, O=1, 1, 3] -> [O, 1, 3, I]
                      Filter{"Transposed",
                             "f32[2,1,1,3]",
                             "[1,1], [0,0], [1,1], true, [0,0], 1",
                             "f32[1,2,3,3]",
                             NodeKind::ConvTranspose2d,
                             {1, 1, 3, 2},
                             {0, 3, 1, 4, 2, 5}},
                      // Two groups of [I=1, O=2, 1, 2].
                      Filter{"TransposedGrouped",
                             "f32[2,2,1,2]",
                             "[1,1], [0,0], [1,1], true, [0,0], 2",
                             "f32[1,2,3,3]",
                             NodeKind::ConvTranspose2d,
                             {4, 1, 2, 1},
                             {0, 1, 2, 3, 4, 5, 6, 7}},
                      Filter{"OneDimensional",
                             "f32[2,2,2]",
                             "[1], [0], [1], false, [0], 1",
                             "f32[1,2,3]",
                             NodeKind::Conv2d,
                             {2, 1, 2, 2},
                             {0, 2, 1, 3, 4, 6, 5, 7}},
                      // The data already lies as it must: [O,I,1,2] in channels-last order.
                      Filter{"ChannelsLast",
                             "f32[2,2,1,2]{0,2,3,1}",
                             "[1,1], [0,0], [1,1], false, [0,0], 1",
                             "f32[1,2,3,3]",
                             NodeKind::Conv2d,
                             {2, 1, 2, 2},
                             {0, 1, 2, 3, 4, 5, 6, 7}}),
    [](const auto& info) { return info.param.name; });

// --- sharing ---

TEST(Weights, AreSharedByAllPartitionsOfAllMethodsUnderTheDigestOfTheirBytes) {
  // "w" and "v" hold the same numbers; so do "b" and "c".
  const auto prefill = parse_partition(R"(method @prefill(%x: f32[9,4]) {
  %w = constant @w : f32[3,4]
  %b = constant @b : f32[3]
  %y = aten.linear.default(%x, %w, %b)
  return %y
})");
  const auto decode = parse_partition(R"(method @decode(%x: f32[1,4]) {
  %v = constant @v : f32[3,4]
  %c = constant @c : f32[3]
  %y = aten.linear.default(%x, %v, %c)
  %z = aten.add.Tensor(%y, %c)
  return %z
})");
  ASSERT_TRUE(prefill && decode);
  exir::Subprogram first, second;
  first.method = "prefill";
  first.graph = prefill.get();
  second.method = "decode";
  second.graph = decode.get();
  exir::RoutedBlobStore store;
  auto results =
      xnnpack_backend()->preprocess_all({{"decode", {second}}, {"prefill", {first}}}, store);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)["decode"].size(), 1u);
  EXPECT_EQ((*results)["prefill"].size(), 1u);
  const auto& destination = store.blobs().destinations().at("");
  // "c" has two: a product packs it, and a sum reads it.
  ASSERT_EQ(destination.entries.size(), 3u);
  ASSERT_EQ(destination.buffers.size(), 2u);
  for (const auto& entry : destination.entries) {
    const auto& buffer = destination.buffers[entry.buffer];
    EXPECT_THAT(entry.key, HasSubstr(exir::to_hex(exir::sha256_of(buffer.blob.bytes().span()))));
    EXPECT_EQ(buffer.alignment, 16u);
  }
}

TEST(Lowering, IsTheSameEveryTime) {
  const auto partition = parse_partition(std::string(R"(method @forward(%x: f32[1,3,8,8]) {
  %w = constant @w : f32[3,3,3,3]
  %a = aten.convolution.default(%x, %w)") +
                                         kConv + R"(
  %b = aten.relu.default(%a)
  %y = aten.add.Tensor(%b, %x)
  return %y, %b
})");
  ASSERT_NE(partition, nullptr);
  EXPECT_TRUE(lower_partition(*partition)
                  .result.payload.equals(lower_partition(*partition).result.payload));
}

size_t steps_in_half(const Graph& graph) {
  return static_cast<size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
        return node.kind != NodeKind::Convert &&
               graph.values[node.outputs[0]].datatype == Datatype::FP16;
      }));
}

// XNNPACK's of half are some units in the last place off.
TEST(Lowering, ComputesExponentialsInFloatsWhereTheyAreOfHalf) {
  for (const char* call :
       {"aten._softmax.default(%x, 1, false)", "aten.elu.default(%x)", "aten.silu.default(%x)"}) {
    const auto partition = parse_partition(
        absl::StrCat("method @forward(%x: f16[2,5]) {\n%y = ", call, "\nreturn %y\n}"));
    ASSERT_NE(partition, nullptr);
    EXPECT_EQ(steps_in_half(lower_partition(*partition).graph), 0u) << call;
  }
  // Of attention only the softmax.
  const auto partition = parse_partition(R"(method @forward(%q: f16[1,2,3,4], %k: f16[1,2,5,4]) {
  %y = aten.scaled_dot_product_attention.default(%q, %k, %k)
  return %y
})");
  ASSERT_NE(partition, nullptr);
  const Graph attention = lower_partition(*partition).graph;
  for (const Node& node : attention.nodes) {
    if (node.kind == NodeKind::Convert) continue;
    const bool is_half = attention.values[node.outputs[0]].datatype == Datatype::FP16;
    EXPECT_EQ(is_half, node.kind != NodeKind::Softmax);
  }
}

// Each call of a few bytes becomes as many numbers as it has places.
TEST(Lowering, CountsMasksOfCausalAttentionAsTables) {
  const auto partition = parse_partition(R"(method @forward(%q: f32[1,2,30,4]) {
  %y = aten.scaled_dot_product_attention.default(%q, %q, %q, none, 0.0, true)
  return %y
})");
  ASSERT_NE(partition, nullptr);
  exir::Subprogram subprogram;
  subprogram.method = "forward";
  subprogram.graph = partition.get();
  for (const int64_t left : {900, 899}) {
    const exir::TableScope scope;
    int64_t taken = exir::kMostTablesElements - left;
    for (; taken > exir::kMostTableElements; taken -= exir::kMostTableElements) {
      ASSERT_TRUE(exir::check_table({exir::kMostTableElements}).ok());
    }
    ASSERT_TRUE(exir::check_table({taken}).ok());
    exir::RoutedBlobStore store;
    const auto lowered = xnnpack_backend()->preprocess_all({{"forward", {subprogram}}}, store);
    EXPECT_EQ(lowered.ok(), left == 900) << lowered.status();
    if (left == 900) continue;
    EXPECT_EQ(lowered.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(lowered.status().message()), HasSubstr("[30,30]"));
  }
}

// Each step would round to f16; eager PyTorch rounds once.
TEST(Lowering, ComputesOperatorsOfSeveralNodesInFloatsWhereTheyAreOfHalf) {
  const auto partition = parse_partition(R"(method @forward(%x: f16[2,5]) {
  %g = aten.gelu.default(%x, approximate="tanh")
  %y = aten.rsqrt.default(%g)
  return %y
})");
  ASSERT_NE(partition, nullptr);
  const LoweredPartition lowered = lower_partition(*partition);
  const std::string text = to_text(lowered.graph);
  EXPECT_EQ(count(text, "Convert"), 4u) << text;
  for (const Node& node : lowered.graph.nodes) {
    const auto is_half = [&](uint32_t id) {
      return lowered.graph.values[id].datatype == Datatype::FP16;
    };
    EXPECT_EQ(is_half(node.inputs[0]) != is_half(node.outputs[0]), node.kind == NodeKind::Convert)
        << text;
    EXPECT_FALSE(node.kind != NodeKind::Convert && is_half(node.outputs[0])) << text;
  }
}

TEST(Lowering, KeepsLevelsThatAreDequantisedAndQuantisedAgain) {
  const std::string levels = ", 0.5, 3, -128, 127, i8)\n";
  const std::string quantize = " = quantized_decomposed.quantize_per_tensor.default(%";
  const std::string dequantize = " = quantized_decomposed.dequantize_per_tensor.default(%";
  EXPECT_EQ(
      lowered_text("method @forward(%x: f32[2,5]) {\n%a" + quantize + "x" + levels + "%b" +
                   dequantize + "a" + levels + "%c" + quantize + "b" + levels + "%d" + dequantize +
                   "c" + levels + "%y = aten.hardswish.default(%d)\n%q" + quantize + "y" + levels +
                   "%r" + dequantize + "q" + levels + "return %r }"),
      "Convert #0 -> #1[2,5]\n"
      "Hardswish #1 -> #2[2,5]\n"
      "Convert #2 -> #3[2,5]\n");
}

TEST(Lowering, NamesEveryNodeByTheValueItComputes) {
  const auto partition = parse_partition(R"(method @forward(%x: f32[2,5]) {
  %h = aten.silu.default(%x)
  %a = aten.add.Tensor(%h, %x)
  %y = aten.relu.default(%a)
  return %y
})");
  ASSERT_NE(partition, nullptr);
  const LoweredPartition lowered = lower_partition(*partition);
  std::vector<std::string> names;
  for (const Node& node : lowered.graph.nodes) {
    names.push_back(lowered.result.debug_handles.at(node.debug_handle));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"h", "h", "y"}));
}

// A bound is not the size where it varies; lowerings read with exir/ops/read_sizes.h.
TEST(Lowering, ReadsNoBoundAsASize) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("backends/xnnpack/aot")) {
    if (entry.path().string().find("_ops.cc") == std::string::npos) continue;
    ++files;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      EXPECT_THAT(line, Not(ContainsRegex("tensor\\(\\)\\.(sizes|numel|nbytes)"))) << entry.path();
    }
  }
  EXPECT_GE(files, 6);
}

TEST(Lowering, RefusesWhatThePartitionerWouldNotHaveTaken) {
  const auto partition = parse_partition(R"(method @forward(%x: f32[2,5]) {
  %y = aten.pow.Tensor_Scalar(%x, 4)
  return %y
})");
  ASSERT_NE(partition, nullptr);
  exir::Subprogram subprogram;
  subprogram.method = "forward";
  subprogram.graph = partition.get();
  exir::RoutedBlobStore store;
  const auto results = xnnpack_backend()->preprocess_all({{"forward", {subprogram}}}, store);
  EXPECT_EQ(results.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(results.status().message()),
              HasSubstr("method 'forward', partition 0: node 'y' (aten.pow.Tensor_Scalar)"));
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
