// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/diff.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "extension/diff/operator_family.h"
#include "extension/diff/tap.h"
#include "extension/diff/written_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/kernel/kernel.h"

namespace petrel::extension {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TraceValue value(const std::string& op, std::vector<size_t> inputs, std::vector<int64_t> shape,
                 const std::vector<float>& numbers) {
  TraceValue value;
  value.op = op;
  value.family = op == "input" ? op : operator_family(op);
  value.is_input = op == "input";
  value.inputs = std::move(inputs);
  value.array.shape = std::move(shape);
  value.array.data.resize(numbers.size() * sizeof(float));
  std::memcpy(value.array.data.data(), numbers.data(), value.array.data.size());
  return value;
}

TraceValue flat(const std::vector<float>& numbers) {
  return value("aten::add.out", {}, {static_cast<int64_t>(numbers.size())}, numbers);
}

ValueTrace trace(std::vector<TraceValue> values) {
  ValueTrace trace;
  trace.values = std::move(values);
  for (size_t i = 0; i < trace.values.size(); ++i) trace.values[i].place = std::to_string(i);
  trace.outputs = {trace.values.size() - 1};
  return trace;
}

TEST(OperatorFamily, IsOneForAllNames) {
  EXPECT_EQ(operator_family("aten::convolution.out"), operator_family("DepthwiseConv2d"));
  EXPECT_EQ(operator_family("aten::addmm.out"), operator_family("FullyConnected"));
  EXPECT_EQ(operator_family("aten::view_copy.out"), operator_family("StaticReshape"));
  EXPECT_EQ(operator_family("aten::_softmax.out"), operator_family("Softmax"));
  EXPECT_EQ(operator_family("quantized_decomposed::quantize_per_tensor.out"), "convert");
  EXPECT_EQ(operator_family("aten::cumsum.out"), "cumsum");
}

TEST(WrittenMemory, FindsWhatLiesInPartsOfIt) {
  char bytes[64] = {};
  WrittenMemory memory;
  memory.write(bytes, 32, 1);
  memory.write(bytes + 32, 32, 2);
  EXPECT_THAT(memory.find(bytes, 64), ElementsAre(1u, 2u));
  memory.write(bytes + 8, 16, 3);  // in the middle of the first
  EXPECT_THAT(memory.find(bytes, 32), ElementsAre(1u, 3u));
  EXPECT_THAT(memory.find(bytes + 8, 16), ElementsAre(3u));
  EXPECT_THAT(memory.find(bytes + 24, 4), ElementsAre(1u));
  memory.write(bytes, 64, 4);
  EXPECT_THAT(memory.find(bytes, 64), ElementsAre(4u));
  EXPECT_THAT(memory.find(bytes, 0), IsEmpty());
}

TEST(Tap, KeepsNoMoreThanCanBeCompared) {
  float elements[1] = {1};
  int32_t sizes[1] = {1};
  runtime::TensorImpl impl(runtime::ScalarType::Float, 1, sizes, elements);
  runtime::EValue tensor{runtime::Tensor(&impl)};
  runtime::EValue* args[] = {&tensor, &tensor};
  const runtime::Kernel kernel = {"aten::exp.out", nullptr, runtime::writes(1)};
  Tap tap;
  tap.watch({});
  for (size_t i = 1; i < kMaxTracedValues; ++i) tap.record_kernel(kernel, args);
  EXPECT_FALSE(tap.is_full());
  for (size_t i = 0; i < 10; ++i) tap.record_kernel(kernel, args);
  EXPECT_TRUE(tap.is_full());
  EXPECT_EQ(tap.take({}).values.size(), kMaxTracedValues);
  tap.watch({});
  EXPECT_FALSE(tap.is_full());
}

// Each output of a call follows from all of its inputs: a list for each would be their product.
TEST(Tap, KeepsNoMoreInputsThanCanBeCompared) {
  constexpr size_t kInputs = 2000, kOutputs = 1000;
  static_assert(kInputs * kOutputs > kMaxTracedInputs);
  std::vector<float> elements(kInputs + kOutputs);
  int32_t sizes[1] = {1};
  std::vector<runtime::TensorImpl> impls;
  for (float& element : elements) {
    impls.emplace_back(runtime::ScalarType::Float, 1, sizes, &element);
  }
  std::vector<runtime::EValue> values;
  for (runtime::TensorImpl& impl : impls) values.emplace_back(runtime::Tensor(&impl));
  std::vector<runtime::EValue*> args;
  for (runtime::EValue& value : values) args.push_back(&value);
  Tap tap;
  tap.watch({values.begin(), values.begin() + kInputs});
  tap.create_event_block("execute");
  tap.record_delegate("XnnpackBackend", kOutputs, {args.data(), args.size()});
  EXPECT_TRUE(tap.is_full());
  EXPECT_EQ(tap.take({}).values.size(), kInputs + kMaxTracedInputs / kInputs);
}

TEST(Tap, ShowsPartsThatAreRead) {
  float elements[6] = {1, 2, 3, 4, 5, 6};
  int32_t sizes[1] = {4};
  int32_t part_sizes[1] = {2};
  using runtime::EValue;
  using runtime::ScalarType;
  runtime::TensorImpl whole(ScalarType::Float, 1, sizes, elements);
  runtime::TensorImpl part(ScalarType::Float, 1, part_sizes, elements + 2);
  runtime::TensorImpl result(ScalarType::Float, 1, part_sizes, elements + 4);
  EValue values[] = {EValue{runtime::Tensor(&whole)}, EValue{runtime::Tensor(&part)},
                     EValue{runtime::Tensor(&result)}};
  EValue* makes[] = {&values[1], &values[0]};
  EValue* reads[] = {&values[1], &values[2]};
  const runtime::Kernel kernel = {"aten::exp.out", nullptr, runtime::writes(1)};
  Tap tap;
  tap.watch({});
  tap.record_kernel(kernel, makes);
  tap.record_kernel(kernel, reads);
  tap.record_kernel(kernel, reads);
  const ValueTrace trace = tap.take({});
  ASSERT_EQ(trace.values.size(), 4u);
  EXPECT_TRUE(trace.values[1].is_part);
  EXPECT_THAT(trace.values[1].inputs, ElementsAre(0u));
  const Numbers numbers(trace.values[1]);
  ASSERT_EQ(numbers.size(), 2u);
  EXPECT_EQ(numbers[0], 3);
  EXPECT_EQ(numbers[1], 4);
  EXPECT_THAT(trace.values[2].inputs, ElementsAre(1u));
  EXPECT_THAT(trace.values[3].inputs, ElementsAre(1u));  // shown once
}

TEST(CompareValues, HoldsNarrowValuesToTheirNoise) {
  TraceValue narrow = flat({1.002f, 2});
  EXPECT_FALSE(compare_values(flat({1, 2}), narrow, {}).is_within);
  narrow.is_narrow = true;
  EXPECT_TRUE(compare_values(flat({1, 2}), narrow, {}).is_within);
  TraceValue wrong = flat({1.1f, 2});
  wrong.is_narrow = true;
  EXPECT_FALSE(compare_values(flat({1, 2}), wrong, {}).is_within);
}

TEST(CompareValues, MeasuresWhatDiffers) {
  const Difference d = compare_values(flat({3, 4, 0, 0}), flat({3, 4, 0, 0.5f}), {});
  EXPECT_FALSE(d.is_within);
  EXPECT_DOUBLE_EQ(d.max_abs, 0.5);
  EXPECT_NEAR(d.sqnr, 20, 1e-9);  // 25 to 0.25
  EXPECT_EQ(d.beyond, 1u);
  EXPECT_EQ(d.at, 3u);
  EXPECT_EQ(d.second, 0.5);
}

TEST(CompareValues, HoldsElementsToTheirValue) {
  // Far from the element and near to the value as a whole.
  EXPECT_TRUE(compare_values(flat({1000, 0}), flat({1000, 0.05f}), {}).is_within);
  EXPECT_FALSE(compare_values(flat({1000, 0}), flat({1000, 0.1f}), {}).is_within);
  Tolerance exact;
  exact.atol = 0;
  EXPECT_FALSE(compare_values(flat({1000, 0}), flat({1000, 0.05f}), exact).is_within);
}

TEST(CompareValues, TakesNanForNanOnly) {
  EXPECT_TRUE(compare_values(flat({1, kNan}), flat({1, kNan}), {}).is_within);
  const Difference d = compare_values(flat({1, 2}), flat({1, kNan}), {});
  EXPECT_FALSE(d.is_within);
  EXPECT_EQ(d.only_nan, 1u);
  EXPECT_FALSE(compare_values(flat({1, kNan}), flat({kNan, 1}), {}).is_within);
  Tolerance loose;
  loose.min_sqnr = -1000;
  EXPECT_FALSE(compare_values(flat({1, 2}), flat({1, kNan}), loose).is_within);
}

TEST(CompareValues, TakesTheLargestFloatForInfinity) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_TRUE(compare_values(flat({1, -kInfinity}), flat({1, -largest}), {}).is_within);
  EXPECT_FALSE(compare_values(flat({1, -kInfinity}), flat({1, largest}), {}).is_within);
  EXPECT_FALSE(compare_values(flat({1, 5}), flat({1, kInfinity}), {}).is_within);
}

