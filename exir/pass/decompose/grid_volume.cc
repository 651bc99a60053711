// SPDX-License-Identifier: Apache-2.0
//
// grid_sample of volumes [N, C, D, H, W]: for each of the corners around a place its number
// in the volume, whether it lies inside, and its weight, each [N, 1, places].
#include <cstddef>
#include <utility>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Sizes;

enum Padding : int64_t { kZeros, kBorder, kReflection };

// One of the elements along a dim that a place reads.
struct Tap {
  Value* at;      // i64, 0 where not inside
  Value* inside;  // bool
  Value* weight;  // null: 1
};

// place mirrored at low and high until it is between them.
BuiltValue reflected(Builder& b, Value* place, double low, double high) {
  const double span = high - low;
  if (span == 0) return b.call(aten::mul_Scalar, {place, 0.0});
  PETREL_ASSIGN_OR_RETURN(Value * far, b.call(aten::add_Scalar, {place, -low}));
  PETREL_ASSIGN_OR_RETURN(far, b.call(aten::abs, {far}));
  PETREL_ASSIGN_OR_RETURN(Value * extra, b.call(aten::fmod_Scalar, {far, span}));
  PETREL_ASSIGN_OR_RETURN(Value * both, b.call(aten::fmod_Scalar, {far, 2 * span}));
  PETREL_ASSIGN_OR_RETURN(Value * is_back, b.call(aten::ge_Scalar, {both, span}));
  PETREL_ASSIGN_OR_RETURN(Value * back, b.call(aten::neg, {extra}));
  PETREL_ASSIGN_OR_RETURN(back, b.call(aten::add_Scalar, {back, span}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::where_self, {is_back, back, extra}));
  return b.call(aten::add_Scalar, {y, low});
}

// Where in a dim of `size` elements the numbers of the grid, from -1 to 1, are.
BuiltValue place_of(Builder& b, Value* number, int64_t size, int64_t padding, bool align) {
  const auto n = static_cast<double>(size);
  PETREL_ASSIGN_OR_RETURN(Value * place, b.call(aten::add_Scalar, {number, 1.0}));
  PETREL_ASSIGN_OR_RETURN(place, b.call(aten::mul_Scalar, {place, (align ? n - 1 : n) / 2}));
  if (!align) {
    PETREL_ASSIGN_OR_RETURN(place, b.call(aten::add_Scalar, {place, -0.5}));
  }
  if (padding == kReflection) {
    PETREL_ASSIGN_OR_RETURN(place, reflected(b, place, align ? 0 : -0.5, align ? n - 1 : n - 0.5));
  }
  if (padding == kZeros) return place;
  return b.call(aten::clamp, {place, 0, n - 1});
}

absl::StatusOr<Tap> tap(Builder& b, Value* whole, int64_t size, Value* weight) {
  PETREL_ASSIGN_OR_RETURN(Value * low, b.call(aten::ge_Scalar, {whole, 0}));
  PETREL_ASSIGN_OR_RETURN(Value * high, b.call(aten::le_Scalar, {whole, size - 1}));
  PETREL_ASSIGN_OR_RETURN(Value * inside, b.binary(aten::logical_and, low, high));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, whole->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(Value * at, b.call(aten::where_self, {inside, whole, zero}));
  PETREL_ASSIGN_OR_RETURN(at, b.cast(at, ScalarType::kLong));
  return Tap{at, inside, weight};
}

absl::StatusOr<std::vector<Tap>> taps(Builder& b, Value* place, int64_t size, bool is_nearest) {
  if (is_nearest) {
    PETREL_ASSIGN_OR_RETURN(Value * whole, b.call(aten::round, {place}));
    PETREL_ASSIGN_OR_RETURN(Tap only, tap(b, whole, size, nullptr));
    return std::vector<Tap>{only};
  }
  PETREL_ASSIGN_OR_RETURN(Value * before, b.call(aten::floor, {place}));
  PETREL_ASSIGN_OR_RETURN(Value * after, b.call(aten::add_Scalar, {before, 1.0}));
  PETREL_ASSIGN_OR_RETURN(Value * near_after, b.binary(aten::sub_Tensor, place, before));
  PETREL_ASSIGN_OR_RETURN(Value * near_before, b.binary(aten::sub_Tensor, after, place));
  PETREL_ASSIGN_OR_RETURN(Tap first, tap(b, before, size, near_before));
  PETREL_ASSIGN_OR_RETURN(Tap second, tap(b, after, size, near_after));
  return std::vector<Tap>{first, second};
}

