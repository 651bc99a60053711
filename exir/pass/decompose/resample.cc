// SPDX-License-Identifier: Apache-2.0
//
// Resampling that no kernel does, dim by dim. With static sizes each result is
// a sum of a few elements of the input at known places with known weights:
//
//   y = w0 * index_select(x, dim, at0) + w1 * index_select(x, dim, at1) + ...
//
// so that a NaN or an infinity reaches only what it reaches in torch. Bytes are rounded after each
// dim, the last of which comes first.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/pass/decompose/resample_varying.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// No place in an image is as far.
constexpr double kFarthest = 1e12;

// Tap k of output i reads place at[k * outputs + i] with the weight there; no weights: 1.
struct Taps {
  size_t count;
  size_t outputs;
  std::vector<double> at;
  std::vector<double> weight;

  Taps(int64_t taps, int64_t out, bool weighted)
      : count(static_cast<size_t>(taps)),
        outputs(static_cast<size_t>(out)),
        at(count * outputs),
        weight(weighted ? count * outputs : 0) {}

  void set(size_t k, int64_t i, double place, double weight_there) {
    const size_t index = k * outputs + static_cast<size_t>(i);
    at[index] = place;
    if (!weight.empty()) weight[index] = weight_there;
  }
  // What tap k has in one of the two.
  std::vector<double> of_tap(size_t k, const std::vector<double>& table) const {
    const auto begin = table.begin() + static_cast<ptrdiff_t>(k * outputs);
    return std::vector<double>(begin, begin + static_cast<ptrdiff_t>(outputs));
  }
};

// One dim of the input and of the output. torch computes in float32.
struct Axis {
  int64_t in;
  int64_t out;
  bool align_corners;
  double factor;  // as the model gave it; 0: sizes decide

  float scale() const {
    if (align_corners) {
      return out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0.0f;
    }
    return factor > 0 ? static_cast<float>(1 / factor)
                      : static_cast<float>(in) / static_cast<float>(out);
  }
  // The place in the input that output i is the middle of.
  float source(int64_t i) const {
    if (align_corners) return scale() * static_cast<float>(i);
    return scale() * (static_cast<float>(i) + 0.5f) - 0.5f;
  }
  double clamp(int64_t at) const {
    return static_cast<double>(std::clamp<int64_t>(at, 0, std::max<int64_t>(in - 1, 0)));
  }
};

Taps nearest(const Axis& axis, float shift) {
  Taps taps(1, axis.out, false);
  for (int64_t i = 0; i < axis.out; ++i) {
    const float at = (static_cast<float>(i) + shift) * axis.scale();
    taps.set(0, i, axis.clamp(static_cast<int64_t>(std::floor(at))), 1);
  }
  return taps;
}

Taps linear(const Axis& axis) {
  Taps taps(2, axis.out, true);
  for (int64_t i = 0; i < axis.out; ++i) {
    const float source = std::max(axis.source(i), 0.0f);
    const auto low = static_cast<int64_t>(source);
    const float share = source - static_cast<float>(low);
    taps.set(0, i, axis.clamp(low), 1.0f - share);
    taps.set(1, i, axis.clamp(low + 1), share);
  }
  return taps;
}

