// SPDX-License-Identifier: Apache-2.0
//
// Calls that one check alone refuses, and that no recorded call with one change comes to:
// dims beyond the rank where both bounds of the last dim fit, sizes that fit when cut to
// 32 bits, results of one type too many. Of both sets of kernels.
#include <cstdint>
#include <vector>

#include "runtime/kernels/optimized/edges.h"

namespace petrel::runtime {
namespace {

constexpr int64_t kWrap = int64_t{1} << 32;

class Refused : public Edges {
 protected:
  Held& square() { return tensor({2, 2}); }
};

TEST_P(Refused, DimsBeyondTheRank) {
  for (const int64_t d : {int64_t{2}, int64_t{-3}}) {
    const EValue dim(d), none;
    Held& index = tensor({2}, ScalarType::Long);
    refuses("aten::index_select.out", {square(), dim, index, square()});
    refuses("aten::slice_copy.Tensor_out", {square(), dim, none, none, EValue(1), square()});
    refuses("aten::narrow_copy.out", {square(), dim, EValue(0), EValue(2), square()});
    refuses("aten::slice_scatter.out", {square(), square(), dim, none, none, EValue(1), square()});
    refuses("aten::select_scatter.out", {square(), tensor({2}), dim, EValue(0), square()});
    refuses("aten::split_with_sizes_copy.out", {square(), ints({2}), dim, list({square()})});
    refuses("aten::max.dim_max",
            {square(), dim, EValue(false), tensor({2}), tensor({2}, ScalarType::Long)});
    refuses("aten::unfold_copy.out", {square(), dim, EValue(1), EValue(1), tensor({2, 2, 1})});
    refuses("petrel::int8_softmax.out",
            {tensor({2, 2}, ScalarType::Char), dim, tensor({256}, ScalarType::Int), EValue(1),
             EValue(1), EValue(0), EValue(-128), EValue(127), type(ScalarType::Char),
             tensor({2, 2}, ScalarType::Char)});
  }
}

TEST_P(Refused, ScalarsThatHaveNoDim) {
  const EValue none;
  refuses("aten::narrow_copy.out", {tensor({}), EValue(0), EValue(0), EValue(1), tensor({})});
  refuses("aten::select_copy.int_out", {tensor({}), EValue(0), EValue(0), tensor({})});
  refuses("aten::slice_scatter.out",
          {tensor({}), tensor({}), EValue(0), none, none, EValue(1), tensor({})});
  refuses("aten::select_scatter.out", {tensor({}), tensor({}), EValue(0), EValue(0), tensor({})});
  refuses("aten::split_with_sizes_copy.out",
          {tensor({}), ints({1}), EValue(0), list({tensor({})})});
  refuses("aten::split_copy.Tensor_out", {tensor({}), EValue(1), EValue(0), list({tensor({})})});
  refuses("aten::unfold_copy.out", {tensor({}), EValue(0), EValue(1), EValue(1), tensor({1})});
  refuses("petrel::int8_softmax.out",
          {tensor({}, ScalarType::Char), EValue(0), tensor({256}, ScalarType::Int), EValue(1),
           EValue(1), EValue(0), EValue(-128), EValue(127), type(ScalarType::Char),
           tensor({}, ScalarType::Char)});
  refuses("aten::tril.out", {tensor({2}), EValue(0), tensor({2})});
  refuses("aten::tril.out", {tensor({}), EValue(0), tensor({})});
  refuses("aten::t_copy.out", {tensor({1, 1, 1}), tensor({1, 1, 1})});
  refuses("llama::fast_hadamard_transform.out", {tensor({}), tensor({})});
}

// All tensors have the type, so that none differs from another one.
TEST_P(Refused, TypesThatNothingIsComputedIn) {
  const EValue none, eps(1e-5);
  const auto image = [this]() -> Held& { return tensor({1, 2, 2, 2}, ScalarType::Int); };
  refuses("aten::native_group_norm.out", {image(), none, none, EValue(1), EValue(2), EValue(4),
                                          EValue(1), eps, image(), tensor({1, 1}), tensor({1, 1})});
  refuses("aten::_native_batch_norm_legit_no_training.out",
          {image(), none, none, tensor({2}), tensor({2}), EValue(0.1), eps, image(), tensor({0}),
           tensor({0})});
  refuses("aten::_native_batch_norm_legit.no_stats_out",
          {image(), none, none, EValue(true), EValue(0.1), eps, image(), tensor({2}), tensor({2})});
  refuses("petrel::int8_softmax.out",
          {tensor({2, 2}, ScalarType::Char), EValue(1), tensor({256}, ScalarType::Int), EValue(1),
           EValue(1), EValue(0), EValue(-128), EValue(127), type(ScalarType::Int),
           tensor({2, 2}, ScalarType::Int)});
}

TEST_P(Refused, DimsOfADiagonalThatAreOne) {
  refuses("aten::diagonal_copy.out", {square(), EValue(0), EValue(0), EValue(0), square()});
}

TEST_P(Refused, SourcesThatDoNotBroadcast) {
  refuses("aten::copy_", {tensor({2}), tensor({3}), EValue(false)});
  refuses("aten::copy_", {tensor({2}), tensor({2, 2}), EValue(false)});
}

TEST_P(Refused, SizesThatAreGivenTwiceOrNever) {
  const double factors[] = {1.0, 1.0};
  const EValue both(Span<const double>(factors, 2)), none;
  refuses("aten::upsample_nearest2d.vec_out",
          {tensor({1, 1, 2, 2}), ints({2, 2}), both, tensor({1, 1, 2, 2})});
  refuses("aten::upsample_nearest2d.vec_out",
          {tensor({1, 1, 2, 2}), none, none, tensor({1, 1, 2, 2})});
}

TEST_P(Refused, LevelsOfOtherTypes) {
  refuses("petrel::int8_table.out",
          {tensor({1}, ScalarType::Char), tensor({256}, ScalarType::Short),
           tensor({1}, ScalarType::Short)});
  refuses("petrel::int8_table.out",
          {tensor({1}, ScalarType::Char), turned({2, 128}, ScalarType::Char),
           tensor({1}, ScalarType::Char)});
  const EValue none, zero(0);
  const auto bytes = [this]() -> Held& { return tensor({1, 1, 1, 1}, ScalarType::Byte); };
  Held& points = tensor({1, 1, 1, 1}, ScalarType::Char);
  Held& scales = tensor({1, 1, 1, 1});
  refuses("llama::custom_quantized_sdpa.out",
          {bytes(), bytes(), bytes(), zero, none, EValue(0.0), EValue(false), none, points, scales,
           points, scales, points, scales, EValue(false), tensor({1, 1, 1, 1})});
  refuses("quantized_decomposed::embedding_byte.dtype_out",
          {tensor({1, 2}, ScalarType::Byte), tensor({1}), none, zero, EValue(255),
           tensor({1}, ScalarType::Long), type(ScalarType::Int), tensor({1, 2}, ScalarType::Int)});
}

TEST_P(Refused, ListsOfNothing) {
  refuses("aten::split_copy.Tensor_out", {square(), EValue(0), EValue(0), list({})});
  refuses("aten::split_copy.Tensor_out",
          {tensor({0, 2}), EValue(0), EValue(0), list({tensor({0, 2})})});
  refuses("aten::split_copy.Tensor_out",
          {tensor({0, 2}), EValue(-1), EValue(0), list({tensor({0, 2})})});
}

TEST_P(Refused, RanksOfImagesAndMatrices) {
  const EValue no(false);
  refuses("aten::avg_pool2d.out", {square(), ints({1, 1}), ints({1, 1}), ints({0, 0}), no,
                                   EValue(true), EValue(), square()});
  refuses("aten::max_pool2d_with_indices.out",
          {square(), ints({1, 1}), ints({1, 1}), ints({0, 0}), ints({1, 1}), no, square(),
           tensor({2, 2}, ScalarType::Long)});
  refuses("aten::convolution.out", {square(), square(), EValue(), ints({1}), ints({0}), ints({1}),
                                    no, ints({0}), EValue(1), square()});
  Held& levels = tensor({2}, ScalarType::Char);
  const EValue target[] = {EValue(0), EValue(-128), EValue(127), type(ScalarType::Char)};
  Held& matrix = tensor({1, 1}, ScalarType::Char);
  refuses(
      "petrel::int8_convolution.out",
      {matrix, matrix, EValue(), tensor({1}, ScalarType::Int),
       tensor({1}, ScalarType::Char).set<int8_t>({1}), ints({1}), ints({0}), ints({1}), EValue(1),
       EValue(0), target[0], target[1], target[2], target[3], tensor({1, 1}, ScalarType::Char)});
  refuses("petrel::int8_average.out",
          {levels, ints({0, 1, 1}), ints({0, 1, 1}), EValue(0), EValue(1), EValue(1), target[0],
           target[1], target[2], target[3], tensor({1}, ScalarType::Char)});
  refuses("petrel::int8_max_pool.out",
          {levels, ints({0, 1, 1}), ints({0, 1, 1}), tensor({1}, ScalarType::Char)});
  refuses("petrel::int8_matmul.out",
          {levels, levels, EValue(0), EValue(0), EValue(1), EValue(1), target[0], target[1],
           target[2], target[3], tensor({1}, ScalarType::Char)});
}

// Windows of one place each would leave the sizes as they are.
TEST_P(Refused, ResultsOfPoolsOfOtherSizes) {
  const EValue no(false);
  for (const bool values : {false, true}) {
    Held& out = tensor({1, values ? 3 : 2, 2});
    Held& indices = tensor({1, values ? 2 : 3, 2}, ScalarType::Long);
    refuses("aten::max_pool2d_with_indices.out", {tensor({1, 2, 2}), ints({1, 1}), ints({1, 1}),
                                                  ints({0, 0}), ints({1, 1}), no, out, indices});
  }
}

TEST_P(Refused, NormsOfIntegers) {
  Held& input = tensor({2, 2, 2}, ScalarType::Int);
  Held& out = tensor({2, 2, 2}, ScalarType::Int);
  const EValue none, tiny(1e-5);
  refuses("aten::native_layer_norm.out",
          {input, ints({2}), none, none, tiny, out, tensor({2, 2, 1}), tensor({2, 2, 1})});
  refuses("aten::native_layer_norm.out",
          {input, ints({2}), none, none, tiny, out, tensor({2, 2, 1}, ScalarType::Int),
           tensor({2, 2, 1}, ScalarType::Int)});
  refuses("aten::native_group_norm.out",
          {input, none, none, EValue(2), EValue(2), EValue(2), EValue(1), tiny, out,
           tensor({2, 1}, ScalarType::Int), tensor({2, 1}, ScalarType::Int)});
  Held& two = tensor({2}, ScalarType::Int);
  Held& nothing = tensor({0}, ScalarType::Int);
  refuses("aten::_native_batch_norm_legit_no_training.out",
          {input, none, none, two, two, EValue(0.1), tiny, out, nothing, nothing});
  refuses("aten::_native_batch_norm_legit.no_stats_out",
          {input, none, none, EValue(true), EValue(0.1), tiny, out, two, two});
}

TEST_P(Refused, TypesOfQuantizing) {
  const EValue one(1.0), zero(0), most(1), none;
  const EValue as_int = type(ScalarType::Int), as_float = type(ScalarType::Float);
  Held& floats = tensor({2});
  Held& ints_ = tensor({2}, ScalarType::Int);
  // To or from what is no integer, or what is no float.
  refuses("quantized_decomposed::quantize_per_tensor.out",
          {floats, one, zero, zero, most, as_float, tensor({2})});
  refuses("quantized_decomposed::quantize_per_tensor.out",
          {ints_, one, zero, zero, most, as_int, tensor({2}, ScalarType::Int)});
  refuses("quantized_decomposed::dequantize_per_tensor.out",
          {floats, one, zero, zero, most, as_float, none, tensor({2})});
  refuses("quantized_decomposed::dequantize_per_tensor.out",
          {ints_, one, zero, zero, most, as_int, as_int, tensor({2}, ScalarType::Int)});
  Held& scales = tensor({2});
  refuses(
      "quantized_decomposed::dequantize_per_channel.out",
      {ints_, scales, none, EValue(0), zero, most, as_int, as_int, tensor({2}, ScalarType::Int)});
  // Dims and scalars.
  Held& zeros = tensor({2}, ScalarType::Long);
  for (const int64_t axis : {1, -2}) {
    refuses(
        "quantized_decomposed::quantize_per_channel.out",
        {floats, scales, zeros, EValue(axis), zero, most, as_int, tensor({2}, ScalarType::Int)});
    refuses("quantized_decomposed::dequantize_per_channel.out",
            {ints_, scales, zeros, EValue(axis), zero, most, as_int, as_float, tensor({2})});
  }
  Held& scale = tensor({1});
  Held& point = tensor({1}, ScalarType::Long);
  refuses("quantized_decomposed::quantize_per_channel.out",
          {tensor({}), scale, point, EValue(0), zero, most, as_int, tensor({}, ScalarType::Int)});
  refuses("quantized_decomposed::dequantize_per_channel.out",
          {tensor({}, ScalarType::Int), scale, point, EValue(0), zero, most, as_int, as_float,
           tensor({})});
  refuses("quantized_decomposed::quantize_per_token.out",
          {tensor({}), scale, point, zero, most, as_int, tensor({}, ScalarType::Int)});
  refuses("quantized_decomposed::dequantize_per_token.out",
          {tensor({}, ScalarType::Int), scale, point, zero, most, as_int, as_float, tensor({})});
}

TEST_P(Refused, TypesOfMixedProducts) {
  const EValue none;
  Held& weight = tensor({2, 2}, ScalarType::Char);
  refuses("quantized_decomposed::mixed_mm.out",
          {tensor({2, 2}, ScalarType::Int), weight, tensor({2}, ScalarType::Int), none,
           tensor({2, 2}, ScalarType::Int)});
  refuses("quantized_decomposed::mixed_linear.out",
          {square(), weight, tensor({2}), none, type(ScalarType::Int),
           tensor({2, 2}, ScalarType::Int)});
  refuses("quantized_decomposed::mixed_linear.out",
          {tensor({2, 2}, ScalarType::Int), weight, tensor({2}, ScalarType::Int), none,
           type(ScalarType::Float), square()});
  const auto add = [&](ScalarType of_inputs) {
    const EValue one(1.0), zero(0), most(100);
    refuses("quantized_decomposed::add.out",
            {tensor({2}, of_inputs), one, zero, zero, most, tensor({2}, of_inputs), one, zero, zero,
             most, one, zero, zero, most, tensor({2}, ScalarType::Byte)});
  };
  add(ScalarType::Char);
  add(ScalarType::Short);
}

// Each of these would have the sizes of the result if it were cut to 32 bits, or left as it is.
TEST_P(Refused, SizesThatFitWhenCut) {
  refuses("aten::view_copy.out", {tensor({2}), ints({kWrap + 2}), tensor({2})});
  refuses("aten::view_copy.out", {tensor({0}), ints({kWrap}), tensor({0})});
  refuses("aten::view_copy.out", {tensor({0, 0}), ints({-1, -1}), tensor({0, 0})});
  refuses("aten::view_copy.out", {turned({2, 3}), ints({3, 2}), turned({3, 2})});
  const EValue parts = list({tensor({kHuge, 0}), tensor({kHuge, 0}), tensor({kHuge, 0})});
  for (const int32_t size : {kHuge, kHuge - 2}) {
    refuses("aten::cat.out", {parts, EValue(0), tensor({size, 0})});
    refuses("aten::pixel_shuffle.out",
            {tensor({0, 9, kHuge, 1}), EValue(3), tensor({0, 1, size, 3})});
    refuses("aten::pixel_shuffle.out",
            {tensor({0, 9, 1, kHuge}), EValue(3), tensor({0, 1, 3, size})});
  }
  for (const int32_t size : {kHuge, kHuge - 8}) {
    refuses("aten::pixel_unshuffle.out",
            {tensor({0, kHuge, 3, 3}), EValue(3), tensor({0, size, 1, 1})});
  }
  refuses("aten::constant_pad_nd.out",
          {tensor({kHuge, 0}), ints({0, 0, kHuge, kHuge}), EValue(0), tensor({kHuge - 2, 0})});
  // 92,683 * 92,682 / 2 pairs are 2^32 and 55,607.
  refuses("aten::_pdist_forward.out", {tensor({92683, 0}), EValue(2.0), tensor({55607})});
  refuses("quantized_decomposed::embedding_2bit.out",
          {tensor({0, 1 << 30}, ScalarType::Byte), tensor({0}), EValue(), EValue(-2), EValue(1),
           tensor({1}, ScalarType::Long), tensor({1, 0})});
  refuses("aten::rand.out", {ints({kWrap + 2}), tensor({2})});
  refuses("aten::arange.start_out", {EValue(0), EValue(double{kWrap} + 2), EValue(1), tensor({2})});
}

TEST_P(Refused, ConvolutionsWhoseOutputsFitWhenCut) {
  const std::vector<int64_t> most = {kHuge};
  refuses("aten::convolution.out",
          {tensor({0, 1, 3}), tensor({1, 1, 1}), EValue(), ints({1}), ints(most), ints({1}),
           EValue(false), ints({0}), EValue(1), tensor({0, 1, 1})});
  refuses("petrel::int8_convolution.out",
          {tensor({0, 1, 3}, ScalarType::Char), tensor({1, 1, 1}, ScalarType::Char), EValue(),
           tensor({1}, ScalarType::Int), tensor({1}, ScalarType::Char).set<int8_t>({1}), ints({1}),
           ints(most), ints({1}), EValue(1), EValue(0), EValue(0), EValue(-128), EValue(127),
           type(ScalarType::Char), tensor({0, 1, 1}, ScalarType::Char)});
}

TEST_P(Refused, NumbersOfIntegersThatShiftTooFar) {
  const EValue zero(0), one(1), least(-128), most(127), levels = type(ScalarType::Char);
  const auto chars = [this](std::vector<int32_t> sizes) -> Held& {
    return tensor(std::move(sizes), ScalarType::Char);
  };
  for (const int shift : {0, -1, 63, 127}) {
    Held& shifts = tensor({1}, ScalarType::Char).set<int8_t>({static_cast<int8_t>(shift)});
    Held& multipliers = tensor({1}, ScalarType::Int).set<int32_t>({1});
    refuses("petrel::int8_linear.out", {chars({1, 1}), chars({1, 1}), EValue(), multipliers, shifts,
                                        zero, zero, least, most, levels, chars({1, 1})});
    refuses("petrel::int8_convolution.out",
            {chars({1, 1, 1}), chars({1, 1, 1}), EValue(), multipliers, shifts, ints({1}),
             ints({0}), ints({1}), one, zero, zero, least, most, levels, chars({1, 1, 1})});
  }
  for (const bool are_shifts : {false, true}) {
    Held& multipliers = are_shifts ? tensor({4}, ScalarType::Int) : turned({2, 2}, ScalarType::Int);
    Held& shifts = are_shifts ? turned({2, 2}, ScalarType::Char) : chars({4});
    refuses("petrel::int8_linear.out",
            {chars({1, 1}), chars({4, 1}), EValue(), multipliers, shifts.set<int8_t>({1, 1, 1, 1}),
             zero, zero, least, most, levels, chars({1, 4})});
  }
  refuses("petrel::int8_average.out",
          {chars({1, 1}), ints({0, 1, kHuge}), ints({0, 1, kHuge}), zero, one, EValue(62), zero,
           least, most, levels, chars({1, 1})});
  Held& nothing = tensor({0}, ScalarType::Int);
  refuses("petrel::int8_norm.out", {chars({1, 2}), EValue(2), one, nothing, nothing, one, one, one,
                                    zero, least, most, levels, chars({1, 2})});
}

TEST_P(Refused, RandomNumbersOfOtherKinds) {
  for (const char* name : {"aten::rand.out", "aten::randn.out"}) {
    refuses(name, {ints({2}), tensor({2}, ScalarType::Int)});
    refuses(name, {ints(std::vector<int64_t>(17, 1)), tensor({1})});
    refuses(name, {ints({-1}), tensor({2})});
    refuses(name, {ints({3}), tensor({2})});
  }
  const EValue half(0.5), yes(true);
  const auto mask = [this](std::vector<int32_t> sizes) -> Held& {
    return tensor(std::move(sizes), ScalarType::Bool);
  };
  const char* dropout = "aten::native_dropout.out";
  refuses(dropout,
          {tensor({2}, ScalarType::Int), half, yes, tensor({2}, ScalarType::Int), mask({2})});
  refuses(dropout, {tensor({2}), half, yes, tensor({2}, ScalarType::Double), mask({2})});
  refuses(dropout, {tensor({2}), half, yes, tensor({2}), tensor({2})});
  refuses(dropout, {tensor({2}), half, yes, tensor({1}), mask({2})});
  refuses(dropout, {tensor({2}), half, yes, tensor({2}), mask({1})});
  refuses(dropout, {turned({2, 2}), half, yes, square(), mask({2, 2})});
  refuses(dropout, {square(), half, yes, turned({2, 2}), mask({2, 2})});
  refuses(dropout, {square(), half, yes, square(), turned({2, 2}, ScalarType::Bool)});
  refuses(dropout, {tensor({2}), EValue(2.0), yes, tensor({2}), mask({2})});
}

// Bounds and summands of fewer elements, in whose memory the result would be.
TEST_P(Refused, OperandsThatAreNarrowerThanTheResultInTheirPlace) {
  std::vector<uint8_t> order = {0};
  std::vector<int64_t> strides = {0};
  std::vector<int32_t> one = {1}, four = {4};
  float memory[4] = {};
  const auto over = [&](std::vector<int32_t>& sizes, ScalarType type, size_t bytes) {
    TensorImpl impl(type, 1, sizes.data(), nullptr, order.data(), strides.data());
    EXPECT_EQ(impl.set_data(memory, bytes), Error::Ok);
    return impl;
  };
  TensorImpl small = over(one, ScalarType::Float, 4), large = over(four, ScalarType::Float, 16);
  const EValue few{Tensor(&small)}, out{Tensor(&large)}, none;
  refuses("aten::clamp.Tensor_out", {few, tensor({4}), none, out});
  refuses("aten::clamp.Tensor_out", {tensor({4}), few, none, out});
  refuses("aten::clamp.Tensor_out", {tensor({4}), none, few, out});
  TensorImpl byte = over(one, ScalarType::Char, 1), bytes = over(four, ScalarType::Char, 4);
  const EValue level{Tensor(&byte)}, levels{Tensor(&bytes)}, zero(0), unit(1);
  Held& other = tensor({4}, ScalarType::Char);
  for (const bool is_first : {true, false}) {
    const EValue a = is_first ? level : EValue(other), b = is_first ? EValue(other) : level;
    refuses("petrel::int8_mul.out", {a, b, zero, zero, unit, unit, zero, EValue(-128), EValue(127),
                                     type(ScalarType::Char), levels});
  }
}

TEST_P(Refused, SourcesInAnotherOrder) {
  Held& mask = tensor({2, 2}, ScalarType::Bool).set<uint8_t>({1, 1, 1, 1});
  refuses("aten::masked_scatter.out", {square(), mask, turned({2, 2}), square()});
}

PETREL_FOR_BOTH_SETS(Refused);

}  // namespace
}  // namespace petrel::runtime
