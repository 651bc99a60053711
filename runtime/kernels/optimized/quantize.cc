// SPDX-License-Identifier: Apache-2.0
//
// Quantising f32 to int8 and uint8 and back, by one scale, by one for each index along an axis,
// or by one for each row. Results are bit for bit those of the portable kernels.
#include <cmath>
#include <cstdint>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/optimized/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/quantize.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/levels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

void ToSigned(const float* x, int8_t* out, size_t n, float inverse, float zero_point, float low,
              float high) {
  levels::ToLevels(x, out, n, inverse, zero_point, low, high);
}
void ToUnsigned(const float* x, uint8_t* out, size_t n, float inverse, float zero_point, float low,
                float high) {
  levels::ToLevels(x, out, n, inverse, zero_point, low, high);
}
void ToTokens(const float* x, int8_t* out, size_t n, double inverse, double zero_point, double low,
              double high) {
  levels::ToLevelsOfToken(x, out, n, inverse, zero_point, low, high);
}
void FromSigned(const int8_t* x, float* out, size_t n, float zero_point, float scale) {
  levels::FromLevels(x, out, n, zero_point, scale);
}
void FromUnsigned(const uint8_t* x, float* out, size_t n, float zero_point, float scale) {
  levels::FromLevels(x, out, n, zero_point, scale);
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

PETREL_EXPORT(ToSigned);
PETREL_EXPORT(ToUnsigned);
PETREL_EXPORT(ToTokens);
PETREL_EXPORT(FromSigned);
PETREL_EXPORT(FromUnsigned);

constexpr size_t kPiece = 4096;
// Numbers up to here are whole in float, and so are their sums with levels.
constexpr int64_t kMostWhole = int64_t{1} << 22;

bool is_byte(const Tensor& tensor) {
  return tensor.scalar_type() == ScalarType::Char || tensor.scalar_type() == ScalarType::Byte;
}

// What the call names as range and type of the levels, arguments `first` on, which fits `tensor`.
struct Range {
  Range(KernelArgs& args, size_t first)
      : min(args.integer(first)),
        max(args.integer(first + 1)),
        dtype(args.optional_scalar_type(first + 2)) {}

  bool fits(const Tensor& tensor) const {
    const bool is_signed = tensor.scalar_type() == ScalarType::Char;
    return is_byte(tensor) && dtype == tensor.scalar_type() && min <= max &&
           min >= (is_signed ? INT8_MIN : 0) && max <= (is_signed ? INT8_MAX : UINT8_MAX);
  }

  int64_t min, max;
  std::optional<ScalarType> dtype;
};

// body(begin, count) over pieces of n elements.
template <typename Body>
void in_pieces(size_t n, double nanoseconds, Body body) {
  parallel_for((n + kPiece - 1) / kPiece, nanoseconds * kPiece, [&](size_t begin, size_t end) {
    for (size_t i = begin * kPiece; i < n && i < end * kPiece; i += kPiece) {
      body(i, n - i < kPiece ? n - i : kPiece);
    }
  });
}

void from_levels(const Tensor& x, size_t at, float* out, size_t n, double zero_point,
                 double scale) {
  const auto zero = static_cast<float>(zero_point), step = static_cast<float>(scale);
  if (x.scalar_type() == ScalarType::Char) {
    PETREL_DISPATCH(FromSigned)(x.const_data_ptr<int8_t>() + at, out, n, zero, step);
  } else {
    PETREL_DISPATCH(FromUnsigned)(x.const_data_ptr<uint8_t>() + at, out, n, zero, step);
  }
}

double number_of(const Tensor& tensor, size_t i) {
  return portable::loader<double>(tensor.scalar_type())(tensor.const_data_ptr(), i);
}

// One for each of `count` groups; whole numbers of a type that is not that of `levels`, so that
// differences do not wrap.
bool are_zero_points(const std::optional<Tensor>& numbers, const Tensor& levels, size_t count) {
  if (!numbers) return true;
  return (numbers->scalar_type() == ScalarType::Long ||
          numbers->scalar_type() == ScalarType::Int) &&
         numbers->scalar_type() != levels.scalar_type() && is_contiguous(*numbers) &&
         numbers->numel() == count;
}

bool are_scales(const Tensor& numbers, ScalarType type, size_t count) {
  return numbers.scalar_type() == type && is_contiguous(numbers) && numbers.numel() == count;
}

bool are_rows(const Tensor& x, const Tensor& out, size_t* rows, size_t* row) {
  if (x.dim() == 0 || x.numel() == 0 || resize_tensor(out, x.sizes()) != Error::Ok ||
      !is_contiguous(x) || !is_contiguous(out)) {
    return false;
  }
  *row = static_cast<size_t>(x.size(x.dim() - 1));
  *rows = x.numel() / *row;
  return true;
}

}  // namespace

void quantize_per_tensor_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 7);
  const Tensor x = args.tensor(0);
  const double scale = args.real(1);
  const int64_t zero_point = args.integer(2);
  const Range range(args, 3);
  const Tensor out = args.out(6);
  if (!args.ok()) return;
  if (!is_float(x) || !range.fits(out) || zero_point < -kMostWhole || zero_point > kMostWhole ||
      resize_tensor(out, x.sizes()) != Error::Ok || !same_layout(x, out)) {
    return portable::quantize_per_tensor_out(context, raw);
  }
  const auto inverse = static_cast<float>(1.0 / scale);
  const auto zero = static_cast<float>(zero_point);
  const auto low = static_cast<float>(range.min), high = static_cast<float>(range.max);
  in_pieces(x.numel(), 0.15, [&](size_t i, size_t n) {
    const float* from = x.const_data_ptr<float>() + i;
    if (out.scalar_type() == ScalarType::Char) {
      PETREL_DISPATCH(ToSigned)
      (from, out.mutable_data_ptr<int8_t>() + i, n, inverse, zero, low, high);
    } else {
      PETREL_DISPATCH(ToUnsigned)
      (from, out.mutable_data_ptr<uint8_t>() + i, n, inverse, zero, low, high);
    }
  });
}