// Cubic convolution with parameter a.
double cubic(double x, double a) {
  x = std::fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

Taps bicubic(const Axis& axis) {
  Taps taps(4, axis.out, true);
  for (int64_t i = 0; i < axis.out; ++i) {
    const float source = axis.source(i);
    const float low = std::floor(source);
    const double share = source - low;
    for (int64_t k = 0; k < 4; ++k) {
      taps.set(static_cast<size_t>(k), i, axis.clamp(static_cast<int64_t>(low) + k - 1),
               cubic(share + 1 - static_cast<double>(k), -0.75));
    }
  }
  return taps;
}

// How far a filter reaches that is widened where the image shrinks, so that every element of
// the input counts.
double support_of(const Axis& axis, bool is_cubic) {
  return (is_cubic ? 2 : 1) * std::max<double>(axis.scale(), 1.0);
}

// How many elements one output is the sum of: no more than there are.
int64_t taps_of(const Axis& axis, bool is_cubic) {
  const double most = std::ceil(support_of(axis, is_cubic)) * 2 + 1;
  return most < static_cast<double>(axis.in) ? static_cast<int64_t>(most) : axis.in;
}

// Aligned corners change the scale, but not, as in torch, where the first output has its middle.
Taps antialiased(const Axis& axis, bool is_cubic) {
  const double scale = axis.scale();
  const double wide = std::max(scale, 1.0);
  const double support = support_of(axis, is_cubic);
  Taps taps(taps_of(axis, is_cubic), axis.out, true);
  std::vector<double> weights(taps.count);
  for (int64_t i = 0; i < axis.out; ++i) {
    const double center = scale * (static_cast<double>(i) + 0.5);
    const auto begin = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const auto end = std::min<int64_t>(static_cast<int64_t>(center + support + 0.5), axis.in);
    std::fill(weights.begin(), weights.end(), 0);
    double sum = 0;
    for (int64_t j = begin; j < end; ++j) {
      const double x = (static_cast<double>(j) - center + 0.5) / wide;
      const double w = is_cubic ? cubic(x, -0.5) : std::max(0.0, 1 - std::fabs(x));
      const auto tap = static_cast<size_t>(j - begin);
      if (tap < taps.count) weights[tap] = w;
      sum += w;
    }
    for (size_t k = 0; k < taps.count; ++k) {
      // Places of no weight repeat one that counts.
      const int64_t place = std::min(begin + static_cast<int64_t>(k), end - 1);
      taps.set(k, i, axis.clamp(place), sum != 0 ? weights[k] / sum : 0);
    }
  }
  return taps;
}

// torch resamples bytes with weights of 15 bits and a sign: here the floats that these are, whose
// products with bytes and their sums are exact.
void round_weights(Taps* taps) {
  double most = 0;
  for (const double w : taps->weight) most = std::max(most, std::fabs(w));
  double unit = 1;
  while (unit < (1 << 22) && std::floor(0.5 + most * unit * 2) < (1 << 15)) unit *= 2;
  for (double& w : taps->weight) w = std::copysign(std::floor(0.5 + std::fabs(w) * unit), w) / unit;
}

// The bytes nearest to x, in floats.
BuiltValue nearest_bytes(Builder& b, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * half, b.scalar(0.5, x->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::add_Tensor, x, half));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::floor, {y}));
  return b.call(aten::clamp, {y, 0, 255});
}

BuiltValue along(Builder& b, Value* x, int64_t dim, const Taps& taps) {
  const auto count = static_cast<int64_t>(taps.outputs);
  Ints shape(x->tensor().rank() - static_cast<size_t>(dim), 1);
  shape[0] = count;
  Value* sum = nullptr;
  for (size_t k = 0; k < taps.count; ++k) {
    const bool weighted = !taps.weight.empty();
    const std::vector<double> weights =
        weighted ? taps.of_tap(k, taps.weight) : std::vector<double>();
    // One of them stays where all round to 0, as bytes of a row of millions do.
    const bool is_needed = sum == nullptr && k + 1 == taps.count;
    if (weighted && !is_needed &&
        std::all_of(weights.begin(), weights.end(), [](double w) { return w == 0; })) {
      continue;
    }
    PETREL_ASSIGN_OR_RETURN(Value * at, computed_constant(b, "resample.at", ScalarType::kLong,
                                                          {count}, taps.of_tap(k, taps.at)));
    PETREL_ASSIGN_OR_RETURN(Value * part, b.call(aten::index_select, {x, dim, at}));
    if (weighted) {
      PETREL_ASSIGN_OR_RETURN(Value * weight, computed_constant(b, "resample.weight",
                                                                x->tensor().dtype, shape, weights));
      PETREL_ASSIGN_OR_RETURN(part, b.binary(aten::mul_Tensor, part, weight));
    }
    PETREL_ASSIGN_OR_RETURN(sum, plus_part(b, sum, part));
  }
  return sum;
}