TEST(CompareValues, FindsTheOrderOfElements) {
  const TraceValue channels_first = value("Conv2d", {}, {1, 2, 1, 3}, {1, 2, 3, 10, 20, 30});
  const TraceValue channels_last = value("Conv2d", {}, {1, 1, 3, 2}, {1, 10, 2, 20, 3, 30});
  EXPECT_TRUE(compare_values(channels_first, channels_last, {}).is_within);
  // Both orders have these dims.
  EXPECT_TRUE(compare_values(value("Conv2d", {}, {2, 2}, {1, 2, 3, 4}),
                             value("Conv2d", {}, {2, 2}, {1, 3, 2, 4}), {})
                  .is_within);
  EXPECT_FALSE(compare_values(value("Conv2d", {}, {2, 2}, {1, 2, 3, 4}),
                              value("Conv2d", {}, {2, 2}, {4, 3, 2, 1}), {})
                   .is_within);
}

TEST(CompareValues, TakesIntegersForWhatTheyStandFor) {
  TraceValue integers = flat({0});
  integers.array.type = runtime::ScalarType::Char;
  integers.array.shape = {3};
  integers.array.data = {10, 12, 0xFE};  // the last is -2
  integers.scale = ElementScale{0.5, 10};
  integers.is_rounded = true;
  const Difference d = compare_values(flat({0, 1, -6}), integers, {});
  EXPECT_TRUE(d.is_within);
  EXPECT_EQ(d.max_abs, 0);
}

