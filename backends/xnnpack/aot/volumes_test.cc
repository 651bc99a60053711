// SPDX-License-Identifier: Apache-2.0
//
// What convolutions and pools of volumes become.
#include <string>

#include "backends/xnnpack/aot/test_partition.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// A method of one input and one filter, with `body` behind a convolution that makes %c.
std::string convolution(const std::string& input, const std::string& filter,
                        const std::string& arguments, const std::string& body = "",
                        const std::string& result = "%c") {
  return "method @forward(%x: f32[" + input + "]) {\n  %w = constant @w : f32[" + filter +
         "]\n  %b = constant @b : f32[" + filter.substr(0, filter.find(',')) +
         "]\n  %c = aten.convolution.default(%x, %w, %b, " + arguments + ")\n" + body +
         "  return " + result + "\n}";
}

const char kSame[] = "[1,1,1], [1,1,1], [1,1,1], false, [0,0,0], 1";

std::string lowered(const std::string& text) { return lowered_text(text); }

TEST(Volumes, AreImagesToFiltersOfOnePlane) {
  const std::string text = lowered(
      convolution("2,3,4,6,5", "8,3,1,3,3", "[1,1,1], [0,1,1], [1,1,1], false, [0,0,0], 1"));
  EXPECT_EQ(count(text, "Conv2d"), 1u) << text;
  EXPECT_THAT(text, HasSubstr("constant[8,3,3,3] constant[8] -> "));
  EXPECT_THAT(text, HasSubstr("[8,6,5,8]"));
  EXPECT_THAT(text, Not(HasSubstr("StaticSlice")));
}

TEST(Volumes, AreColumnsToFiltersOfOnePixel) {
  const std::string text = lowered(
      convolution("1,3,4,6,5", "8,3,3,1,1", "[1,1,1], [1,0,0], [1,1,1], false, [0,0,0], 1"));
  EXPECT_THAT(text, HasSubstr("constant[8,3,1,3]"));
  EXPECT_THAT(text, HasSubstr("[1,4,30,8]"));
  EXPECT_THAT(text, Not(HasSubstr("StaticSlice")));
}

TEST(Volumes, AreJoinedAsManyChannels) {
  const std::string text = lowered(convolution("1,6,4,6,5", "8,6,3,3,3", kSame));
  EXPECT_EQ(count(text, "Conv2d"), 1u) << text;
  EXPECT_THAT(text, HasSubstr("Concatenate3"));
  EXPECT_THAT(text, HasSubstr("constant[8,3,3,18]"));
}

// Where one plane of the output reads each plane of the filter, no plane is put between others.
TEST(Volumes, AreNotSplitByStridesThatReachBeyondThem) {
  const std::string text = lowered(convolution(
      "1,32,6,6,5", "20,32,3,3,3", "[1000000,1,1], [0,1,1], [2,1,1], false, [0,0,0], 1"));
  EXPECT_EQ(count(text, "StaticConstantPad"), 0u) << text;
  EXPECT_EQ(count(text, "StaticSlice"), 3u) << text;
}

TEST(Volumes, AreSummedWhereChannelsAreMany) {
  const std::string text = lowered(convolution("1,32,4,6,5", "20,32,3,3,3", kSame));
  EXPECT_EQ(count(text, "Conv2d"), 3u) << text;
  EXPECT_EQ(count(text, "Add"), 2u) << text;
  EXPECT_EQ(count(text, "constant[20]"), 1u) << text;
}

TEST(Volumes, AreCutFromOutputsThatAreFew) {
  const std::string text = lowered(convolution("1,32,4,6,5", "4,32,3,3,3", kSame));
  EXPECT_EQ(count(text, "Conv2d"), 1u) << text;
  EXPECT_EQ(count(text, "Add"), 2u) << text;
  EXPECT_THAT(text, HasSubstr("constant[12,3,3,32] constant[12] -> "));
}

TEST(Volumes, LeaveOutPlanesOfTheFilterThatMeetPaddingAlone) {
  const std::string text = lowered(convolution("1,32,1,6,5", "20,32,3,3,3", kSame));
  EXPECT_EQ(count(text, "Conv2d"), 1u) << text;
  EXPECT_EQ(count(text, "Add"), 0u) << text;
}