// What the corner z, y, x adds: [N, C, places].
BuiltValue corner(Builder& b, Value* volume, const Sizes& sizes, const Tap& z, const Tap& y,
                  const Tap& x) {
  PETREL_ASSIGN_OR_RETURN(Value * at, b.call(aten::mul_Scalar, {z.at, sizes[3]}));
  PETREL_ASSIGN_OR_RETURN(at, b.binary(aten::add_Tensor, at, y.at));
  PETREL_ASSIGN_OR_RETURN(at, b.call(aten::mul_Scalar, {at, sizes[4]}));
  PETREL_ASSIGN_OR_RETURN(at, b.binary(aten::add_Tensor, at, x.at));
  PETREL_ASSIGN_OR_RETURN(at, b.expand(at, {sizes[0], sizes[1], sizes_of(at)[2]}));
  PETREL_ASSIGN_OR_RETURN(Value * sum, b.call(aten::gather, {volume, 2, at}));
  PETREL_ASSIGN_OR_RETURN(Value * inside, b.binary(aten::logical_and, z.inside, y.inside));
  PETREL_ASSIGN_OR_RETURN(inside, b.binary(aten::logical_and, inside, x.inside));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, sum->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(sum, b.call(aten::where_self, {inside, sum, zero}));
  if (z.weight == nullptr) return sum;
  PETREL_ASSIGN_OR_RETURN(Value * weight, b.binary(aten::mul_Tensor, z.weight, y.weight));
  PETREL_ASSIGN_OR_RETURN(weight, b.binary(aten::mul_Tensor, weight, x.weight));
  return b.binary(aten::mul_Tensor, sum, weight);
}

Rewritten grid_sample_volume(Builder& b, Node& node) {
  Value* volume = tensor_at(node, arg::input);
  Value* grid = tensor_at(node, arg::grid);
  const ScalarType dtype = volume->tensor().dtype;
  const int64_t mode = fixed_int(node.argument(arg::interpolation_mode));
  const int64_t padding = fixed_int(node.argument(arg::padding_mode));
  if (volume->tensor().rank() != 5 || mode < 0 || mode > 1 || padding < kZeros ||
      padding > kReflection || grid->tensor().dtype != dtype ||
      (dtype != ScalarType::kFloat && dtype != ScalarType::kDouble)) {
    return false;
  }
  const Sizes sizes = sizes_of(volume);
  for (size_t i = 2; i < 5; ++i) {
    if (sizes[i] < 1) return false;
  }
  const bool align = node.argument(arg::align_corners) == Argument(true);
  const Sizes out = sizes_of(node.result());
  PETREL_ASSIGN_OR_RETURN(volume,
                          b.view(volume, {sizes[0], sizes[1], sizes[2] * sizes[3] * sizes[4]}));
  PETREL_ASSIGN_OR_RETURN(grid, b.view(grid, {sizes[0], out[2] * out[3] * out[4], 3}));
  PETREL_ASSIGN_OR_RETURN(grid, b.swap_last_two(grid));
  std::vector<std::vector<Tap>> axes;  // x, y, z
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t size = sizes[static_cast<size_t>(4 - i)];
    PETREL_ASSIGN_OR_RETURN(Value * number, b.slice(grid, 1, i, i + 1));
    PETREL_ASSIGN_OR_RETURN(Value * place, place_of(b, number, size, padding, align));
    PETREL_ASSIGN_OR_RETURN(std::vector<Tap> of_axis, taps(b, place, size, mode == 1));
    axes.push_back(std::move(of_axis));
  }
  Value* sum = nullptr;
  for (const Tap& z : axes[2]) {
    for (const Tap& y : axes[1]) {
      for (const Tap& x : axes[0]) {
        PETREL_ASSIGN_OR_RETURN(Value * one, corner(b, volume, sizes, z, y, x));
        if (sum != nullptr) {
          PETREL_ASSIGN_OR_RETURN(one, b.binary(aten::add_Tensor, sum, one));
        }
        sum = one;
      }
    }
  }
  return done(b, node, b.view(sum, out));
}

constexpr Rewrite kRows[] = {
    {aten::grid_sampler_3d, grid_sample_volume},
};

}  // namespace

Rewrites grid_volume_decompositions() { return kRows; }

}  // namespace petrel::exir
