// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/visible_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/fold/evaluate.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/lower/lower_to_kernels.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value* numbers(Graph& graph, const std::string& name, const std::vector<double>& elements) {
  auto data = encode_constant(elements, ScalarType::kFloat);
  EXPECT_TRUE(data.ok()) << data.status();
  return add_unique_constant(graph, name, TensorType::contiguous(ScalarType::kFloat, {2, 3}),
                             *std::move(data));
}

std::vector<std::vector<double>> outputs_of(std::unique_ptr<Graph> graph) {
  EXPECT_TRUE(lower_to_kernels(*graph, {}).ok());
  const auto blobs = evaluate(std::move(graph));
  EXPECT_TRUE(blobs.ok()) << blobs.status();
  std::vector<std::vector<double>> outputs;
  for (const Blob& blob : blobs.value_or(std::vector<Blob>())) {
    Constant made;
    made.type = TensorType::contiguous(ScalarType::kFloat, {2, 3});
    made.data = blob;
    outputs.push_back(decode_constant(made).value_or(std::vector<double>()));
  }
  return outputs;
}

// Two rows of scores, each with a place that is shut out.
TEST(VisibleScores, AreThoseThatHaveAPart) {
  auto graph = std::make_unique<Graph>("m");
  Value* const x = numbers(*graph, "x", {1, 2, 3, -1, 0, 1});
  Value* const mask = numbers(*graph, "mask", {0, 0, -1e9, 0, -kInfinity, 0});
  Builder b(*graph, nullptr);
  Value* const sum = b.binary(aten::add_Tensor, x, mask).value();
  Value* const shares = b.call(aten::_softmax, {sum, 1, false}).value();
  EXPECT_FALSE(is_score(*shares));
  std::vector<Value*> shown = {x, mask, sum};
  for (const Value* value : shown) EXPECT_TRUE(is_score(*value)) << value->name();
  VisibleScores visible(*graph);
  for (Value*& value : shown) value = visible.part_of(value).value();
  graph->set_outputs(shown);
  EXPECT_THAT(outputs_of(std::move(graph)),
              ElementsAre(ElementsAre(1, 2, 3, -1, 0, 1), ElementsAre(0, 0, -18, 0, -18, 0),
                          ElementsAre(1, 2, -15, -1, -15, 1)));
}

// Rows that lie far apart all have a part, and rows that are shut out whole none; a mask may be
// moved before it is added.
TEST(VisibleScores, AreThoseOfEachRow) {
  auto graph = std::make_unique<Graph>("m");
  Value* const x = numbers(*graph, "x", {80, 90, 70, -90, -80, -85});
  Value* const mask = numbers(*graph, "mask", {0.5, 0, -1e4, -1e9, -1e9, -1e9});
  Value* const rows = numbers(*graph, "rows", {80, 90, 70, -90, -80, -85});
  Builder b(*graph, nullptr);
  Value* const moved = b.call(aten::view, {mask, Ints{3, 2}}).value();
  Value* const back = b.call(aten::view, {moved, Ints{2, 3}}).value();
  Value* const sum = b.binary(aten::add_Tensor, back, x).value();
  ASSERT_TRUE(b.call(aten::_softmax, {sum, 1, false}).ok());
  ASSERT_TRUE(b.call(aten::_softmax, {rows, -1, false}).ok());
  VisibleScores visible(*graph);
  std::vector<Value*> shown = {x, mask, rows};
  for (const Value* value : shown) EXPECT_TRUE(is_score(*value)) << value->name();
  for (Value*& value : shown) value = visible.part_of(value).value();
  graph->set_outputs(shown);
  EXPECT_THAT(outputs_of(std::move(graph)), ElementsAre(ElementsAre(80, 90, 70, -90, -80, -85),
                                                        ElementsAre(0.5, 0, -16, -16, -16, -16),
                                                        ElementsAre(80, 90, 70, -90, -80, -85)));
}

// As a softmax that is safe asks of its scores: of a sum that no softmax reads, all may count.
TEST(VisibleScores, MayBeAskedForInSums) {
  auto graph = std::make_unique<Graph>("m");
  Value* const x = numbers(*graph, "x", {1, 2, 3, -100, 0, 1});
  Builder b(*graph, nullptr);
  Value* const sum = b.binary(aten::add_Tensor, x, x).value();
  Value* const seen = b.call(aten::ne_Scalar, {sum, -kInfinity}).value();
  Value* const shares = b.call(aten::_softmax, {x, 1, false}).value();
  graph->set_outputs({seen, shares});
  ASSERT_TRUE(is_score(*x));
  VisibleScores visible(*graph);
  graph->set_outputs({visible.part_of(x).value()});
  EXPECT_THAT(outputs_of(std::move(graph)), ElementsAre(ElementsAre(1, 2, 3, -100, 0, 1)));
}

TEST(VisibleScores, AreReadBySoftmaxesAlone) {
  const auto graph = graph_of(R"(method @m(%x: f32[2,3], %y: f32[2,3], %m: f32[3]) {
    %e = aten.expand.default(%m, [2, 3], false)
    %s = aten.add.Tensor(%x, %e, 1)
    %p = aten._softmax.default(%s, 1, false)
    %t = aten.add.Tensor(%y, %p, 1)
    return %t })");
  ASSERT_NE(graph, nullptr);
  std::vector<std::string> found;
  for (const Value* input : graph->inputs()) {
    if (is_score(*input)) found.push_back(input->name());
  }
  EXPECT_THAT(found, ElementsAre("x", "m"));
}

}  // namespace
}  // namespace petrel::exir
