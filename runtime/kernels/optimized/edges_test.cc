// SPDX-License-Identifier: Apache-2.0
//
// Calls at the edges of what numbers hold, of both sets of kernels: steps of tensors
// without elements, numbers of groups, rows that are mostly gaps.
#include <cmath>
#include <cstdint>
#include <ctime>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/kernels/optimized/edges.h"

namespace petrel::runtime {
namespace {

class Convolutions : public Edges {
 protected:
  // A transposed convolution of one dim.
  Error convolve(EValue input, EValue weight, int64_t stride, int64_t groups, EValue out) {
    return call("aten::convolution.out", {input, weight, EValue(), ints({stride}), ints({0}),
                                          ints({1}), EValue(true), ints({0}), EValue(groups), out});
  }
};

// The steps of the outermost dims are 2^62 elements, of eight bytes each.
TEST_P(Edges, CopiesOfNothingHaveNoSteps) {
  Held& from = tensor({2, kHuge, kHuge, 0}, ScalarType::Long);
  Held& to = tensor({2, kHuge, kHuge, 0}, ScalarType::Long);
  EXPECT_EQ(call("aten::copy_", {to, from, EValue(false)}), Error::Ok);
}

TEST_P(Edges, DiagonalsOfNothingHaveNoSteps) {
  Held& from = tensor({1, 0, kHuge, kHuge, 2});
  EXPECT_EQ(call("aten::diagonal_copy.out",
                 {from, EValue(0), EValue(0), EValue(1), tensor({kHuge, kHuge, 2, 0})}),
            Error::Ok);
}

// Of no channels any number of groups is a divisor; four times this one is 4 in 64 bits.
TEST_P(Convolutions, RefuseNumbersOfGroupsBeyondThoseOfChannels) {
  EXPECT_EQ(
      convolve(tensor({1, 0, 4}), tensor({0, 4, 1}), 1, (int64_t{1} << 62) + 1, tensor({1, 4, 4})),
      Error::InvalidArgument);
}

// One column of 30,000 would be all of a row, and is not paid for.
TEST_P(Convolutions, OfStridesBeyondTheOutputTakeNoTime) {
  constexpr int32_t kRows = 300'000;
  Held& out = tensor({kRows, 1, 1});
  const std::clock_t start = std::clock();
  EXPECT_EQ(convolve(tensor({kRows, 1, 1}).fill(1), tensor({1, 1, 1}).fill(1), 30'000, 1, out),
            Error::Ok);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(out.get<float>(), std::vector<float>(kRows, 1.0f));
  EXPECT_LT(seconds, 0.5);
}

TEST_P(Convolutions, OfStridesWithinTheOutputAreRight) {
  Held& out = tensor({1, 1, 8});
  EXPECT_EQ(convolve(tensor({1, 2, 3}).fill(1), tensor({2, 1, 2}).fill(1), 3, 1, out), Error::Ok);
  EXPECT_EQ(out.get<float>(), (std::vector<float>{2, 2, 0, 2, 2, 0, 2, 2}));
}

class Right : public Edges {};

// The mask has half the bytes of floats: places 0 and -infinity.
TEST_P(Right, AttentionWithAMaskOfAnotherType) {
  Held& mask = tensor({1, 2}, ScalarType::Half).set<uint16_t>({0, 0xfc00});
  Held& out = tensor({1, 1, 1, 1});
  ASSERT_EQ(call("llama::custom_sdpa.out", {tensor({1, 1, 1, 1}), tensor({1, 2, 1, 1}),
                                            tensor({1, 2, 1, 1}).set<float>({3, 5}), EValue(1),
                                            mask, EValue(0.0), EValue(false), EValue(), out}),
            Error::Ok);
  EXPECT_EQ(out.get<float>(), std::vector<float>({3}));
}

// Written for the smallest, the memory of the result does not hold the largest any more.
TEST_P(Right, ClampsInTheMemoryOfABound) {
  for (const bool is_max : {false, true}) {
    Held& out = tensor({2}).fill(3);
    Held& other = tensor({2}).fill(is_max ? 6.0f : 2.0f);
    const EValue min = is_max ? EValue(other) : EValue(out),
                 max = is_max ? EValue(out) : EValue(other);
    ASSERT_EQ(call("aten::clamp.Tensor_out", {tensor({2}).fill(5), min, max, out}), Error::Ok);
    EXPECT_EQ(out.get<float>(), std::vector<float>(2, is_max ? 3.0f : 2.0f));
  }
}

TEST_P(Right, PowersOfDoubles) {
  Held& out = tensor({1}, ScalarType::Double);
  for (const double exponent : {2.0, 3.0, 4.0}) {
    Held& two = tensor({1}, ScalarType::Double).set<double>({2});
    ASSERT_EQ(call("aten::pow.Tensor_Scalar_out", {two, EValue(exponent), out}), Error::Ok);
    EXPECT_EQ(out.get<double>(), std::vector<double>({std::exp2(exponent)}));
  }
}

// As eager, which takes roots: the power of -inf would be infinite, that of -0.0 have no sign.
TEST_P(Right, PowersOfHalves) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const ScalarType kind : {ScalarType::Float, ScalarType::Double}) {
    const auto power = [&](double exponent) {
      Held& floats = tensor({5}).set<float>({-inf, -1, -0.0f, 4, inf});
      Held& base = tensor({5}, kind);
      Held& out = tensor({5}, kind);
      Held& result = tensor({5});
      EXPECT_EQ(call("aten::_to_copy.out", {floats, EValue(), EValue(), base}), Error::Ok);
      EXPECT_EQ(call("aten::pow.Tensor_Scalar_out", {base, EValue(exponent), out}), Error::Ok);
      EXPECT_EQ(call("aten::_to_copy.out", {out, EValue(), EValue(), result}), Error::Ok);
      return result.get<float>();
    };
    const std::vector<float> roots = power(0.5), inverse = power(-0.5);
    EXPECT_TRUE(std::isnan(roots[0]) && std::isnan(roots[1]) && std::signbit(roots[2]));
    EXPECT_EQ(std::vector<float>(roots.begin() + 2, roots.end()), std::vector<float>({0, 2, inf}));
    EXPECT_TRUE(std::isnan(inverse[0]) && std::isnan(inverse[1]));
    EXPECT_EQ(std::vector<float>(inverse.begin() + 2, inverse.end()),
              std::vector<float>({-inf, 0.5f, 0}));
  }
}

// Where nothing is written, an index may point anywhere.
TEST_P(Right, IndicesOfNoElements) {
  Held& index = tensor({1, 2}, ScalarType::Long).set<int64_t>({7, -9});
  EXPECT_EQ(call("aten::index_put.out", {tensor({1, 0}), optional_list({index}), tensor({2, 1}),
                                         EValue(false), tensor({1, 0})}),
            Error::Ok);
}

// A score that a mask of floats hides counts as little as one that a mask of truths hides.
TEST_P(Right, HiddenScoresThatAreNoNumbers) {
  const float inf = std::numeric_limits<float>::infinity();
  Held& query = tensor({1, 1, 1, 1}).fill(1);
  Held& key = tensor({1, 1, 2, 1}).set<float>({inf, 1});
  Held& value = tensor({1, 1, 2, 1}).set<float>({5, 6});
  for (Held* mask : {&tensor({1, 2}).set<float>({-inf, 0}),
                     &tensor({1, 2}, ScalarType::Bool).set<uint8_t>({0, 1})}) {
    Held& out = tensor({1, 1, 1, 1});
    ASSERT_EQ(
        call("petrel::attention.out", {query, key, value, *mask, EValue(false), EValue(1.0), out}),
        Error::Ok);
    EXPECT_EQ(out.get<float>(), std::vector<float>({6}));
  }
}

// As eager: the place where the window would begin, which the plane does not have.
TEST_P(Right, PlacesOfWindowsOfPaddingAlone) {
  Held& out = tensor({1, 1, 3});
  Held& places = tensor({1, 1, 3}, ScalarType::Long);
  ASSERT_EQ(call("aten::max_pool2d_with_indices.out",
                 {tensor({1, 1, 5}).fill(1), ints({2, 2}), ints({2, 2}), ints({1, 1}), ints({2, 2}),
                  EValue(false), out, places}),
            Error::Ok);
  EXPECT_EQ(out.get<float>(), std::vector<float>(3, -std::numeric_limits<float>::infinity()));
  EXPECT_EQ(places.get<int64_t>(), std::vector<int64_t>({6, 6, 8}));
}

// Rows of the mask that memory has side by side.
TEST_P(Right, MasksInAnotherOrder) {
  const float inf = std::numeric_limits<float>::infinity();
  Held& query = tensor({1, 1, 2, 1}).fill(0);
  Held& value = tensor({1, 1, 2, 1}).set<float>({5, 6});
  const std::pair<Held*, std::vector<float>> calls[] = {
      {&turned({2, 2}).set<float>({0, -inf, 0, 0}), {5.5, 6}},
      {&turned({2, 2}, ScalarType::Bool).set<uint8_t>({1, 0, 0, 1}), {5, 6}},
      {&turned({2, 2}, ScalarType::Bool).set<uint8_t>({1, 0, 1, 1}), {5.5, 6}}};
  for (const auto& [mask, expected] : calls) {
    Held& out = tensor({1, 1, 2, 1});
    ASSERT_EQ(call("petrel::attention.out",
                   {query, query, value, *mask, EValue(false), EValue(1.0), out}),
              Error::Ok);
    EXPECT_EQ(out.get<float>(), expected);
  }
}

// As eager, which makes doubles of the factors first: their product is no float.
TEST_P(Right, ProductsOfFloatsInDoubles) {
  Held& all = tensor({}, ScalarType::Double);
  Held& along = tensor({1}, ScalarType::Double);
  const EValue floats = tensor({1, 3}).set<float>({1e30f, 1e30f, 3}),
               real = type(ScalarType::Double);
  ASSERT_EQ(call("aten::prod.out", {floats, real, all}), Error::Ok);
  ASSERT_EQ(call("aten::prod.int_out", {floats, EValue(1), EValue(false), real, along}), Error::Ok);
  EXPECT_EQ(all.get<double>(), std::vector<double>({3.000000090284798e+60}));
  EXPECT_EQ(along.get<double>(), all.get<double>());
}

// 2^24 + 1 is no float.
TEST_P(Right, SumsOfDoublesThatAreNoFloats) {
  const EValue whole = tensor({1}, ScalarType::Double).set<double>({16777217.0});
  const EValue real = tensor({1}).fill(-16777216.0f);
  for (const auto& [a, b] : {std::pair(whole, real), std::pair(real, whole)}) {
    Held& out = tensor({1});
    ASSERT_EQ(call("aten::add.out", {a, b, EValue(1), out}), Error::Ok);
    EXPECT_EQ(out.get<float>(), std::vector<float>({1}));
  }
}

TEST_P(Right, CopiesOfAnotherTypeInAnotherOrder) {
  Held& from = tensor({2, 2}, ScalarType::Int).set<int32_t>({1, 2, 3, 4});
  Held& out = turned({2, 2});
  ASSERT_EQ(call("aten::_to_copy.out", {from, EValue(), EValue(), out}), Error::Ok);
  EXPECT_EQ(out.get<float>(), std::vector<float>({1, 3, 2, 4}));
  Held& words = tensor({2, 2}, ScalarType::UInt16).set<uint16_t>({1, 2, 3, 65535});
  Held& same = tensor({2, 2});
  ASSERT_EQ(call("aten::_to_copy.out", {words, EValue(), EValue(), same}), Error::Ok);
  EXPECT_EQ(same.get<float>(), std::vector<float>({1, 2, 3, 65535}));
}

// Elements a, b, c, d of rows, where the memory holds a, c, b, d.
TEST_P(Right, OperandsInAnotherOrder) {
  const std::vector<float> rows = {1, 2, 3, 4}, columns = {1, 3, 2, 4};
  Held& index = tensor({2}, ScalarType::Long).set<int64_t>({0, 1});
  for (const bool is_result : {false, true}) {
    const auto from = [&]() -> Held& {
      return is_result ? tensor({2, 2}).set(rows) : turned({2, 2}).set(columns);
    };
    const auto to = [&]() -> Held& { return is_result ? turned({2, 2}) : tensor({2, 2}); };
    const std::vector<float>& wanted = is_result ? columns : rows;
    Held& selected = to();
    ASSERT_EQ(call("aten::index_select.out", {from(), EValue(0), index, selected}), Error::Ok);
    EXPECT_EQ(selected.get<float>(), wanted);
    Held& sum = to();
    ASSERT_EQ(call("aten::addmm.out",
                   {from(), tensor({2, 3}), tensor({3, 2}), EValue(1), EValue(1), sum}),
              Error::Ok);
    EXPECT_EQ(sum.get<float>(), wanted);
  }
  for (const char* name : {"aten::relu.out", "aten::abs.out", "aten::ceil.out", "aten::floor.out",
                           "aten::round.out", "aten::trunc.out"}) {
    Held& same = turned({2, 2});
    ASSERT_EQ(call(name, {tensor({2, 2}).set(rows), same}), Error::Ok) << name;
    EXPECT_EQ(same.get<float>(), columns) << name;
    Held& doubles = turned({2, 2}, ScalarType::Double);
    ASSERT_EQ(call(name, {tensor({2, 2}, ScalarType::Double).set<double>({1, 2, 3, 4}), doubles}),
              Error::Ok)
        << name;
    EXPECT_EQ(doubles.get<double>(), std::vector<double>({1, 3, 2, 4})) << name;
  }
  Held& convolved = turned({1, 2, 2});
  ASSERT_EQ(call("aten::convolution.out",
                 {tensor({1, 2, 2}).set(rows), tensor({2, 2, 1}).fill(1), EValue(), ints({1}),
                  ints({0}), ints({1}), EValue(false), ints({0}), EValue(1), convolved}),
            Error::Ok);
  EXPECT_EQ(convolved.get<float>(), std::vector<float>({4, 4, 6, 6}));
}

// Pieces of rows are widened on the stack.
TEST_P(Right, RowsLongerThanAnyPiece) {
  constexpr int32_t kLong = 100'000;
  const ScalarType half = ScalarType::Half;
  const auto row = [&]() -> Held& { return tensor({1, kLong}, half); };
  const EValue none, no(false);
  EXPECT_EQ(
      call("aten::native_layer_norm.out", {row(), ints({kLong}), none, none, EValue(1e-5), row(),
                                           tensor({1, 1}, half), tensor({1, 1}, half)}),
      Error::Ok);
  EXPECT_EQ(call("aten::mm.out", {row(), tensor({kLong, 2}, half), tensor({1, 2}, half)}),
            Error::Ok);
  EXPECT_EQ(call("aten::sum.IntList_out",
                 {tensor({2, kLong}, half), ints({0}), no, none, tensor({kLong}, half)}),
            Error::Ok);
  EXPECT_EQ(call("aten::_softmax.out", {row(), EValue(1), no, row()}), Error::Ok);
  EXPECT_EQ(call("aten::max_pool2d_with_indices.out",
                 {tensor({1, 1, kLong}), ints({1, 1}), ints({1, 1}), ints({0, 0}), ints({1, 1}), no,
                  tensor({1, 1, kLong}), tensor({1, 1, kLong}, ScalarType::Long)}),
            Error::Ok);
  EXPECT_EQ(call("aten::avg_pool2d.out", {tensor({1, 1, kLong}), ints({1, 1}), ints({1, 1}),
                                          ints({0, 0}), no, no, none, tensor({1, 1, kLong})}),
            Error::Ok);
}

class Paid : public Edges {
 protected:
  // What is beyond one pass over the arguments, to the unit.
  void costs(uint64_t units, const char* name, std::vector<EValue> values) {
    EXPECT_EQ(call(name, values, units - 1), Error::OutOfResources) << name;
    EXPECT_EQ(call(name, values, units * 3 / 4), Error::OutOfResources) << name;
    EXPECT_EQ(call(name, values, units), Error::Ok) << name;
  }
  Held& chars(std::vector<int32_t> sizes) { return tensor(std::move(sizes), ScalarType::Char); }
};

TEST_P(Paid, IsWhatKernelsDoOfFloats) {
  costs(4, "llama::update_cache.out",
        {tensor({1, 2, 1, 2}), tensor({1, 8, 1, 2}), EValue(0), tensor({1})});
  costs(4, "llama::update_cache_with_indices.out",
        {tensor({1, 2, 1, 2}), tensor({1, 8, 1, 2}), EValue(0), tensor({1, 2}, ScalarType::Long),
         tensor({1})});
  costs(3 * 4 + 3, "aten::_pdist_forward.out", {tensor({3, 4}), EValue(2.0), tensor({3})});
  costs(8 * 64, "llama::fast_hadamard_transform.out", {tensor({2, 4}), tensor({2, 4})});
  costs(2 * (5 / 2 + 2) * (7 + 2), "aten::_adaptive_avg_pool2d.out",
        {tensor({1, 5, 7}), ints({2, 1}), tensor({1, 2, 1})});
  costs(4 * 4 * 4, "aten::_upsample_bilinear2d_aa.out",
        {tensor({1, 1, 4, 4}), ints({2, 2}), EValue(false), EValue(), EValue(),
         tensor({1, 1, 2, 2})});
  costs(8 * 3, "quantized_decomposed::mixed_mm.out",
        {tensor({2, 3}), chars({3, 4}), tensor({3}), EValue(), tensor({2, 4})});
}

TEST_P(Paid, IsWhatKernelsLookThrough) {
  const EValue no(false), yes(true);
  costs(4 * 4, "aten::max_pool2d_with_indices.out",
        {tensor({1, 4, 4}), ints({2, 2}), ints({2, 2}), ints({0, 0}), ints({1, 1}), no,
         tensor({1, 2, 2}), tensor({1, 2, 2}, ScalarType::Long)});
  costs(4 * 4, "aten::avg_pool2d.out",
        {tensor({1, 4, 4}), ints({2, 2}), ints({2, 2}), ints({0, 0}), no, no, EValue(),
         tensor({1, 2, 2})});
  costs(16 * 2, "aten::topk.values",
        {tensor({2, 8}), EValue(2), EValue(1), yes, yes, tensor({2, 2}),
         tensor({2, 2}, ScalarType::Long)});
  costs(8 * 3, "aten::_cdist_forward.out",
        {tensor({2, 3}), tensor({4, 3}), EValue(1.5), EValue(), tensor({2, 4})});
}

TEST_P(Paid, IsWhatProductsTake) {
  for (const ScalarType type : {ScalarType::Float, ScalarType::Double, ScalarType::Half}) {
    costs(8 * 3, "aten::mm.out",
          {tensor({2, 3}, type), tensor({3, 4}, type), tensor({2, 4}, type)});
    costs(16 * 3, "aten::bmm.out",
          {tensor({2, 2, 3}, type), tensor({2, 3, 4}, type), tensor({2, 2, 4}, type)});
    costs(8 * 3, "aten::addmm.out",
          {tensor({4}, type), tensor({2, 3}, type), tensor({3, 4}, type), EValue(1), EValue(1),
           tensor({2, 4}, type)});
    costs(8 * 3, "aten::linear.out",
          {tensor({2, 3}, type), tensor({4, 3}, type), EValue(), tensor({2, 4}, type)});
  }
}

TEST_P(Paid, IsWhatKernelsDoOfIntegers) {
  const EValue zero(0), one(1), least(-128), most(127), levels = type(ScalarType::Char);
  Held& numbers = tensor({4}, ScalarType::Int);
  Held& shifts = chars({4}).set<int8_t>({1, 1, 1, 1});
  costs(8 * 3, "petrel::int8_linear.out",
        {chars({2, 3}), chars({4, 3}), EValue(), numbers, shifts, zero, zero, least, most, levels,
         chars({2, 4})});
  costs(8 * 3, "petrel::int8_matmul.out",
        {chars({2, 3}), chars({3, 4}), zero, zero, one, one, zero, least, most, levels,
         chars({2, 4})});
  costs(2 * 4, "petrel::int8_average.out",
        {chars({2, 2, 2}), ints({0, 2, 2}), ints({0, 2, 2}), zero, one, one, zero, least, most,
         levels, chars({2, 1, 1})});
  costs(2 * 4, "petrel::int8_max_pool.out",
        {chars({2, 2, 2}), ints({0, 2, 1}), ints({0, 2, 1}), chars({2, 1, 1})});
  costs(4 * 5, "petrel::int8_mul.out",
        {chars({4, 1}), chars({1, 5}), zero, zero, one, one, zero, least, most, levels,
         chars({4, 5})});
}

PETREL_FOR_BOTH_SETS(Edges);
PETREL_FOR_BOTH_SETS(Right);
PETREL_FOR_BOTH_SETS(Paid);
PETREL_FOR_BOTH_SETS(Convolutions);

}  // namespace
}  // namespace petrel::runtime
