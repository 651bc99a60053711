// SPDX-License-Identifier: Apache-2.0
//
// Calls on which a fast path is wrong that is taken all the same: with a tensor in another
// order, of another type, longer than a buffer or without elements. Of both sets of kernels.
//
// Elements a, b, c, d of a turned tensor's rows lie in memory as a, c, b, d.
#include <cmath>
#include <cstdint>
#include <ctime>
#include <vector>

#include "runtime/kernels/optimized/edges.h"

namespace petrel::runtime {
namespace {

using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;

class Orders : public Edges {
 protected:
  // The same elements, 1 2 in one row and 3 4 in the next.
  Held& plain() { return tensor({2, 2}).set(rows_); }
  Held& other() { return turned({2, 2}).set(columns_); }
  Held& longs(std::vector<int32_t> sizes, const Longs& elements) {
    return tensor(std::move(sizes), ScalarType::Long).set(elements);
  }
  void is(Error error, const char* name) { EXPECT_EQ(error, Error::Ok) << name; }

  const Floats rows_ = {1, 2, 3, 4}, columns_ = {1, 3, 2, 4};
};

class Timed : public Orders {
 protected:
  void takes_no_time(const char* name, std::vector<EValue> values) {
    const std::clock_t start = std::clock();
    EXPECT_EQ(call(name, std::move(values)), Error::Ok) << name;
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.5) << name;
  }
};

TEST_P(Orders, OfOperandsThatAreAdded) {
  for (const bool is_first : {false, true}) {
    Held& sum = tensor({2, 2});
    const EValue zeros = tensor({2, 2}), moved = other();
    is(call("aten::add.out", {is_first ? moved : zeros, is_first ? zeros : moved, EValue(1), sum}),
       "add");
    EXPECT_EQ(sum.get<float>(), rows_);
  }
}

TEST_P(Orders, OfResultsOfOneInput) {
  const EValue none;
  Held& clamped = turned({2, 2}, ScalarType::Int);
  Held& ints = tensor({2, 2}, ScalarType::Int).set<int32_t>({1, 2, 3, 4});
  is(call("aten::clamp.out", {ints, EValue(0), none, clamped}), "clamp");
  EXPECT_EQ(clamped.get<int32_t>(), std::vector<int32_t>({1, 3, 2, 4}));
  for (const char* name : {"aten::logical_not.out", "aten::bitwise_not.out"}) {
    Held& bools = tensor({2, 2}, ScalarType::Bool).set<uint8_t>({0, 0, 1, 1});
    Held& inverse = turned({2, 2}, ScalarType::Bool);
    is(call(name, {bools, inverse}), name);
    EXPECT_EQ(inverse.get<uint8_t>(), std::vector<uint8_t>({1, 0, 1, 0})) << name;
  }
  for (const char* name : {"aten::isnan.out", "aten::isinf.out"}) {
    const float odd = name[8] == 'n' ? NAN : INFINITY;
    Held& found = turned({2, 2}, ScalarType::Bool);
    is(call(name, {tensor({2, 2}).set<float>({0, 0, odd, odd}), found}), name);
    EXPECT_EQ(found.get<uint8_t>(), std::vector<uint8_t>({0, 1, 0, 1})) << name;
  }
}

// Bits of a signalling NaN, which a conversion by way of floats would change.
TEST_P(Orders, CopiesOfOneTypeKeepTheirBits) {
  Held& copy = tensor({2}, ScalarType::Half);
  Held& odd = tensor({2}, ScalarType::Half).set<uint16_t>({0x7d01, 0x3c00});
  is(call("aten::_to_copy.out", {odd, EValue(), EValue(), copy}), "_to_copy");
  EXPECT_EQ(copy.get<uint16_t>(), std::vector<uint16_t>({0x7d01, 0x3c00}));
}

// 300 is 44 in eight bits, as in eager.
TEST_P(Orders, NumbersBeyondTheTypeOfATensor) {
  Held& equal = tensor({2}, ScalarType::Bool);
  Held& bytes = tensor({2}, ScalarType::Byte).set<uint8_t>({44, 45});
  is(call("aten::eq.Scalar_out", {bytes, EValue(300), equal}), "eq");
  EXPECT_EQ(equal.get<uint8_t>(), std::vector<uint8_t>({1, 0}));
}

TEST_P(Orders, OfValuesThatArePut) {
  const EValue all = longs({2}, {0, 1}), no(false);
  Held& from_other = tensor({2, 2});
  is(call("aten::index_put.out", {tensor({2, 2}), optional_list({all}), other(), no, from_other}),
     "index_put");
  EXPECT_EQ(from_other.get<float>(), rows_);
  Held& to_other = turned({2, 2});
  is(call("aten::index_put.out", {tensor({2, 2}), optional_list({all}), plain(), no, to_other}),
     "index_put");
  EXPECT_EQ(to_other.get<float>(), columns_);
  // Bytes of a file that stand for true need not be 1.
  Held& bools = tensor({2}, ScalarType::Bool);
  Held& twos = tensor({2}, ScalarType::Bool).set<uint8_t>({2, 0});
  is(call("aten::index_put.out",
          {tensor({2}, ScalarType::Bool), optional_list({all}), twos, no, bools}),
     "index_put");
  EXPECT_EQ(bools.get<uint8_t>(), std::vector<uint8_t>({1, 0}));
}

TEST_P(Orders, MoreIndicesThanFastPathsHold) {
  const EValue first = longs({1}, {0}), second = longs({1}, {1});
  Held& found = tensor({1});
  is(call("aten::index.Tensor_out", {tensor({1, 1, 1, 1, 2}).set<float>({3, 5}),
                                     optional_list({first, first, first, first, second}), found}),
     "index");
  EXPECT_EQ(found.get<float>(), Floats({5}));
}

TEST_P(Orders, OfWhatIsGathered) {
  const Longs places = {1, 0, 1, 1}, turned_places = {1, 1, 0, 1};
  const EValue last(1), no(false);
  Held& by_other = tensor({2, 2});
  is(call("aten::gather.out",
          {plain(), last, turned({2, 2}, ScalarType::Long).set(turned_places), no, by_other}),
     "gather");
  EXPECT_EQ(by_other.get<float>(), Floats({2, 1, 4, 4}));
  Held& of_other = tensor({2, 2});
  is(call("aten::gather.out", {other(), last, longs({2, 2}, places), no, of_other}), "gather");
  EXPECT_EQ(of_other.get<float>(), Floats({2, 1, 4, 4}));
  Held& to_other = turned({2, 2});
  is(call("aten::gather.out", {plain(), last, longs({2, 2}, places), no, to_other}), "gather");
  EXPECT_EQ(to_other.get<float>(), Floats({2, 4, 1, 4}));
  refuses("aten::gather.out", {plain(), last, longs({2, 2}, places), no, tensor({3, 2})});
}

TEST_P(Orders, ShortIntegersThatAreAddedUp) {
  Held& sums = tensor({2}, ScalarType::Short);
  is(call("aten::scatter_add.out",
          {tensor({2}, ScalarType::Short), EValue(0), longs({3}, {0, 1, 0}),
           tensor({3}, ScalarType::Short).set<int16_t>({1, 2, 4}), sums}),
     "scatter_add");
  EXPECT_EQ(sums.get<int16_t>(), std::vector<int16_t>({5, 2}));
}

TEST_P(Orders, OfTheLargest) {
  const EValue two(2), last(1), yes(true);
  Held& values = turned({2, 2});
  is(call("aten::topk.values",
          {plain(), two, last, yes, yes, values, tensor({2, 2}, ScalarType::Long)}),
     "topk");
  EXPECT_EQ(values.get<float>(), Floats({2, 4, 1, 3}));
  Held& places = turned({2, 2}, ScalarType::Long);
  is(call("aten::topk.values", {plain(), two, last, yes, yes, tensor({2, 2}), places}), "topk");
  EXPECT_EQ(places.get<int64_t>(), Longs({1, 1, 0, 0}));
  Held& one = tensor({});
  is(call("aten::topk.values",
          {tensor({}).fill(7), EValue(1), EValue(0), yes, yes, one, tensor({}, ScalarType::Long)}),
     "topk");
  EXPECT_EQ(one.get<float>(), Floats({7}));
}

TEST_P(Orders, OfImages) {
  const EValue none, no(false);
  Held& largest = tensor({1, 2, 2});
  is(call("aten::max_pool2d_with_indices.out",
          {turned({1, 2, 2}).set(columns_), ints({1, 1}), ints({1, 1}), ints({0, 0}), ints({1, 1}),
           no, largest, tensor({1, 2, 2}, ScalarType::Long)}),
     "max_pool2d");
  EXPECT_EQ(largest.get<float>(), rows_);
  Held& shifted = turned({1, 2, 2});
  is(call("aten::_native_batch_norm_legit_no_training.out",
          {tensor({1, 2, 2}).set(rows_), none, none, tensor({2}), tensor({2}).fill(1), EValue(0.1),
           EValue(0.0), shifted, tensor({0}), tensor({0})}),
     "batch_norm");
  EXPECT_EQ(shifted.get<float>(), columns_);
  Held& summed = tensor({1, 1, 2});
  is(call("aten::convolution.out",
          {turned({1, 2, 2}).set(columns_), tensor({2, 1, 1}).fill(1), none, ints({1}), ints({0}),
           ints({1}), EValue(true), ints({0}), EValue(1), summed}),
     "transposed convolution");
  EXPECT_EQ(summed.get<float>(), Floats({4, 6}));
}

TEST_P(Orders, OfLevels) {
  const EValue least(-128), most(127), levels = type(ScalarType::Char);
  const EValue scales = tensor({2, 1}, ScalarType::Double).set<double>({1, 1}),
               points = longs({2, 1}, {0, 0});
  const auto quantise = [&](const EValue& x, Held& out) {
    is(call("quantized_decomposed::quantize_per_token.out",
            {x, scales, points, least, most, levels, out}),
       "quantize_per_token");
  };
  Held& from_other = tensor({2, 2}, ScalarType::Char);
  quantise(other(), from_other);
  EXPECT_EQ(from_other.get<int8_t>(), std::vector<int8_t>({1, 2, 3, 4}));
  Held& to_other = turned({2, 2}, ScalarType::Char);
  quantise(plain(), to_other);
  EXPECT_EQ(to_other.get<int8_t>(), std::vector<int8_t>({1, 3, 2, 4}));
}

TEST_P(Orders, RowsLongerThanABuffer) {
  const EValue none, no(false);
  constexpr int32_t kLong = 9000;  // a half
  const uint16_t one = 0x3c00;
  Held& ones = tensor({1, kLong}, ScalarType::Half).set(std::vector<uint16_t>(kLong, one));
  Held& sum = tensor({1}, ScalarType::Half);
  is(call("aten::sum.IntList_out", {ones, ints({1}), no, none, sum}), "sum");
  EXPECT_EQ(sum.get<uint16_t>(), std::vector<uint16_t>({0x7065}));
  // 1 / 5000 of a column of 5000.
  Held& shares = tensor({5000, 2}, ScalarType::Half);
  is(call("aten::_softmax.out", {tensor({5000, 2}, ScalarType::Half), EValue(0), no, shares}),
     "softmax");
  EXPECT_EQ(shares.get<uint16_t>(), std::vector<uint16_t>(10'000, 0x0a8e));
  constexpr int32_t kWide = 16'000;  // columns of a plane that fits
  Floats ramp(kWide);
  for (int32_t i = 0; i < kWide; ++i) ramp[static_cast<size_t>(i)] = static_cast<float>(i);
  Held& largest = tensor({1, 1, kWide});
  is(call("aten::max_pool2d_with_indices.out",
          {tensor({1, 1, kWide}).set(ramp), ints({1, 1}), ints({1, 1}), ints({0, 0}), ints({1, 1}),
           no, largest, tensor({1, 1, kWide}, ScalarType::Long)}),
     "max_pool2d");
  EXPECT_EQ(largest.get<float>(), ramp);
  constexpr int32_t kSide = 200;
  const std::vector<uint16_t> square(kSide * kSide, one);
  Held& same = tensor({1, 1, kSide, kSide}, ScalarType::Half);
  is(call("aten::convolution.out",
          {tensor({1, 1, kSide, kSide}, ScalarType::Half).set(square),
           tensor({1, 1, 1, 1}, ScalarType::Half).set<uint16_t>({one}), none, ints({1, 1}),
           ints({0, 0}), ints({1, 1}), EValue(true), ints({0, 0}), EValue(1), same}),
     "transposed convolution");
  EXPECT_EQ(same.get<uint16_t>(), square);
}

TEST_P(Orders, OfNothing) {
  const EValue none;
  refuses("aten::native_layer_norm.out", {plain(), ints({}), none, none, EValue(1e-5),
                                          tensor({2, 2}), tensor({2, 2}), tensor({2, 2})});
  // Of two outputs none has an input.
  Held& zeros = tensor({1, 1, 2}).fill(1);
  is(call("aten::convolution.out",
          {tensor({1, 1, 0}), tensor({1, 1, 3}), none, ints({1}), ints({0}), ints({1}),
           EValue(true), ints({0}), EValue(1), zeros}),
     "transposed convolution");
  EXPECT_EQ(zeros.get<float>(), Floats({0, 0}));
  Held& spread = tensor({2}).fill(1);
  is(call("aten::var.correction_out",
          {tensor({2, 0}), ints({1}), EValue(1), EValue(false), spread}),
     "var");
  EXPECT_TRUE(std::isnan(spread.get<float>()[0]));
}

// Numbers whose products, cut to 64 bits, are those of the tensors.
TEST_P(Orders, NumbersOfGroupsThatFitWhenCut) {
  const EValue none, eps(1e-5), one(1);
  const auto norm = [&](int64_t batch, int64_t channels, int64_t plane, int32_t stats) {
    refuses("aten::native_group_norm.out",
            {tensor({0}), none, none, EValue(batch), EValue(channels), EValue(plane), one, eps,
             tensor({0}), tensor({stats, 1}), tensor({stats, 1})});
  };
  norm(int64_t{1} << 22, int64_t{1} << 21, int64_t{1} << 21, 1 << 22);
  norm(INT32_MAX, int64_t{1} << 33, 1, 1);
}

TEST_P(Timed, OfNothing) {
  const EValue none;
  takes_no_time("aten::index.Tensor_out", {tensor({1, 1, 0}),
                                           optional_list({tensor({60'000, 1}, ScalarType::Long),
                                                          tensor({1, 60'000}, ScalarType::Long)}),
                                           tensor({60'000, 60'000, 0})});
  takes_no_time("aten::_native_batch_norm_legit_no_training.out",
                {tensor({kHuge, 1, 0}), none, none, tensor({1}), tensor({1}), EValue(0.1),
                 EValue(0.0), tensor({kHuge, 1, 0}), tensor({0}), tensor({0})});
}

PETREL_FOR_BOTH_SETS(Orders);
PETREL_FOR_BOTH_SETS(Timed);

}  // namespace
}  // namespace petrel::runtime