// The scales that the model gave, one per spatial dim; 0 where it gave sizes.
std::vector<double> factors_of(const Node& node, size_t spatial) {
  std::vector<double> factors(spatial, 0);
  if (const Argument* given = find_argument(node, arg::scale_factors)) {
    if (given->is_floats() && given->as_floats().size() == spatial) factors = given->as_floats();
    return factors;
  }
  static constexpr ArgHandle kNames[] = {arg::scales_d, arg::scales_h, arg::scales_w};
  for (size_t i = 0; i < spatial; ++i) {
    const Argument* given =
        find_argument(node, spatial == 1 ? arg::scales : kNames[3 - spatial + i]);
    if (given != nullptr && given->is_number()) factors[i] = fixed_number(*given);
  }
  return factors;
}

bool has_fixed_places(const TensorType& type) {
  for (size_t d = 2; d < type.rank(); ++d) {
    if (!type.size(d).is_constant()) return false;
  }
  return true;
}

// Where sizes vary, kernels of floats compute them, and bytes are rounded once.
Rewritten resample_bytes_as_floats(Builder& b, Node& node) {
  std::vector<Argument> arguments = node.arguments();
  PETREL_ASSIGN_OR_RETURN(Value * x,
                          b.cast(tensor_at(node, arg::self, arg::input), ScalarType::kFloat));
  arguments[0] = Argument(x);
  PETREL_ASSIGN_OR_RETURN(Node * resized, b.node(node.op(), std::move(arguments)));
  PETREL_ASSIGN_OR_RETURN(x, nearest_bytes(b, resized->result()));
  return done(b, node, b.cast(x, ScalarType::kByte));
}

Rewritten bicubic_of_varying_sizes(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self, arg::input);
  const ScalarType dtype = x->tensor().dtype;
  const Sizes in = sizes_of(x);
  const Sizes& out = sizes_of(node.result());
  const std::vector<double> factors = factors_of(node, 2);
  const bool align = node.argument(arg::align_corners) == Argument(true);
  const bool are_bytes = dtype == ScalarType::kByte;
  PETREL_ASSIGN_OR_RETURN(x, b.cast(x, are_bytes ? ScalarType::kFloat : wide_type(dtype)));
  // The last dim comes first, as bytes are rounded after each.
  for (const size_t i : {size_t{1}, size_t{0}}) {
    PETREL_ASSIGN_OR_RETURN(x,
                            bicubic_along(b, x, {2 + i, in[2 + i], out[2 + i], align, factors[i]}));
    if (are_bytes) {
      PETREL_ASSIGN_OR_RETURN(x, nearest_bytes(b, x));
    }
  }
  return done(b, node, b.cast(x, dtype));
}

// Images and lines have kernels.
Rewritten trilinear_of_varying_sizes(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self, arg::input);
  const ScalarType dtype = x->tensor().dtype;
  const Sizes& out = sizes_of(node.result());
  const std::vector<double> factors = factors_of(node, 3);
  const bool align = node.argument(arg::align_corners) == Argument(true);
  PETREL_ASSIGN_OR_RETURN(x, b.cast(x, wide_type(dtype)));
  for (size_t dim = 2; dim < 5; ++dim) {
    PETREL_ASSIGN_OR_RETURN(
        x, linear_along(b, x, {dim, sizes_of(x)[dim], out[dim], align, factors[dim - 2]}));
  }
  return done(b, node, b.cast(x, dtype));
}

Rewritten nearest_of_varying_sizes(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self, arg::input);
  const Sizes& out = sizes_of(node.result());
  const std::vector<double> factors = factors_of(node, out.size() - 2);
  const bool is_exact = absl::StrContains(node.op().name, "nearest_exact");
  for (size_t dim = 2; dim < out.size(); ++dim) {
    const VaryingAxis axis{dim, sizes_of(x)[dim], out[dim], false, factors[dim - 2]};
    PETREL_ASSIGN_OR_RETURN(x, nearest_along(b, x, axis, is_exact));
  }
  return done(b, node, x);
}

