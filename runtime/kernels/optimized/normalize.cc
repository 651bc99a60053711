// SPDX-License-Identifier: Apache-2.0
//
// Normalisations of contiguous float tensors, in two passes over each group:
// the mean, then the squares of what deviates from it.
#include <cmath>
#include <cstring>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/instruction_sets.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/optimized/normalize.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "runtime/kernels/optimized/row_sum-inl.h"
#include "runtime/kernels/optimized/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace petrel::runtime::optimized {
namespace HWY_NAMESPACE {

// Mean and 1 / sqrt(variance + eps) of a row.
void Moments(const float* row, size_t n, double eps, float* mean, float* inverse) {
  const D d;
  const double average = SumRow(row, n) / static_cast<double>(n);
  const V center = hn::Set(d, static_cast<float>(average));
  const double squares = SumOf(row, n, [=](V x) HWY_ATTR {
    const V far = hn::Sub(x, center);
    return hn::Mul(far, far);
  });
  *mean = static_cast<float>(average);
  *inverse = static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(n) + eps));
}

// out = (in - mean) * inverse * weight + bias, element by element; weight and
// bias may be null.
void NormalizeRow(const float* in, float mean, float inverse, const float* weight,
                  const float* bias, float* out, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V center = hn::Set(d, mean), factor = hn::Set(d, inverse);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V y = hn::Mul(hn::Sub(hn::LoadU(d, in + i), center), factor);
    if (weight != nullptr) y = hn::Mul(y, hn::LoadU(d, weight + i));
    if (bias != nullptr) y = hn::Add(y, hn::LoadU(d, bias + i));
    hn::StoreU(y, d, out + i);
  }
  if (i < n) {
    const size_t rest = n - i;
    V y = hn::Mul(hn::Sub(LoadFirst(in + i, rest), center), factor);
    if (weight != nullptr) y = hn::Mul(y, LoadFirst(weight + i, rest));
    if (bias != nullptr) y = hn::Add(y, LoadFirst(bias + i, rest));
    StoreFirst(y, out + i, rest);
  }
}

