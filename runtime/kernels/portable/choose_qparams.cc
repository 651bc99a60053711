// SPDX-License-Identifier: Apache-2.0
//
// Scale and zero point from the values that are to be quantised: for the whole tensor,
// or for each row of the last dim (a token).
//
//   low = min(x, 0), high = max(x, 0), scale = max((high - low) / (quant_max - quant_min), eps)
//   the tensor: zero_point = quant_min - round(low / scale)
//   a row:      from low or from high, whichever of them it is exacter for
#include <algorithm>
#include <limits>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/rounding.h"

namespace petrel::runtime::portable {
namespace {

struct Range {
  double low = 0.0;  // NaN when a value is
  double high = 0.0;
};

// Of `count` elements from `first`; always holds 0.
Range range_of(const Tensor& x, size_t first, size_t count) {
  const auto load = loader<double>(x.scalar_type());
  Range range;
  for (size_t i = first; i < first + count; ++i) {
    const double value = load(x.const_data_ptr(), i);
    if (value != value) return {value, value};
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  return range;
}

double at_least(double value, double bound) {
  return value < bound ? bound : value;  // NaN stays
}

double clamp(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

// Whether `out` can hold scales or zero points, `sizes` of them.
bool prepare(KernelRuntimeContext& context, const Tensor& out, ScalarType type,
             Span<const SizesType> sizes) {
  return check(context, out.scalar_type() == type,
               type == ScalarType::Double ? "scales must be of type Double"
                                          : "zero points must be of type Long") &&
         resize_out(context, out, sizes) && check_contiguous(context, out);
}

}  // namespace

// choose_qparams.Tensor_out(Tensor input, int quant_min, int quant_max, float eps,
//     ScalarType dtype, *, Tensor(a!) scale_out, Tensor(b!) zero_point_out)
void choose_qparams_tensor_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 7);
  const Tensor x = args.tensor(0);
  const int64_t quant_min = args.integer(1);
  const int64_t quant_max = args.integer(2);
  const double eps = args.real(3);
  const Tensor scale_out = args.out(5);
  const Tensor zero_point_out = args.out(6);
  const SizesType one[] = {1};
  constexpr int64_t kBound = std::numeric_limits<int32_t>::max();
  if (!args.ok() || !check_floating(context, x) || !check_contiguous(context, x) ||
      !check(context, x.numel() > 0, "the input has no elements") ||
      !check(context, quant_min >= -kBound && quant_max <= kBound && quant_min < quant_max,
             "quant_min must be below quant_max, both within 32 bits") ||
      !prepare(context, scale_out, ScalarType::Double, {one, 1}) ||
      !prepare(context, zero_point_out, ScalarType::Long, {one, 1})) {
    return;
  }
  const Rounding rounded = rounding_of(x.scalar_type());
  const Range range = range_of(x, 0, static_cast<size_t>(x.numel()));
  const auto levels = static_cast<double>(quant_max - quant_min);
  const double scale = at_least(rounded(rounded(range.high - range.low) / levels), as_float(eps));
  const double below = round_half_even(rounded(range.low / scale));
  // Where the scale is 0, `below` is as far down as integers go.
  const double zero_point =
      clamp(static_cast<double>(quant_min) - static_cast<double>(to_integer(below)),
            static_cast<double>(quant_min), static_cast<double>(quant_max));
  scale_out.mutable_data_ptr<double>()[0] = scale;
  zero_point_out.mutable_data_ptr<int64_t>()[0] = to_integer(zero_point);
}

// choose_qparams_per_token_asymmetric.out(Tensor input, ScalarType dtype, *,
//     Tensor(a!) scale_out, Tensor(b!) zero_point_out)
void choose_qparams_per_token_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor x = args.tensor(0);
  const Tensor scale_out = args.out(2);
  const Tensor zero_point_out = args.out(3);
  if (!args.ok() || !check_floating(context, x) || !check_contiguous(context, x) ||
      !check(context, x.dim() > 0, "the input has no dim") ||
      !check(context, x.sizes()[static_cast<size_t>(x.dim()) - 1] > 0, "the rows are empty")) {
    return;
  }
  SizeArray sizes(x.sizes());
  const auto row = static_cast<size_t>(sizes[sizes.rank - 1]);
  sizes[sizes.rank - 1] = 1;
  if (!prepare(context, scale_out, ScalarType::Double, sizes.span()) ||
      !prepare(context, zero_point_out, ScalarType::Long, sizes.span())) {
    return;
  }
  constexpr double kMin = -128.0;
  constexpr double kMax = 127.0;
  const Rounding rounded = rounding_of(x.scalar_type());
  const auto rows = static_cast<size_t>(scale_out.numel());
  for (size_t r = 0; r < rows; ++r) {
    const Range range = range_of(x, r * row, row);
    const double scale = at_least(rounded(rounded(range.high - range.low) / (kMax - kMin)),
                                  rounded(std::numeric_limits<float>::epsilon()));
    const double low = rounded(range.low / scale);
    const double high = rounded(range.high / scale);
    const bool from_low = rounded(rounded(kMin + low) + rounded(kMax + high)) > 0;
    const double zero_point = from_low ? rounded(kMin - low) : rounded(kMax - high);
    scale_out.mutable_data_ptr<double>()[r] = scale;
    zero_point_out.mutable_data_ptr<int64_t>()[r] =
        to_integer(round_half_even(clamp(zero_point, kMin, kMax)));
  }
}

}  // namespace petrel::runtime::portable
