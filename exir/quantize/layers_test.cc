// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exir/pass/framework/pass_case.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;

constexpr char kModel[] = R"(method @m(%x: f32[1,64]) {
    %w = constant @w : f32[32,64]
    %b = constant @b : f32[32]
    %v = constant @v : f32[64,32]
    %one = aten.linear.default(%x, %w, %b)
    %relu = aten.relu.default(%one)
    %view = aten.view.default(%relu, [1,32])
    %soft = aten._softmax.default(%view, -1, false)
    %two = aten.linear.default(%soft, %v, none)
    return %two })";

std::vector<std::string> texts(const std::vector<Layer>& layers) {
  std::vector<std::string> texts;
  for (const Layer& layer : layers) {
    texts.push_back(layer.name() + ": " + layer.operators() + ", " +
                    std::to_string(layer.float_bytes) + " to " +
                    std::to_string(layer.stored_bytes) +
                    (layer.is_quantised ? "" : ", float: " + layer.float_reason));
  }
  return texts;
}

TEST(Layers, MergeActivationsAndPassOverMoves) {
  const auto graph = graph_of(kModel);
  ASSERT_NE(graph, nullptr);
  // 8192 bytes of weight become 2048 and 32 scales; the bias stays.
  EXPECT_THAT(texts(layers_of(*graph, {})),
              ElementsAre("relu: linear, relu, 8320 to 2304",
                          "soft: _softmax, 0 to 0, float: aten::_softmax is not computed with "
                          "integers",
                          "two: linear, 8192 to 2304"));
}

TEST(Layers, ThatAreKeptFloatAreNotMerged) {
  const auto graph = graph_of(kModel);
  ASSERT_NE(graph, nullptr);
  MethodQuantization method;
  method.keep_float = {{"one", ""}, {"relu", "is loud"}};
  EXPECT_THAT(texts(layers_of(*graph, method)),
              ElementsAre("one: linear, 8320 to 8320, float: is kept float",
                          "relu: relu, 0 to 0, float: is kept float: is loud",
                          "soft: _softmax, 0 to 0, float: aten::_softmax is not computed with "
                          "integers",
                          "two: linear, 8192 to 2304"));
}

TEST(Layers, OfGroupsHaveScalesOfTwoBytes) {
  const auto graph = graph_of(kModel);
  ASSERT_NE(graph, nullptr);
  MethodQuantization method;
  method.scheme = QuantScheme::kDynamicInt4;
  EXPECT_THAT(texts(layers_of(*graph, method)),
              ElementsAre("one: linear, 8320 to 1280",
                          "relu: relu, 0 to 0, float: is not a product with a constant weight",
                          "soft: _softmax, 0 to 0, float: is not a product with a constant weight",
                          "two: linear, 8192 to 1152"));
}

}  // namespace
}  // namespace petrel::exir