// out = (in - center) * factor + shift
void ShiftRow(const float* in, float center, float factor, float shift, float* out, size_t n) {
  const D d;
  const V c = hn::Set(d, center), f = hn::Set(d, factor), s = hn::Set(d, shift);
  MapVectors(in, out, n, [=](V x) HWY_ATTR { return hn::MulAdd(hn::Sub(x, c), f, s); });
}

}  // namespace HWY_NAMESPACE
}  // namespace petrel::runtime::optimized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace petrel::runtime::optimized {
namespace {

PETREL_EXPORT(Moments);
PETREL_EXPORT(NormalizeRow);
PETREL_EXPORT(ShiftRow);

constexpr double kNanoseconds = 0.3;

bool is_plain(const Tensor& tensor, ScalarType type = ScalarType::Float) {
  return tensor.scalar_type() == type && is_contiguous(tensor);
}

// A weight or bias that is left out, or is a plain list of `count` elements.
bool is_factor(const std::optional<Tensor>& tensor, size_t count,
               ScalarType type = ScalarType::Float) {
  return !tensor || (is_plain(*tensor, type) && tensor->numel() == count);
}

const float* data_of(const std::optional<Tensor>& tensor) {
  return tensor ? tensor->const_data_ptr<float>() : nullptr;
}

// Layer norm of half or bfloat16, all tensors of one type, by way of floats.
void narrow_layer_norm(const Tensor& input, size_t n, const std::optional<Tensor>& weight,
                       const std::optional<Tensor>& bias, double eps, const Tensor& out,
                       const Tensor& mean, const Tensor& rstd) {
  const ScalarType type = input.scalar_type();
  parallel_for(input.numel() / n, 3 * kNanoseconds * static_cast<double>(n),
               [&](size_t begin, size_t end) {
                 float row[kNarrowPiece], scale[kNarrowPiece], shift[kNarrowPiece];
                 if (weight) widen(type, weight->const_data_ptr(), 0, scale, n);
                 if (bias) widen(type, bias->const_data_ptr(), 0, shift, n);
                 for (size_t g = begin; g < end; ++g) {
                   float center = 0.0f, inverse = 0.0f;
                   widen(type, input.const_data_ptr(), g * n, row, n);
                   PETREL_DISPATCH(Moments)(row, n, eps, &center, &inverse);
                   PETREL_DISPATCH(NormalizeRow)
                   (row, center, inverse, weight ? scale : nullptr, bias ? shift : nullptr, row, n);
                   narrow(row, type, out.mutable_data_ptr(), g * n, n);
                   narrow(&center, mean.scalar_type(), mean.mutable_data_ptr(), g, 1);
                   narrow(&inverse, rstd.scalar_type(), rstd.mutable_data_ptr(), g, 1);
                 }
               });
}

// native_layer_norm.out(Tensor input, SymInt[] normalized_shape, Tensor? weight,
//   Tensor? bias, float eps, *, out0, mean, rstd)
bool layer_norm(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 8);
  const Tensor input = args.tensor(0);
  const Span<const int64_t> shape = args.int_list(1);
  const std::optional<Tensor> weight = args.optional_tensor(2);
  const std::optional<Tensor> bias = args.optional_tensor(3);
  const double eps = args.real(4);
  const Tensor out = args.out(5);
  const Tensor mean = args.out(6);
  const Tensor rstd = args.out(7);
  if (!args.ok()) return true;
  const size_t rank = input.sizes().size();
  const ScalarType type = input.scalar_type();
  const auto is_result = [type](const Tensor& t) { return t.scalar_type() == type || is_float(t); };
  if ((!is_float(input) && !is_narrow(type)) || !is_plain(input, type) ||
      out.scalar_type() != type || !is_result(mean) || !is_result(rstd) || shape.empty() ||
      shape.size() > rank || input.numel() == 0) {
    return false;
  }
  const size_t leading = rank - shape.size();
  portable::SizeArray stats(input.sizes());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != input.sizes()[leading + i]) return false;
    stats[leading + i] = 1;
  }
  const size_t n = portable::product(input.sizes(), leading, rank);
  if (!is_factor(weight, n, type) || !is_factor(bias, n, type) ||
      (is_narrow(type) && n > kNarrowPiece) || resize_tensor(out, input.sizes()) != Error::Ok ||
      resize_tensor(mean, stats.span()) != Error::Ok ||
      resize_tensor(rstd, stats.span()) != Error::Ok || !is_contiguous(out) ||
      !is_contiguous(mean) || !is_contiguous(rstd)) {
    return false;
  }
  if (is_narrow(type)) {
    narrow_layer_norm(input, n, weight, bias, eps, out, mean, rstd);
    return true;
  }
  const float* in = input.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  parallel_for(input.numel() / n, kNanoseconds * static_cast<double>(n),
               [&](size_t begin, size_t end) {
                 for (size_t g = begin; g < end; ++g) {
                   float center = 0.0f, inverse = 0.0f;
                   PETREL_DISPATCH(Moments)(in + g * n, n, eps, &center, &inverse);
                   PETREL_DISPATCH(NormalizeRow)
                   (in + g * n, center, inverse, data_of(weight), data_of(bias), to + g * n, n);
                   mean.mutable_data_ptr<float>()[g] = center;
                   rstd.mutable_data_ptr<float>()[g] = inverse;
                 }
               });
  return true;
}

