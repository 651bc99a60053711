// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/check_quantisation.h"

#include <limits>
#include <memory>
#include <string>

#include "exir/pass/framework/pass_case.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

constexpr char kBefore[] = R"(method @m() {
    %q = constant @q : i8[2,4]
    %s = constant @s : f32[2]
    )";
constexpr char kWeight[] =
    "%w = quantized_decomposed.dequantize_per_channel.default(%q, %s, none, 0, -128, 127, i8)\n"
    "return %w }";

TEST(CheckQuantisation, TakesPositiveNumbers) {
  const std::string text = std::string(kBefore) + kWeight;
  EXPECT_EQ(after_pass(check_quantisation, text), expected(text));
}

// The second scale of a weight.
class Refused : public ::testing::TestWithParam<float> {};

TEST_P(Refused, NamesTheNodeAndTheElement) {
  const auto graph = graph_of(std::string(kBefore) + kWeight);
  ASSERT_NE(graph, nullptr);
  Value* const scales = graph->find_constant("s");
  auto constant = std::make_shared<Constant>(*scales->constant());
  const float numbers[] = {0.5f, GetParam()};
  constant->fqn = "bad";
  constant->data =
      Blob::copy_of(absl::MakeSpan(reinterpret_cast<const uint8_t*>(numbers), sizeof numbers));
  graph->replace_all_uses(scales, graph->add_constant(constant));
  const auto checked = check_quantisation(*graph, {});
  EXPECT_THAT(std::string(checked.status().message()),
              HasSubstr("node 'w' (quantized_decomposed.dequantize_per_channel.default): element 1 "
                        "of scale 'bad' is "));
}

INSTANTIATE_TEST_SUITE_P(All, Refused,
                         ::testing::Values(0.0f, -0.5f, 1e-40f,
                                           std::numeric_limits<float>::infinity(),
                                           std::numeric_limits<float>::quiet_NaN()));

}  // namespace
}  // namespace petrel::exir