// A program may have any type; in which order these lie is asked by their shape.
TEST(CompareValues, HasOneNumberForEachElementOfAnyType) {
  for (int number = 0; number < 128; ++number) {
    const auto type = static_cast<runtime::ScalarType>(number);
    if (!runtime::is_valid(type)) continue;
    TraceValue bits = flat({});
    bits.array.type = type;
    bits.array.shape = {3, 3};
    bits.array.data.resize(9 * runtime::element_size(type));
    EXPECT_EQ(Numbers(bits).size(), 9u) << runtime::to_string(type);
    EXPECT_TRUE(compare_values(bits, bits, {}).is_within);
    TraceValue others = bits;
    others.array.data.back() = 1;
    Tolerance exact;
    exact.is_exact = true;
    EXPECT_EQ(compare_values(bits, others, exact).at, 8u) << runtime::to_string(type);
  }
}

// A device does not tell what its integers stand for.
TEST(CompareValues, ComparesIntegersAsTheyAreWhereNoBitMayDiffer) {
  TraceValue integers = flat({0});
  integers.array.type = runtime::ScalarType::Char;
  integers.array.shape = {3};
  integers.array.data = {10, 12, 0xFE};
  TraceValue scaled = integers;
  scaled.scale = ElementScale{0.5, 10};
  Tolerance exact;
  exact.is_exact = true;
  EXPECT_TRUE(compare_values(scaled, integers, exact).is_within);
  integers.array.data[1] = 13;
  const Difference d = compare_values(scaled, integers, exact);
  EXPECT_FALSE(d.is_within);
  EXPECT_EQ(d.second, 13);
}

