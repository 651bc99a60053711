// SPDX-License-Identifier: Apache-2.0
//
// Expressions against the numbers of format/shape_rules.h, for random nodes and
// inputs whose sizes vary: where the numbers exist, they are those of the expressions.
#include "backends/xnnpack/aot/extent_rules.h"

#include <map>
#include <random>

#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/shape_rules.h"
#include "exir/ops/paths.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using exir::SizeExpression;
using exir::rules::Paths;
using exir::rules::Size;

constexpr int64_t kLargest = 8;

class Nodes {
 public:
  explicit Nodes(unsigned seed) : random_(seed) {}

  uint32_t number(uint32_t low, uint32_t high) { return low + random_() % (high - low + 1); }

  Node node(NodeKind kind, size_t rank) {
    Node node;
    node.kind = kind;
    const NodeKindInfo& info = *find_node_kind(kind);
    for (uint32_t flag : {kTransposeWeights, kKeepDims}) {
      if ((info.allowed_flags & flag) != 0 && number(0, 1) == 1) node.flags |= flag;
    }
    Window& w = node.window;
    w.kernel_height = number(1, 3);
    w.kernel_width = number(1, 3);
    w.padding_top = number(0, w.kernel_height - 1);
    w.padding_right = number(0, w.kernel_width - 1);
    w.stride_height = number(1, w.kernel_height);
    w.stride_width = number(1, w.kernel_width);
    if (info.family == NodeFamily::kConvolution) w.dilation_height = number(1, 2);
    node.channels.groups = number(1, 2);
    node.channels.group_input_channels = number(1, 2);
    node.channels.group_output_channels = number(1, 2);
    node.axis = number(0, static_cast<uint32_t>(rank) - 1);
    node.new_height = number(1, 4);
    node.new_width = number(1, 4);
    const NodeFamily family = info.family;
    for (uint32_t i = 0; i < rank; ++i) {
      node.list.push_back(family == NodeFamily::kTranspose ? i : number(0, 2));
      node.list2.push_back(number(0, 2));
    }
    if (family == NodeFamily::kTranspose) std::shuffle(node.list.begin(), node.list.end(), random_);
    return node;
  }

  // Like `other` where there is one, so that nodes of two inputs take many of them.
  Extents sizes(size_t rank, const Extents* other) {
    Extents sizes;
    for (size_t i = 0; i < rank; ++i) {
      const Size size = number(0, 1) == 0 ? Size(number(1, 3)) : varying();
      sizes.push_back(other != nullptr && number(0, 9) > 0 ? (*other)[i] : size);
    }
    return sizes;
  }

 private:
  Size varying() {
    const Size n = SizeExpression("n", {1, kLargest});
    switch (number(0, 3)) {
      case 0:
        return n;
      case 1:
        return 2 * n;
      case 2:
        return n + 1;
      default:
        return exir::rules::floor_divide(n, 2) + 1;
    }
  }

  std::mt19937 random_;
};

Dims at(const Extents& sizes, int64_t n) {
  Dims dims;
  for (const Size& size : sizes) {
    dims.push_back(static_cast<uint32_t>(
        *size.expression().evaluate([n](const exir::SizeSymbol&) { return std::optional(n); })));
  }
  return dims;
}