Rewritten resample(Builder& b, Node& node) {
  const std::string& name = node.op().name;
  Value* x = tensor_at(node, arg::self, arg::input);
  const size_t spatial = x->tensor().rank() - 2;
  const bool is_nearest = absl::StrContains(name, "nearest");
  const bool are_bytes = x->tensor().dtype == ScalarType::kByte && !is_nearest;
  if (!is_floating_point(x->tensor().dtype) && !are_bytes && !is_nearest) return false;
  if (!has_fixed_places(x->tensor()) || !has_fixed_places(node.result()->tensor())) {
    const bool is_bicubic = absl::StrContains(name, "bicubic");
    if (is_nearest) return nearest_of_varying_sizes(b, node);
    if (is_bicubic && absl::EndsWith(name, "_aa")) return false;
    if (is_bicubic) return bicubic_of_varying_sizes(b, node);
    if (are_bytes) return resample_bytes_as_floats(b, node);
    return spatial == 3 ? trilinear_of_varying_sizes(b, node) : Rewritten(false);
  }
  const int corners = node.op().find_arg(arg::align_corners);
  const bool align = corners >= 0 && node.argument(arg::align_corners) == Argument(true);
  const bool smooth = absl::EndsWith(name, "_aa");
  const std::vector<double> factors = factors_of(node, spatial);
  const Sizes& out = sizes_of(node.result());
  if (are_bytes) {
    PETREL_ASSIGN_OR_RETURN(x, b.cast(x, ScalarType::kFloat));
  }
  for (size_t k = 0; k < spatial; ++k) {
    // The order matters where each dim is rounded.
    const size_t i = are_bytes ? spatial - 1 - k : k;
    const Axis axis{sizes_of(x)[2 + i], out[2 + i], align, factors[i]};
    if (axis.in < 1 || axis.out < 1) return false;
    // A factor need not belong to the sizes.
    const double scale = axis.scale();
    if (!(scale * static_cast<double>(axis.out) < kFarthest)) {
      return absl::UnimplementedError(absl::StrCat("scale factor ", factors[i], " of dim ", 2 + i));
    }
    // Each place is the sum of a few elements, or, where the image shrinks, of all that it covers:
    // of each its place and its weight.
    const bool is_cubic = absl::StrContains(name, "cubic");
    PETREL_RETURN_IF_ERROR(check_table({axis.out, smooth ? taps_of(axis, is_cubic) : 4, 2}));
    Taps taps = is_nearest ? nearest(axis, absl::StrContains(name, "nearest_exact") ? 0.5f : 0.0f)
                : smooth   ? antialiased(axis, is_cubic)
                : is_cubic ? bicubic(axis)
                           : linear(axis);
    if (are_bytes) round_weights(&taps);
    PETREL_ASSIGN_OR_RETURN(x, along(b, x, static_cast<int64_t>(2 + i), taps));
    if (are_bytes) {
      PETREL_ASSIGN_OR_RETURN(x, nearest_bytes(b, x));
    }
  }
  if (are_bytes) {
    PETREL_ASSIGN_OR_RETURN(x, b.cast(x, ScalarType::kByte));
  }
  return done(b, node, x);
}

// By sizes and, where the model gave them, factors: so a kernel has it, if sizes vary.
Rewritten antialiased_to_sizes(Builder& b, Node& node) {
  const Sizes& out = sizes_of(node.result());
  const std::vector<double> factors = factors_of(node, 2);
  const auto factor = [&](size_t i) { return factors[i] > 0 ? Argument(factors[i]) : none(); };
  return done(b, node,
              b.call(aten::_upsample_bilinear2d_aa,
                     {tensor_at(node, arg::input), Sizes{out[2], out[3]},
                      node.argument(arg::align_corners), factor(0), factor(1)}));
}

// Floats have a kernel.
Rewritten resample_bytes(Builder& b, Node& node) {
  const bool are_bytes =
      tensor_at(node, arg::self, arg::input)->tensor().dtype == ScalarType::kByte;
  return are_bytes ? resample(b, node) : Rewritten(false);
}