// native_group_norm.out(Tensor input, Tensor? weight, Tensor? bias, SymInt N,
//   SymInt C, SymInt HxW, int group, float eps, *, out0, mean, rstd)
bool group_norm(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 11);
  const Tensor input = args.tensor(0);
  const std::optional<Tensor> weight = args.optional_tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const int64_t batch = args.integer(3);
  const int64_t channels = args.integer(4);
  const int64_t plane = args.integer(5);
  const int64_t groups = args.integer(6);
  const double eps = args.real(7);
  const Tensor out = args.out(8);
  const Tensor mean = args.out(9);
  const Tensor rstd = args.out(10);
  if (!args.ok()) return true;
  const auto sane = [](int64_t v) { return v >= 1 && v <= INT32_MAX; };
  size_t numel = 0;
  if (!is_plain(input) || !is_float(out) || !is_float(mean) || !is_float(rstd) || !sane(batch) ||
      !sane(channels) || !sane(plane) || !sane(groups) || channels % groups != 0 ||
      !checked_mul(static_cast<size_t>(batch * channels), static_cast<size_t>(plane), &numel) ||
      numel != input.numel() || !is_factor(weight, static_cast<size_t>(channels)) ||
      !is_factor(bias, static_cast<size_t>(channels))) {
    return false;
  }
  const portable::SizesType stats[] = {static_cast<portable::SizesType>(batch),
                                       static_cast<portable::SizesType>(groups)};
  if (resize_tensor(out, input.sizes()) != Error::Ok || resize_tensor(mean, stats) != Error::Ok ||
      resize_tensor(rstd, stats) != Error::Ok || !is_contiguous(out) || !is_contiguous(mean) ||
      !is_contiguous(rstd)) {
    return false;
  }
  const size_t hw = static_cast<size_t>(plane);
  const size_t per_group = static_cast<size_t>(channels / groups);
  const size_t n = per_group * hw;
  const float* in = input.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  parallel_for(static_cast<size_t>(batch * groups), kNanoseconds * static_cast<double>(n),
               [&](size_t begin, size_t end) {
                 for (size_t g = begin; g < end; ++g) {
                   float center = 0.0f, inverse = 0.0f;
                   PETREL_DISPATCH(Moments)(in + g * n, n, eps, &center, &inverse);
                   mean.mutable_data_ptr<float>()[g] = center;
                   rstd.mutable_data_ptr<float>()[g] = inverse;
                   const size_t first = g % static_cast<size_t>(groups) * per_group;
                   for (size_t c = 0; c < per_group; ++c) {
                     const float factor = inverse * (weight ? data_of(weight)[first + c] : 1.0f);
                     const float shift = bias ? data_of(bias)[first + c] : 0.0f;
                     const size_t at = g * n + c * hw;
                     PETREL_DISPATCH(ShiftRow)(in + at, center, factor, shift, to + at, hw);
                   }
                 }
               });
  return true;
}

// _native_batch_norm_legit_no_training.out(Tensor input, Tensor? weight,
//   Tensor? bias, Tensor running_mean, Tensor running_var, float momentum,
//   float eps, *, out0, out1, out2); the last two have no elements.
bool batch_norm(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 10);
  const Tensor input = args.tensor(0);
  const std::optional<Tensor> weight = args.optional_tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const std::optional<Tensor> mean = args.tensor(3);
  const std::optional<Tensor> variance = args.tensor(4);
  const double eps = args.real(6);
  const Tensor out = args.out(7);
  const Tensor save_mean = args.out(8);
  const Tensor save_invstd = args.out(9);
  if (!args.ok()) return true;
  if (!is_plain(input) || !is_float(out) || input.dim() < 2 || input.numel() == 0) return false;
  const size_t channels = static_cast<size_t>(input.size(1));
  const portable::SizesType none[] = {0};
  if (!is_factor(weight, channels) || !is_factor(bias, channels) || !is_factor(mean, channels) ||
      !is_factor(variance, channels) || resize_tensor(out, input.sizes()) != Error::Ok ||
      resize_tensor(save_mean, none) != Error::Ok ||
      resize_tensor(save_invstd, none) != Error::Ok || !is_contiguous(out)) {
    return false;
  }
  const size_t hw = portable::product(input.sizes(), 2, input.sizes().size());
  const float* in = input.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  parallel_for(static_cast<size_t>(input.size(0)) * channels,
               kNanoseconds * static_cast<double>(hw), [&](size_t begin, size_t end) {
                 for (size_t i = begin; i < end; ++i) {
                   const size_t c = i % channels;
                   const double scale = (weight ? data_of(weight)[c] : 1.0) /
                                        std::sqrt(static_cast<double>(data_of(variance)[c]) + eps);
                   PETREL_DISPATCH(ShiftRow)
                   (in + i * hw, data_of(mean)[c], static_cast<float>(scale),
                    bias ? data_of(bias)[c] : 0.0f, to + i * hw, hw);
                 }
               });
  return true;
}

}  // namespace

void native_layer_norm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!layer_norm(context, raw)) portable::native_layer_norm_out(context, raw);
}
void native_group_norm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!group_norm(context, raw)) portable::native_group_norm_out(context, raw);
}
void batch_norm_no_training_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!batch_norm(context, raw)) portable::batch_norm_no_training_out(context, raw);
}

}  // namespace petrel::runtime::optimized
#endif  // HWY_ONCE