// Sizes that were compared and varied.
int compare(const Node& node, const std::vector<Extents>& inputs) {
  absl::StatusOr<Extents> made = absl::UnknownError("");
  const auto paths = Paths::explore([&]() -> absl::StatusOr<std::vector<exir::Type>> {
    std::vector<const Extents*> in;
    for (const Extents& sizes : inputs) in.push_back(&sizes);
    if (find_node_kind(node.kind)->has_bias) in.push_back(nullptr);
    made = infer_extents(node, in);
    return std::vector<exir::Type>();
  });
  EXPECT_EQ(paths.size(), 1u);
  if (!made.ok() || paths[0].is_lost) return 0;
  int compared = 0;
  for (int64_t n = 1; n <= kLargest; ++n) {
    std::vector<Dims> dims;
    for (const Extents& sizes : inputs) dims.push_back(at(sizes, n));
    std::vector<const Dims*> in;
    for (const Dims& one : dims) in.push_back(&one);
    if (find_node_kind(node.kind)->has_bias) in.push_back(nullptr);
    Dims out;
    if (!infer_output_dims(node, in, &out).ok()) continue;
    EXPECT_EQ(out, at(*made, n)) << find_node_kind(node.kind)->name << " of "
                                 << to_string(inputs[0]) << " at " << n;
    compared += out != at(*made, n % kLargest + 1) ? 1 : 0;
  }
  return compared;
}

TEST(ExtentRules, GiveWhatTheRuntimeInfers) {
  constexpr NodeKind kKinds[] = {
      NodeKind::Abs,
      NodeKind::GlobalAvgPooling2d,
      NodeKind::LeakyRelu,
      NodeKind::Elu,
      NodeKind::Add,
      NodeKind::BatchMatrixMultiply,
      NodeKind::Conv2d,
      NodeKind::DepthwiseConv2d,
      NodeKind::ConvTranspose2d,
      NodeKind::MaxPooling2d,
      NodeKind::AvgPooling2d,
      NodeKind::StaticTranspose,
      NodeKind::StaticReshape,
      NodeKind::StaticSlice,
      NodeKind::StaticConstantPad,
      NodeKind::Concatenate3,
      NodeKind::StaticResizeBilinear2d,
      NodeKind::FullyConnected,
  };
  Nodes nodes(1);
  for (const NodeKind kind : kKinds) {
    const NodeKindInfo& info = *find_node_kind(kind);
    int compared = 0;
    for (int i = 0; i < 4000; ++i) {
      const size_t rank = info.family == NodeFamily::kReshape ? nodes.number(1, 3) : 4;
      Node node = nodes.node(kind, rank);
      std::vector<Extents> inputs = {nodes.sizes(rank, nullptr)};
      Channels& c = node.channels;
      if (info.family == NodeFamily::kConvolution) {
        if (kind == NodeKind::DepthwiseConv2d) c.group_input_channels = 1;
        const uint32_t out = c.groups * c.group_output_channels;
        const bool depthwise = kind == NodeKind::DepthwiseConv2d;
        inputs[0][3] = Size(c.groups * c.group_input_channels);
        inputs.push_back({depthwise ? 1 : out, node.window.kernel_height, node.window.kernel_width,
                          depthwise ? out : c.group_input_channels});
      } else if (info.family == NodeFamily::kFullyConnected) {
        inputs.push_back({inputs[0].back(), inputs[0].back()});
      } else {
        while (inputs.size() < info.num_inputs) inputs.push_back(nodes.sizes(rank, &inputs[0]));
      }
      compared += compare(node, inputs);
    }
    EXPECT_GT(compared, 100) << info.name;
  }
}

TEST(ExtentRules, RefuseWhatOnlySomeSizesGive) {
  const Size n = SizeExpression("n", {1, 50});
  const Size m = SizeExpression("m", {1, 50});
  Node node;
  node.kind = NodeKind::Add;
  const Extents a = {n, 4};
  const Extents b = {m, 4};
  EXPECT_EQ(infer_extents(node, {&a, &b}).status().message(),
            "inputs [n,4] and [m,4] are not proven to fit");
  node.kind = NodeKind::StaticReshape;
  node.list = {0, 8};
  EXPECT_EQ(infer_extents(node, {&a}).status().message(), "its shape depends on sizes that vary");
  node.list = {0, 0};
  EXPECT_FALSE(infer_extents(node, {&a}).ok());
  node.list = {4, 0};
  EXPECT_EQ(to_string(*infer_extents(node, {&a})), "[4,n]");
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