// Planes as one filter of many: channel c of plane k is where it is multiplied.
TEST(Volumes, PutFiltersInTheOrderOfWhatIsJoined) {
  const auto partition = parse_partition(convolution("1,5,3,3,3", "6,5,2,1,2",
                                                     "[1,1,1], [0,0,0], [1,1,1], false, "
                                                     "[0,0,0], 1"));
  ASSERT_NE(partition, nullptr);
  const LoweredPartition made = lower_partition(*partition);
  for (const Node& node : made.graph.nodes) {
    if (node.kind != NodeKind::Conv2d) continue;
    const std::vector<float> filter = made.constant(node.inputs[1]);
    ASSERT_EQ(filter.size(), 120u);
    // [o, kw, k * 5 + c] is [o, c, k, 0, kw] of the weight.
    for (size_t o = 0; o < 6; ++o) {
      for (size_t w = 0; w < 2; ++w) {
        for (size_t k = 0; k < 2; ++k) {
          for (size_t c = 0; c < 5; ++c) {
            EXPECT_EQ(filter[(o * 2 + w) * 10 + k * 5 + c],
                      static_cast<float>(((o * 5 + c) * 2 + k) * 2 + w));
          }
        }
      }
    }
  }
}

TEST(Volumes, StayChannelsLastBetweenConvolutions) {
  const std::string text = lowered(convolution("1,6,4,6,5", "6,6,3,3,3", kSame, R"(
  %r = aten.relu.default(%c)
  %s = aten.add.Tensor(%r, %x)
  %p = aten.max_pool3d.default(%s, [2,2,2])
  %j = aten.cat.default([%p, %p], 1)
  %v = constant @v : f32[4,12,1,1,1]
  %d = aten.convolution.default(%j, %v, none, [1,1,1], [0,0,0], [1,1,1], false, [0,0,0], 1)
  %m = aten.mean.dim(%d, [2,3,4], true)
  %y = aten.mul.Tensor(%d, %m)
)",
                                               "%y"));
  EXPECT_EQ(count(text, "StaticTranspose"), 2u) << text;
}

TEST(Volumes, AreMovedByPlanesWhereTheyArePlain) {
  const std::string text = lowered(convolution("2,6,4,6,5", "6,6,3,3,3", kSame, R"(
  %j = aten.cat.default([%c, %x], 2)
  %y = aten.relu.default(%j)
)",
                                               "%y"));
  EXPECT_THAT(text, HasSubstr("Concatenate2"));
  EXPECT_THAT(text, HasSubstr("[2,6,8,6,5]"));
}

// Constants are put in order by strides, which have none for volumes and planes together.
TEST(Volumes, ArePlainWhereConstantsTellVolumesAndPlanesApart) {
  for (const char* constant : {"  %n = constant @n : f32[2,6,4,6,5]\n",
                               "  %s = constant @s : i8[2,6,4,6,5]\n  %n = quantized_decomposed."
                               "dequantize_per_tensor.default(%s, 0.5, 0, -128, 127, i8)\n"}) {
    const std::string text =
        lowered(convolution("2,6,4,6,5", "6,6,3,3,3", kSame,
                            constant + std::string("  %y = aten.mul.Tensor(%c, %n)\n"), "%y"));
    EXPECT_THAT(text, HasSubstr("constant[2,6,4,6,5] -> "));
  }
  const std::string text = lowered(convolution("2,6,4,6,5", "6,6,3,3,3", kSame, R"(
  %n = constant @n : f32[2,6,1,6,5]
  %m = constant @m : f32[6,4,1,1]
  %a = aten.mul.Tensor(%c, %m)
  %y = aten.mul.Tensor(%a, %n)
)",
                                               "%y"));
  EXPECT_THAT(text, HasSubstr("constant[2,6,1,6,5] -> "));
}