void dequantize_per_tensor_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 8);
  const Tensor x = args.tensor(0);
  const double scale = args.real(1);
  const int64_t zero_point = args.integer(2);
  const Range range(args, 3);
  const auto out_dtype = args.optional_scalar_type(6);
  const Tensor out = args.out(7);
  if (!args.ok()) return;
  if (!is_float(out) || !range.fits(x) ||
      out_dtype.value_or(ScalarType::Float) != ScalarType::Float || zero_point < -kMostWhole ||
      zero_point > kMostWhole || resize_tensor(out, x.sizes()) != Error::Ok ||
      !same_layout(x, out)) {
    return portable::dequantize_per_tensor_out(context, raw);
  }
  in_pieces(x.numel(), 0.15, [&](size_t i, size_t n) {
    from_levels(x, i, out.mutable_data_ptr<float>() + i, n, static_cast<double>(zero_point), scale);
  });
}

void dequantize_per_channel_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 9);
  const Tensor x = args.tensor(0);
  const Tensor scales = args.tensor(1);
  const std::optional<Tensor> zero_points = args.optional_tensor(2);
  int64_t axis = args.integer(3);
  const Range range(args, 4);
  const auto out_dtype = args.optional_scalar_type(7);
  const Tensor out = args.out(8);
  if (!args.ok()) return;
  if (axis < 0) axis += x.dim();
  const bool has_axis = axis >= 0 && axis < x.dim();
  const size_t count = has_axis ? static_cast<size_t>(x.size(axis)) : 0;
  size_t rows = 0, row = 0;
  if (!has_axis || !range.fits(x) || !is_float(out) ||
      out_dtype.value_or(ScalarType::Float) != ScalarType::Float ||
      !are_scales(scales, ScalarType::Float, count) || !are_zero_points(zero_points, x, count) ||
      !are_rows(x, out, &rows, &row)) {
    return portable::dequantize_per_channel_out(context, raw);
  }
  const size_t inner =
      portable::product(x.sizes(), static_cast<size_t>(axis) + 1, static_cast<size_t>(x.dim()));
  parallel_for(x.numel() / inner, 5 + 0.15 * static_cast<double>(inner),
               [&](size_t begin, size_t end) {
                 for (size_t run = begin; run < end; ++run) {
                   const size_t g = run % count;
                   from_levels(x, run * inner, out.mutable_data_ptr<float>() + run * inner, inner,
                               zero_points ? number_of(*zero_points, g) : 0.0,
                               scales.const_data_ptr<float>()[g]);
                 }
               });
}

void quantize_per_token_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 7);
  const Tensor x = args.tensor(0);
  const Tensor scales = args.tensor(1);
  const Tensor zero_points = args.tensor(2);
  const Range range(args, 3);
  const Tensor out = args.out(6);
  if (!args.ok()) return;
  size_t rows = 0, row = 0;
  if (!is_float(x) || !range.fits(out) || out.scalar_type() != ScalarType::Char ||
      !are_rows(x, out, &rows, &row) || !are_scales(scales, ScalarType::Double, rows) ||
      !are_zero_points(zero_points, out, rows)) {
    return portable::quantize_per_token_out(context, raw);
  }
  parallel_for(rows, 0.3 * static_cast<double>(row), [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) {
      PETREL_DISPATCH(ToTokens)
      (x.const_data_ptr<float>() + r * row, out.mutable_data_ptr<int8_t>() + r * row, row,
       1.0 / scales.const_data_ptr<double>()[r], number_of(zero_points, r),
       static_cast<double>(range.min), static_cast<double>(range.max));
    }
  });
}

void dequantize_per_token_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 8);
  const Tensor x = args.tensor(0);
  const Tensor scales = args.tensor(1);
  const Tensor zero_points = args.tensor(2);
  const Range range(args, 3);
  const auto out_dtype = args.optional_scalar_type(6);
  const Tensor out = args.out(7);
  if (!args.ok()) return;
  size_t rows = 0, row = 0;
  bool is_fast = is_float(out) && range.fits(x) &&
                 out_dtype.value_or(ScalarType::Float) == ScalarType::Float &&
                 are_rows(x, out, &rows, &row) && are_scales(scales, ScalarType::Double, rows) &&
                 are_zero_points(zero_points, x, rows);
  // A product in double, rounded to float, is that in float where the scale is a float, and levels
  // and zero points have few bits.
  for (size_t r = 0; is_fast && r < rows; ++r) {
    const double scale = scales.const_data_ptr<double>()[r];
    is_fast = static_cast<double>(static_cast<float>(scale)) == scale &&
              std::fabs(number_of(zero_points, r)) <= UINT8_MAX;
  }
  if (!is_fast) return portable::dequantize_per_token_out(context, raw);
  parallel_for(rows, 5 + 0.15 * static_cast<double>(row), [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) {
      from_levels(x, r * row, out.mutable_data_ptr<float>() + r * row, row,
                  number_of(zero_points, r), scales.const_data_ptr<double>()[r]);
    }
  });
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