// A convolution and its clamp beside a convolution that has it, then a product.
TEST(DiffTraces, NamesTheNodeThatMakesTheDifference) {
  const ValueTrace first = trace({value("input", {}, {1, 4}, {1, 2, 3, 4}),
                                  value("aten::convolution.out", {0}, {1, 4, 1, 1}, {-1, 2, -3, 4}),
                                  value("aten::relu.out", {1}, {1, 4, 1, 1}, {0, 2, 0, 4}),
                                  value("aten::addmm.out", {2}, {1, 2}, {5, 6}),
                                  value("aten::sigmoid.out", {3}, {1, 2}, {0.5f, 0.25f})});
  TraceValue fused = value("Conv2d", {0}, {1, 1, 1, 4}, {0, 2, 0, 4});
  fused.has_clamp = true;
  const auto second = [&](float product) {
    return trace({value("input", {}, {1, 4}, {1, 2, 3, 4}), fused,
                  value("FullyConnected", {1}, {1, 2}, {5, product}),
                  value("Sigmoid", {2}, {1, 2}, {0.5f, product == 6 ? 0.25f : 0.75f})});
  };
  const Diff equal = diff_traces(first, second(6), {});
  EXPECT_EQ(equal.how, Matching::How::kAlignment);
  EXPECT_TRUE(equal.is_equal());
  EXPECT_EQ(equal.rows.size(), 3u);
  EXPECT_THAT(equal.unmatched_a, ElementsAre(1u));  // the convolution before its clamp
  EXPECT_THAT(equal.unmatched_b, IsEmpty());

  for (const float wrong : {9.0f, kNan}) {
    const Diff diff = diff_traces(first, second(wrong), {});
    ASSERT_EQ(diff.culprits.size(), 1u);
    EXPECT_EQ(diff.b.values[diff.rows[diff.culprits[0]].b].op, "FullyConnected");
    EXPECT_EQ(diff.differing.size(), 2u);  // the sigmoid follows from it
    EXPECT_THAT(to_text(diff, false), HasSubstr("inputs are alike, the result is not: "
                                                "FullyConnected at 2\n"));
    EXPECT_THAT(to_json(diff), HasSubstr("\"equal\": false"));
    Diff odd = diff;
    odd.other_parameters = {"\xff"};
    EXPECT_THAT(to_json(odd), HasSubstr("\xef\xbf\xbd"));  // a device says anything
  }
}

TEST(DiffTraces, ListsWhatHasNoMatchBeforeTheDifference) {
  const ValueTrace first =
      trace({value("input", {}, {2}, {1, 2}), value("aten::gelu.out", {0}, {2}, {3, 4})});
  const ValueTrace second =
      trace({value("input", {}, {2}, {1, 2}), value("aten::erf.out", {0}, {2}, {7, 9}),
             value("aten::gelu.out", {1}, {2}, {3, 5})});
  const Diff diff = diff_traces(first, second, {});
  ASSERT_EQ(diff.culprits.size(), 1u);
  EXPECT_THAT(diff.rows[diff.culprits[0]].between, ElementsAre(1u));
  EXPECT_THAT(diff.unmatched_b, ElementsAre(1u));
}