TEST(Volumes, ArePooledByPlanesAndThenByDepth) {
  const std::string text = lowered(R"(method @forward(%x: f32[1,3,4,6,5]) {
  %y = aten.max_pool3d.default(%x, [2,3,3], [2,3,3])
  return %y
})");
  EXPECT_EQ(count(text, "MaxPooling2d"), 2u) << text;
  EXPECT_THAT(text, HasSubstr("[4,2,1,3]"));
  const std::string planes = lowered(R"(method @forward(%x: f32[1,3,4,6,5]) {
  %y = aten.avg_pool3d.default(%x, [1,3,3], [1,3,3])
  return %y
})");
  EXPECT_EQ(count(planes, "AvgPooling2d"), 1u) << planes;
}

struct Refusal {
  const char* name;
  const char* inputs;
  const char* call;
  const char* reason;
};

class VolumeRefusals : public ::testing::TestWithParam<Refusal> {};

TEST_P(VolumeRefusals, SayWhy) {
  const Refusal& r = GetParam();
  const auto partition = parse_partition(
      std::string("method @forward") + r.inputs + " {\n  %w = constant @w : f32[4,4,2,2,2]\n" +
      "  %l = constant @l : f32[4,4,65,2,2]\n" + "  %y = " + r.call + "\n  return %y\n}");
  ASSERT_NE(partition, nullptr);
  const exir::Support support =
      xnnpack_backend()->partitioner().supports(*partition->nodes().back());
  EXPECT_FALSE(support.supported);
  EXPECT_THAT(support.reason, HasSubstr(r.reason));
}

const Refusal kRefusals[] = {
    {"Padding", "(%x: f32[1,4,1,4,4])",
     "aten.convolution.default(%x, %w, none, [4,1,1], [3,0,0], [5,1,1], false, [0,0,0], 1)",
     "all planes that it reads are padding"},
    {"PlanesOfPadding", "(%x: f32[1,4,2,4,4])",
     "aten.convolution.default(%x, %w, none, [3,1,1], [0,0,0], [1,1,1], true, [0,0,0], 1)",
     "it makes planes of padding alone"},
    {"Stride", "(%x: f32[1,4,2,4,4])",
     "aten.convolution.default(%x, %w, none, [6,1,1], [0,0,0], [1,1,1], true, [0,0,0], 1)",
     "stride is 6 in depth, must be at most 5"},
    {"Taps", "(%x: f32[1,4,70,4,4])",
     "aten.convolution.default(%x, %l, none, [1,1,1], [0,0,0], [1,1,1], false, [0,0,0], 1)",
     "its filter has 65 planes, must have at most 64"},
    {"OutputPadding", "(%x: f32[1,4,2,4,4])",
     "aten.convolution.default(%x, %w, none, [1,1,1], [0,0,0], [2,2,2], true, [1,0,0], 1)",
     "output_padding is 1, must be below the stride 1"},
    {"Depth", "<n: 2..9>(%x: f32[1,4,n,4,4])",
     "aten.convolution.default(%x, %w, none, [1,1,1], [0,0,0], [1,1,1], false, [0,0,0], 1)",
     "its depth varies"},
    {"TwoSizes", "<n: 2..9>(%x: f32[n,4,5,n,4])",
     "aten.convolution.default(%x, %w, none, [1,1,1], [0,0,0], [1,1,1], false, [0,0,0], 1)",
     "more than one of its sizes varies"},
    {"PoolOfTwoSizes", "<n: 2..9>(%x: f32[n,4,5,n,4])", "aten.max_pool3d.default(%x, [2,2,2])",
     "more than one of its sizes varies"},
    {"PoolOfOne", "(%x: f32[1,4,2,4,4])", "aten.avg_pool3d.default(%x, [1,1,1])",
     "kernel_size is 1x1x1"},
    {"PoolOfAnImage", "(%x: f32[4,2,4,4])", "aten.max_pool3d.default(%x, [2,2,2])",
     "input has rank 4, must be 5"},
    {"PoolStride", "(%x: f32[1,4,5,4,4])", "aten.max_pool3d.default(%x, [2,2,2], [3,2,2])",
     "stride is 3, must be at most the kernel size 2"},
};

INSTANTIATE_TEST_SUITE_P(All, VolumeRefusals, ::testing::ValuesIn(kRefusals),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