// [-1, 1] in `count` places: the corners, or the middles of as many cells.
std::vector<double> spread(int64_t count, bool align_corners) {
  std::vector<double> places;
  for (int64_t i = 0; i < count; ++i) {
    const double n = static_cast<double>(count);
    const double at = static_cast<double>(i);
    places.push_back(align_corners ? (count > 1 ? 2 * at / (n - 1) - 1 : 0) : (2 * at + 1) / n - 1);
  }
  return places;
}

// [1, count, columns]: the last dim x first, then 1.
BuiltValue table_of_places(Builder& b, const Ints& size, bool align, ScalarType dtype) {
  const auto columns = static_cast<int64_t>(size.size()) + 1;
  int64_t count = 1;
  std::vector<std::vector<double>> axes;
  for (const int64_t extent : size) {
    axes.push_back(spread(extent, align));
    count *= extent;
  }
  std::vector<double> places;
  places.reserve(static_cast<size_t>(count * columns));
  for (int64_t p = 0; p < count; ++p) {
    int64_t rest = p;
    for (size_t i = size.size(); i-- > 0;) {
      places.push_back(axes[i][static_cast<size_t>(rest % size[i])]);
      rest /= size[i];
    }
    places.push_back(1);
  }
  return computed_constant(b, "affine_grid.places", dtype, {1, count, columns}, places);
}

// grid = places [1, H*W, 3] x theta^T [N, 3, 2], rows of places being x, y, 1.
Rewritten affine_grid(Builder& b, Node& node) {
  Value* theta = tensor_at(node, arg::theta);
  const ScalarType dtype = theta->tensor().dtype;
  const Sizes& out = sizes_of(node.result());
  const Sizes size(out.begin() + 1, out.end() - 1);
  const bool align = node.argument(arg::align_corners) == Argument(true);
  // torch.export fixes them.
  for (size_t d = 1; d <= size.size(); ++d) {
    if (!node.result()->tensor().size(d).is_constant()) return false;
  }
  const Ints numbers(size.begin(), size.end());
  PETREL_RETURN_IF_ERROR(check_table({numbers[0], numbers[1], size.size() > 2 ? numbers[2] : 1,
                                      static_cast<int64_t>(size.size()) + 1}));
  PETREL_ASSIGN_OR_RETURN(Value * places, table_of_places(b, numbers, align, dtype));
  PETREL_ASSIGN_OR_RETURN(places, b.expand(places, {out[0], sizes_of(places)[1], out.back() + 1}));
  PETREL_ASSIGN_OR_RETURN(theta, b.swap_last_two(theta));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::bmm, places, theta));
  return done(b, node, b.view(y, out));
}

constexpr Rewrite kRows[] = {
    {aten::upsample_bicubic2d_vec, resample},
    {aten::upsample_bicubic2d, resample},
    {aten::_upsample_bilinear2d_aa_vec, antialiased_to_sizes},
    {aten::_upsample_bilinear2d_aa, resample},
    {aten::_upsample_bicubic2d_aa_vec, resample},
    {aten::_upsample_bicubic2d_aa, resample},
    {aten::_upsample_nearest_exact1d_vec, resample},
    {aten::_upsample_nearest_exact1d, resample},
    {aten::_upsample_nearest_exact2d_vec, resample},
    {aten::_upsample_nearest_exact2d, resample},
    {aten::_upsample_nearest_exact3d_vec, resample},
    {aten::_upsample_nearest_exact3d, resample},
    {aten::upsample_nearest3d_vec, resample},
    {aten::upsample_nearest3d, resample},
    {aten::upsample_trilinear3d_vec, resample},
    {aten::upsample_trilinear3d, resample},
    {aten::upsample_bilinear2d_vec, resample_bytes},
    {aten::affine_grid_generator, affine_grid},
};

}  // namespace

Rewrites resample_decompositions() { return kRows; }

}  // namespace petrel::exir