// A chain that only the second program has, and many values that follow from its end.
TEST(DiffTraces, NamesTheLastOfManyThatHaveNoMatch) {
  constexpr size_t kChain = 500, kEnds = 500;
  std::vector<TraceValue> first = {value("input", {}, {2}, {1, 2})};
  std::vector<TraceValue> second = first;
  for (size_t i = 0; i < kChain; ++i) {
    second.push_back(value("aten::erf.out", {i}, {3}, {1, 2, 3}));
  }
  for (size_t i = 0; i < kEnds; ++i) {
    const auto x = static_cast<float>(i);
    first.push_back(value("aten::add.out", {0}, {2}, {x, 2}));
    second.push_back(value("aten::add.out", {kChain}, {2}, {x, 3}));
  }
  const Diff diff = diff_traces(trace(std::move(first)), trace(std::move(second)), {});
  EXPECT_GT(diff.culprits.size(), kEnds / 2 + 1);
  size_t all = 0;
  for (const DiffRow& row : diff.rows) {
    if (all < kMostBetweenOfAll) {
      ASSERT_EQ(row.between.size(), kMostBetween);
      EXPECT_EQ(row.between.back(), kChain);
    }
    all += row.between.size();
  }
  EXPECT_EQ(all, kMostBetweenOfAll);
  EXPECT_LT(to_json(diff).size(), 1000 * (kEnds + kMostBetweenOfAll));
}

// x * c + x beside what should be the same: the products are of no one operator.
ValueTrace sum_of(const std::string& operator_before, const std::vector<float>& before,
                  const std::vector<float>& sum) {
  return trace({value("input", {}, {2}, {1, 2}), value(operator_before, {0}, {2}, before),
                value("aten::add.out", {1, 0}, {2}, sum)});
}

TEST(DiffTraces, NamesANodeThatRunsAnotherOperator) {
  const ValueTrace first = sum_of("aten::mul.out", {4, 8}, {5, 10});
  const Diff diff = diff_traces(first, sum_of("aten::div.out", {0.25f, 0.5f}, {1.25f, 2.5f}), {});
  ASSERT_EQ(diff.culprits.size(), 1u);
  EXPECT_EQ(diff.b.values[diff.rows[diff.culprits[0]].b].op, "aten::div.out");
}

TEST(DiffTraces, LeavesAloneWhatComputesOneThingInTwoWays) {
  const ValueTrace first = sum_of("aten::mul.out", {4, 8}, {5, 10});
  const Diff diff = diff_traces(first, sum_of("aten::div.out", {0.25f, 0.5f}, {5, 10}), {});
  EXPECT_TRUE(diff.is_equal());
  EXPECT_THAT(diff.unmatched_b, ElementsAre(1u));
}

// One program has in one step what the other has in several, each with the same numbers.
TEST(DiffTraces, DoesNotTakeOneMoveForAnother) {
  for (const char* move : {"aten::pixel_unshuffle.out", "aten::flip.out", "aten::roll.out"}) {
    const ValueTrace first = trace({value("input", {}, {4}, {1, 2, 3, 4}),
                                    value("aten::gelu.out", {0}, {1, 1, 2, 2}, {1, 2, 3, 4}),
                                    value(move, {1}, {1, 4, 1, 1}, {4, 3, 2, 1}),
                                    value("aten::abs.out", {2}, {1, 4, 1, 1}, {4, 3, 2, 1})});
    const ValueTrace second = trace({value("input", {}, {4}, {1, 2, 3, 4}),
                                     value("Gelu", {0}, {1, 1, 2, 2}, {1, 2, 3, 4}),
                                     value("Concatenate2", {1}, {1, 4, 1, 1}, {1, 2, 3, 4}),
                                     value("StaticTranspose", {2}, {1, 4, 1, 1}, {4, 3, 2, 1}),
                                     value("Abs", {3}, {1, 4, 1, 1}, {4, 3, 2, 1})});
    EXPECT_TRUE(diff_traces(first, second, {}).is_equal()) << move;
  }
}

TEST(DiffTraces, ComparesOutputsWhateverMadeThem) {
  const ValueTrace first =
      trace({value("input", {}, {2}, {1, 2}), value("aten::gelu.out", {0}, {2}, {3, 4})});
  const ValueTrace second =
      trace({value("input", {}, {2}, {1, 2}), value("Abs", {0}, {2}, {-8, 9})});
  const Diff diff = diff_traces(first, second, {});
  ASSERT_EQ(diff.culprits.size(), 1u);
  EXPECT_EQ(diff.b.values[diff.rows[diff.culprits[0]].b].op, "Abs");
}

}  // namespace
}  // namespace petrel::extension
