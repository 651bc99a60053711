// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/shape_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace petrel::backends::xnnpack {
namespace {

using ::testing::HasSubstr;

struct Rule {
  const char* name;
  NodeKind kind;
  std::vector<Dims> inputs;  // the third may be missing: {}
  std::function<void(Node&)> apply;
  Dims output;               // empty: refused
  const char* problem = "";  // with this in the text
};

class ShapeRules : public ::testing::TestWithParam<Rule> {};

TEST_P(ShapeRules, GiveTheOutput) {
  const Rule& rule = GetParam();
  Node node;
  node.kind = rule.kind;
  if (rule.apply) rule.apply(node);
  std::vector<const Dims*> inputs;
  for (const Dims& dims : rule.inputs) {
    const bool is_missing = inputs.size() == 2 && dims.empty();
    inputs.push_back(is_missing ? nullptr : &dims);
  }
  Dims out;
  const Problem problem = infer_output_dims(node, inputs, &out);
  EXPECT_EQ(problem.ok(), !rule.output.empty()) << problem.text();
  if (problem.ok()) {
    EXPECT_EQ(out, rule.output);
  } else {
    EXPECT_THAT(problem.text(), HasSubstr(rule.problem));
  }
}

void square_window(Node& node, uint32_t kernel, uint32_t stride, uint32_t padding,
                   uint32_t dilation = 1) {
  node.window = {padding, padding, padding, padding,  kernel,
                 kernel,  stride,  stride,  dilation, dilation};
}
void channels(Node& node, uint32_t groups, uint32_t in, uint32_t out) {
  node.channels.groups = groups;
  node.channels.group_input_channels = in;
  node.channels.group_output_channels = out;
}

std::function<void(Node&)> with_list(std::vector<uint32_t> list, std::vector<uint32_t> list2 = {}) {
  return [list = std::move(list), list2 = std::move(list2)](Node& n) {
    n.list = list;
    n.list2 = list2;
  };
}

// Windows of 2x2, of which some see nothing but the padding on this side.
std::function<void(Node&)> pooled_with(uint32_t Window::*padding) {
  return [padding](Node& n) {
    square_window(n, 2, 1, 0);
    n.window.*padding = 2;
  };
}

const Rule kRules[] = {
    {"ConvStrideTwo",
     NodeKind::Conv2d,
     {{1, 7, 7, 3}, {8, 3, 3, 3}, {8}},
     [](Node& n) { square_window(n, 3, 2, 1), channels(n, 1, 3, 8); },
     {1, 4, 4, 8}},
    {"ConvWithoutBias",
     NodeKind::Conv2d,
     {{1, 7, 7, 4}, {8, 3, 3, 2}, {}},
     [](Node& n) { square_window(n, 3, 1, 0, 2), channels(n, 2, 2, 4); },
     {1, 3, 3, 8}},
    {"Depthwise",
     NodeKind::DepthwiseConv2d,
     {{1, 5, 5, 4}, {1, 3, 3, 8}, {8}},
     [](Node& n) { square_window(n, 3, 1, 1), channels(n, 4, 1, 2); },
     {1, 5, 5, 8}},
    {"DepthwiseOfTwoChannels",
     NodeKind::DepthwiseConv2d,
     {{1, 5, 5, 4}, {1, 3, 3, 4}, {}},
     [](Node& n) { square_window(n, 3, 1, 1), channels(n, 2, 2, 2); },
     {},
     "group_input_channels is 2, must be 1"},
    {"Transposed",
     NodeKind::ConvTranspose2d,
     {{1, 5, 4, 4}, {3, 3, 3, 4}, {3}},
     [](Node& n) {
       square_window(n, 3, 2, 1), channels(n, 1, 4, 3);
       n.channels.adjustment_height = 1;
     },
     {1, 10, 7, 3}},
    {"TransposedAdjustmentOfAStride",
     NodeKind::ConvTranspose2d,
     {{1, 5, 4, 4}, {3, 3, 3, 4}, {}},
     [](Node& n) {
       square_window(n, 3, 2, 1), channels(n, 1, 4, 3);
       n.channels.adjustment_width = 2;
     },
     {},
     "width: adjustment is 2, must be below the stride 2"},
    // 2 * (2^31 - 1) rows are reached, of which all but the last few are cut off.
    {"TransposedWithPaddingOf32Bits",
     NodeKind::ConvTranspose2d,
     {{1, 1, 1, 4}, {3, 3, 3, 4}, {}},
     [](Node& n) {
       square_window(n, 3, 1, 0), channels(n, 1, 4, 3);
       n.window.dilation_height = 0x80000000;
       n.window.padding_top = n.window.padding_bottom = 0x7FFFFFFF;
     },
     {},
     "height: padding is 4294967294, must be below 2^31"},
    {"TransposedOfNothing",
     NodeKind::ConvTranspose2d,
     {{1, 1, 1, 4}, {3, 3, 3, 4}, {}},
     [](Node& n) { square_window(n, 3, 1, 3), channels(n, 1, 4, 3); },
     {},
     "height: the output has no elements"},
    {"FullyConnected", NodeKind::FullyConnected, {{2, 3, 5}, {4, 5}, {4}}, nullptr, {2, 3, 4}},
    {"FullyConnectedTransposed",
     NodeKind::FullyConnected,
     {{3, 5}, {5, 4}, {}},
     [](Node& n) { n.flags = kTransposeWeights; },
     {3, 4}},
    {"FullyConnectedMismatch",
     NodeKind::FullyConnected,
     {{3, 5}, {5, 4}, {}},
     nullptr,
     {},
     "input is [3,5], its last dim must be 4"},
    {"MaxPool",
     NodeKind::MaxPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 3, 2, 1); },
     {1, 4, 3, 3}},
    {"MaxPoolOfOne",
     NodeKind::MaxPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 1, 1, 0); },
     {},
     "max pooling over one element"},
    {"MaxPoolLargeStride",
     NodeKind::MaxPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 2, 3, 0); },
     {},
     "max pooling with a stride of 3x3 above its kernel 2x2"},
    {"MaxPoolDilated",
     NodeKind::MaxPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 3, 1, 1, 2); },
     {1, 5, 4, 3}},
    // The element in place of padding would be in row 10 of 4.
    {"MaxPoolDilatedBehindTheImage",
     NodeKind::MaxPooling2d,
     {{1, 4, 4, 3}},
     [](Node& n) { square_window(n, 5, 1, 12, 3); },
     {},
     "max pooling of [1,4,4,3] with dilation 3x3 and padding 12,12,12,12"},
    // Between two rows, behind both.
    {"MaxPoolDilatedAroundTheImage",
     NodeKind::MaxPooling2d,
     {{1, 2, 2, 3}},
     [](Node& n) { square_window(n, 2, 1, 1, 3); },
     {},
     "max pooling of [1,2,2,3] with dilation 3x3 and padding 1,1,1,1"},
    {"MaxPoolDilatedInColumnsThatAreShared",
     NodeKind::MaxPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) {
       square_window(n, 3, 1, 0);
       n.window.dilation_height = 2;
       n.window.padding_left = 2;
     },
     {},
     "max pooling of [1,7,6,3] with dilation 2x1 and padding 0,0,0,2"},
    {"PoolOfPadding",
     NodeKind::AvgPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 2, 1, 2); },
     {},
     "padding 2,2,2,2 is not below the kernel 2x2"},
    {"AvgPoolDilated",
     NodeKind::AvgPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 2, 1, 0, 2); },
     {},
     "average pooling with dilation"},
    {"PoolOfTooManyPointers",
     NodeKind::AvgPooling2d,
     {{1, 60000, 60000, 1}},
     [](Node& n) { square_window(n, 100, 1, 0); },
     {},
     "a window of 100x100 at 59901x59901 positions is too large"},
    {"GlobalAverage",
     NodeKind::GlobalAvgPooling2d,
     {{2, 5, 6, 3}},
     [](Node& n) { n.flags = kKeepDims; },
     {2, 1, 1, 3}},
    {"GlobalAverageReduced", NodeKind::GlobalAvgPooling2d, {{2, 5, 6, 3}}, nullptr, {2, 3}},
    {"GlobalAverageOfAMatrix",
     NodeKind::GlobalAvgPooling2d,
     {{2, 5}},
     nullptr,
     {},
     "input is [2,5], must have rank 3 or more"},
    {"Broadcast", NodeKind::Add, {{2, 1, 4}, {3, 1}}, nullptr, {2, 3, 4}},
    {"BroadcastMismatch",
     NodeKind::Add,
     {{2, 3}, {2}},
     nullptr,
     {},
     "inputs [2,3] and [2] do not broadcast"},
    {"BroadcastTooLarge",
     NodeKind::Add,
     {{1 << 20, 1}, {1, 1 << 20}},
     nullptr,
     {},
     "need more than 2^34 bytes"},
    {"Product", NodeKind::BatchMatrixMultiply, {{2, 3, 5}, {1, 5, 4}}, nullptr, {2, 3, 4}},
    {"ProductTransposed",
     NodeKind::BatchMatrixMultiply,
     {{2, 3, 5}, {2, 4, 5}},
     [](Node& n) { n.flags = kTransposeWeights; },
     {2, 3, 4}},
    {"ProductMismatch",
     NodeKind::BatchMatrixMultiply,
     {{2, 3, 5}, {2, 4, 5}},
     nullptr,
     {},
     "inputs [2,3,5] and [2,4,5] cannot be multiplied"},
    {"ProductOfMatrices",
     NodeKind::BatchMatrixMultiply,
     {{3, 5}, {5, 4}},
     nullptr,
     {},
     "must have a rank of at least 3"},
    {"Transpose", NodeKind::StaticTranspose, {{2, 3, 4}}, with_list({2, 0, 1}), {4, 2, 3}},
    {"TransposeTwice",
     NodeKind::StaticTranspose,
     {{2, 3, 4}},
     with_list({2, 0, 2}),
     {},
     "perm [2,0,2] does not permute input [2,3,4]"},
    {"TransposeOut",
     NodeKind::StaticTranspose,
     {{2, 3, 4}},
     with_list({0, 1, 3}),
     {},
     "perm [0,1,3] does not permute input [2,3,4]"},
    {"TransposeShort",
     NodeKind::StaticTranspose,
     {{2, 3, 4}},
     with_list({1, 0}),
     {},
     "perm [1,0] does not permute input [2,3,4]"},
    {"Reshape", NodeKind::StaticReshape, {{2, 3, 4}}, with_list({6, 0}), {6, 4}},
    {"ReshapeTwoUnknown",
     NodeKind::StaticReshape,
     {{2, 3, 4}},
     with_list({0, 0}),
     {},
     "input [2,3,4] cannot be reshaped to [0,0]"},
    {"ReshapeMismatch",
     NodeKind::StaticReshape,
     {{2, 3, 4}},
     with_list({5, 0}),
     {},
     "input [2,3,4] cannot be reshaped to [5,0]"},
    {"ReshapeOverflow",
     NodeKind::StaticReshape,
     {{2, 3, 4}},
     with_list({0x80000000, 0x80000000, 4, 6}),
     {},
     "input [2,3,4] cannot be reshaped to"},
    {"Slice", NodeKind::StaticSlice, {{5, 6}}, with_list({1, 0}, {4, 0}), {4, 6}},
    {"SliceOut",
     NodeKind::StaticSlice,
     {{5, 6}},
     with_list({2, 0}, {4, 6}),
     {},
     "slice of 4 from 2 exceeds dim 0 of input [5,6]"},
    {"SliceWraps",
     NodeKind::StaticSlice,
     {{5, 6}},
     with_list({0xFFFFFFFF, 0}, {2, 6}),
     {},
     "slice of 2 from 4294967295 exceeds dim 0"},
    {"SliceOfRestFromTheMiddle",
     NodeKind::StaticSlice,
     {{5}},
     with_list({1}, {0}),
     {},
     "slice of 5 from 1 exceeds dim 0 of input [5]"},
    {"Pad", NodeKind::StaticConstantPad, {{5, 6}}, with_list({1, 0}, {2, 3}), {8, 9}},
    {"PadOverflow",
     NodeKind::StaticConstantPad,
     {{5}},
     with_list({0x7FFFFFFF}, {0}),
     {},
     "output dim is 2147483652, must be below 2^31"},
    {"Resize",
     NodeKind::StaticResizeBilinear2d,
     {{1, 5, 6, 2}},
     [](Node& n) {
       n.new_height = 7;
       n.new_width = 8;
     },
     {1, 7, 8, 2}},
    {"ResizeFromALongSide",
     NodeKind::StaticResizeBilinear2d,
     {{1, kMaxResizedSide + 1, 1, 1}},
     [](Node& n) {
       n.new_height = 2;
       n.new_width = 1;
     },
     {},
     "resizing from or to a side of"},
    {"ResizeToALongSide",
     NodeKind::StaticResizeBilinear2d,
     {{1, 2, 1, 1}},
     [](Node& n) {
       n.new_height = 1;
       n.new_width = kMaxResizedSide + 1;
     },
     {},
     "resizing from or to a side of"},
    {"ResizeToTheLongestSide",
     NodeKind::StaticResizeBilinear2d,
     {{1, 2, 1, 1}},
     [](Node& n) {
       n.new_height = 1;
       n.new_width = kMaxResizedSide;
     },
     {1, 1, kMaxResizedSide, 1}},
    {"ResizeToTooManyPixels",
     NodeKind::StaticResizeBilinear2d,
     {{1, 2, 1, 1}},
     [](Node& n) {
       n.new_height = 1 << 15;
       n.new_width = (1 << 14) + 1;
     },
     {},
     "resizing to 32768x16385 is too large"},
    {"ResizeToNothing",
     NodeKind::StaticResizeBilinear2d,
     {{1, 5, 6, 2}},
     nullptr,
     {},
     "dim 1 is 0, must be in [1, 2^31)"},
    {"Concatenate",
     NodeKind::Concatenate3,
     {{2, 1}, {2, 2}, {2, 3}},
     [](Node& n) { n.axis = 1; },
     {2, 6}},
    {"ConcatenateMismatch",
     NodeKind::Concatenate2,
     {{2, 1}, {3, 1}},
     [](Node& n) { n.axis = 1; },
     {},
     "inputs [2,1] and [3,1] cannot be joined along axis 1"},
    {"ConcatenateRanks",
     NodeKind::Concatenate2,
     {{2, 1}, {2}},
     [](Node& n) { n.axis = 0; },
     {},
     "inputs [2,1] and [2] cannot be joined along axis 0"},
    {"ConcatenateAxis",
     NodeKind::Concatenate2,
     {{2, 1}, {2, 1}},
     [](Node& n) { n.axis = 2; },
     {},
     "axis is 2, input has rank 2"},
    {"EluOfInfinity",
     NodeKind::Elu,
     {{2}},
     [](Node& n) { n.scalar = std::numeric_limits<float>::infinity(); },
     {},
     "its parameter is not finite"},
    {"TransposedOfNoKernel",
     NodeKind::ConvTranspose2d,
     {{1, 5, 4, 4}, {3, 0, 3, 4}, {}},
     [](Node& n) {
       square_window(n, 3, 1, 0), channels(n, 1, 4, 3);
       n.window.kernel_height = 0;
     },
     {},
     "height: kernel 0, stride 1, dilation 1, must not be 0"},
    {"TransposedWithoutStride",
     NodeKind::ConvTranspose2d,
     {{1, 5, 4, 4}, {3, 3, 3, 4}, {}},
     [](Node& n) {
       square_window(n, 3, 1, 0), channels(n, 1, 4, 3);
       n.window.stride_width = 0;
     },
     {},
     "width: kernel 3, stride 0, dilation 1, must not be 0"},
    {"TransposedWithoutDilation",
     NodeKind::ConvTranspose2d,
     {{1, 5, 4, 4}, {3, 3, 3, 4}, {}},
     [](Node& n) { square_window(n, 3, 1, 0, 0), channels(n, 1, 4, 3); },
     {},
     "height: kernel 3, stride 1, dilation 0, must not be 0"},
    // Of what is empty when it runs.
    {"TransposedOfAnEmptyImage",
     NodeKind::ConvTranspose2d,
     {{1, 0, 4, 4}, {3, 3, 3, 4}, {}},
     [](Node& n) { square_window(n, 3, 1, 0), channels(n, 1, 4, 3); },
     {},
     "height: the output has no elements"},
    {"TransposedOfTooManyPointers",
     NodeKind::ConvTranspose2d,
     {{1, 60000, 60000, 1}, {1, 100, 100, 1}, {}},
     [](Node& n) { square_window(n, 100, 1, 0), channels(n, 1, 1, 1); },
     {},
     "an output of 60099x60099 with a kernel of 100x100 is too large"},
    {"FullyConnectedOfAScalar",
     NodeKind::FullyConnected,
     {{}, {4, 5}, {}},
     nullptr,
     {},
     "input is [], its last dim must be 5"},
    {"PoolOfNoKernel",
     NodeKind::AvgPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 0, 1, 0); },
     {},
     "height: kernel 0, stride 1, dilation 1, must not be 0"},
    {"PoolOfPaddingAbove",
     NodeKind::AvgPooling2d,
     {{1, 7, 6, 3}},
     pooled_with(&Window::padding_top),
     {},
     "is not below the kernel 2x2"},
    {"PoolOfPaddingBelow",
     NodeKind::AvgPooling2d,
     {{1, 7, 6, 3}},
     pooled_with(&Window::padding_bottom),
     {},
     "is not below the kernel 2x2"},
    {"PoolOfPaddingLeft",
     NodeKind::AvgPooling2d,
     {{1, 7, 6, 3}},
     pooled_with(&Window::padding_left),
     {},
     "is not below the kernel 2x2"},
    {"PoolOfPaddingRight",
     NodeKind::AvgPooling2d,
     {{1, 7, 6, 3}},
     pooled_with(&Window::padding_right),
     {},
     "is not below the kernel 2x2"},
    {"ProductOfAMatrixByMatrices",
     NodeKind::BatchMatrixMultiply,
     {{3, 5}, {1, 5, 4}},
     nullptr,
     {},
     "must have a rank of at least 3"},
    {"ProductOfMatricesByAMatrix",
     NodeKind::BatchMatrixMultiply,
     {{1, 3, 5}, {5, 4}},
     nullptr,
     {},
     "must have a rank of at least 3"},
    {"SliceOfMoreOffsets",
     NodeKind::StaticSlice,
     {{5, 6}},
     with_list({1, 0, 0}, {4, 6}),
     {},
     "offsets [1,0,0] and sizes [4,6] do not fit input [5,6]"},
    {"SliceOfMoreSizes",
     NodeKind::StaticSlice,
     {{5, 6}},
     with_list({1, 0}, {4, 6, 1}),
     {},
     "offsets [1,0] and sizes [4,6,1] do not fit input [5,6]"},
    {"SoftmaxOfAScalar", NodeKind::Softmax, {{}}, nullptr, {}, "must have rank 1 or more"},
};

INSTANTIATE_TEST_SUITE_P(All, ShapeRules, ::testing::ValuesIn(kRules),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace petrel::backends::xnnpack
