// SPDX-License-Identifier: Apache-2.0
//
// Normalisations: y = (x - mean) / sqrt(var + eps) * weight + bias, with mean
// and (biased) variance over a group of elements, accumulated in double.
#include <cmath>

#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::portable {
namespace {

// Element i of an optional tensor in contiguous order; `fallback` without it.
struct Factor {
  const void* data = nullptr;
  Loader<double> load = nullptr;
  double fallback;

  Factor(const std::optional<Tensor>& tensor, double fallback) : fallback(fallback) {
    if (!tensor) return;
    data = tensor->const_data_ptr();
    load = loader<double>(tensor->scalar_type());
  }
  double at(size_t i) const { return load == nullptr ? fallback : load(data, i); }
};

bool check_factor(KernelRuntimeContext& context, const std::optional<Tensor>& tensor,
                  size_t numel) {
  return !tensor || (check_floating(context, *tensor) && check_contiguous(context, *tensor) &&
                     check(context, tensor->numel() == numel,
                           "weight or bias has the wrong number of elements"));
}

struct Moments {
  double mean, inverse_deviation;
};

// Of nothing they are 0 and NaN, as in eager PyTorch.
Moments moments(const void* data, Loader<double> load, size_t begin, size_t count, double eps) {
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i) sum += load(data, begin + i);
  const double mean = count == 0 ? 0.0 : sum / static_cast<double>(count);
  double squares = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double d = load(data, begin + i) - mean;
    squares += d * d;
  }
  return {mean, 1.0 / std::sqrt(squares / static_cast<double>(count) + eps)};
}

}  // namespace

// native_layer_norm.out(Tensor input, SymInt[] normalized_shape, Tensor? weight,
//   Tensor? bias, float eps, *, out0, mean, rstd)
void native_layer_norm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 8);
  const Tensor input = args.tensor(0);
  const Span<const int64_t> shape = args.int_list(1);
  const std::optional<Tensor> weight = args.optional_tensor(2);
  const std::optional<Tensor> bias = args.optional_tensor(3);
  const double eps = args.real(4);
  const Tensor out = args.out(5);
  const Tensor mean = args.out(6);
  const Tensor rstd = args.out(7);
  if (!args.ok() || !check_floating(context, input) || !check_same_type(context, input, out) ||
      !check_floating(context, mean) || !check_floating(context, rstd) ||
      !check_contiguous(context, input) ||
      !check(context, !shape.empty() && shape.size() <= input.sizes().size(),
             "normalized_shape has the wrong length")) {
    return;
  }
  const size_t leading = input.sizes().size() - shape.size();
  SizeArray stats(input.sizes());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!check(context, shape[i] == input.sizes()[leading + i],
               "normalized_shape is not that of the input")) {
      return;
    }
    stats[leading + i] = 1;
  }
  const size_t count = product(input.sizes(), leading, input.sizes().size());
  const size_t groups = product(input.sizes(), 0, leading);
  if (!check_factor(context, weight, count) || !check_factor(context, bias, count) ||
      !resize_one_out(context, out, input.sizes()) || !check_contiguous(context, out) ||
      !resize_one_out(context, mean, stats.span()) || !check_contiguous(context, mean) ||
      !resize_one_out(context, rstd, stats.span()) || !check_contiguous(context, rstd)) {
    return;
  }
  const Factor scale(weight, 1.0), shift(bias, 0.0);
  const auto load = loader<double>(input.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const auto store_mean = storer<double>(mean.scalar_type());
  const auto store_rstd = storer<double>(rstd.scalar_type());
  for (size_t g = 0; g < groups; ++g) {
    const Moments m = moments(input.const_data_ptr(), load, g * count, count, eps);
    store_mean(mean.mutable_data_ptr(), g, m.mean);
    store_rstd(rstd.mutable_data_ptr(), g, m.inverse_deviation);
    for (size_t i = 0; i < count; ++i) {
      const double x = load(input.const_data_ptr(), g * count + i);
      store(out.mutable_data_ptr(), g * count + i,
            (x - m.mean) * m.inverse_deviation * scale.at(i) + shift.at(i));
    }
  }
}

// native_group_norm.out(Tensor input, Tensor? weight, Tensor? bias, SymInt N,
//   SymInt C, SymInt HxW, int group, float eps, *, out0, mean, rstd)
void native_group_norm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 11);
  const Tensor input = args.tensor(0);
  const std::optional<Tensor> weight = args.optional_tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const int64_t n = args.integer(3);
  const int64_t c = args.integer(4);
  const int64_t hw = args.integer(5);
  const int64_t group = args.integer(6);
  const double eps = args.real(7);
  const Tensor out = args.out(8);
  const Tensor mean = args.out(9);
  const Tensor rstd = args.out(10);
  const auto sane = [](int64_t v) { return v >= 0 && v <= INT32_MAX; };
  if (!args.ok() || !check_floating(context, input) || !check_same_type(context, input, out) ||
      !check_floating(context, mean) || !check_floating(context, rstd) ||
      !check_contiguous(context, input)) {
    return;
  }
  size_t numel = 0;
  if (!check(context, sane(n) && sane(c) && sane(hw) && sane(group) && group > 0 && c % group == 0,
             "a size of the groups is wrong") ||
      !check(context,
             checked_mul(static_cast<size_t>(n * c), static_cast<size_t>(hw), &numel) &&
                 numel == input.numel(),
             "the sizes given are not those of the input") ||
      !check_factor(context, weight, static_cast<size_t>(c)) ||
      !check_factor(context, bias, static_cast<size_t>(c))) {
    return;
  }
  const SizesType stats[] = {static_cast<SizesType>(n), static_cast<SizesType>(group)};
  if (!resize_one_out(context, out, input.sizes()) || !check_contiguous(context, out) ||
      !resize_one_out(context, mean, stats) || !resize_one_out(context, rstd, stats) ||
      !check_contiguous(context, mean) || !check_contiguous(context, rstd)) {
    return;
  }
  const Factor scale(weight, 1.0), shift(bias, 0.0);
  const auto load = loader<double>(input.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const auto store_mean = storer<double>(mean.scalar_type());
  const auto store_rstd = storer<double>(rstd.scalar_type());
  const size_t plane = static_cast<size_t>(hw);
  const size_t per_group = static_cast<size_t>(c / group);
  const size_t count = per_group * plane;
  for (size_t g = 0; g < static_cast<size_t>(n * group); ++g) {
    const Moments m = moments(input.const_data_ptr(), load, g * count, count, eps);
    store_mean(mean.mutable_data_ptr(), g, m.mean);
    store_rstd(rstd.mutable_data_ptr(), g, m.inverse_deviation);
    const size_t first_channel = g % static_cast<size_t>(group) * per_group;
    for (size_t i = 0; i < count; ++i) {
      const double x = load(input.const_data_ptr(), g * count + i);
      const size_t channel = first_channel + i / plane;
      store(out.mutable_data_ptr(), g * count + i,
            (x - m.mean) * m.inverse_deviation * scale.at(channel) + shift.at(channel));
    }
  }
}

// _native_batch_norm_legit_no_training.out(Tensor input, Tensor? weight,
//   Tensor? bias, Tensor running_mean, Tensor running_var, float momentum,
//   float eps, *, out0, out1, out2); the last two have no elements.
void batch_norm_no_training_out(KernelRuntimeContext& context, Span<EValue*> raw) {
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
  if (!args.ok() || !check(context, input.dim() >= 2, "input must have rank 2 or more") ||
      !check_floating(context, input) || !check_same_type(context, input, out)) {
    return;
  }
  const size_t channels = static_cast<size_t>(input.size(1));
  const SizesType none[] = {0};
  if (!check_factor(context, weight, channels) || !check_factor(context, bias, channels) ||
      !check_factor(context, mean, channels) || !check_factor(context, variance, channels) ||
      !resize_one_out(context, out, input.sizes()) || !resize_one_out(context, save_mean, none) ||
      !resize_one_out(context, save_invstd, none)) {
    return;
  }
  const Factor scale(weight, 1.0), shift(bias, 0.0), mu(mean, 0.0), var(variance, 1.0);
  const auto load = loader<double>(input.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  // The channel is read as a broadcast tensor whose elements are 0, 1, 2, ...
  const SizesType channel_sizes[] = {static_cast<SizesType>(channels)};
  StridedLoop<3> loop(input.sizes());
  loop.operand(0, out);
  loop.operand(1, input);
  SizeArray pattern;
  int64_t strides[kTensorDimensionLimit] = {};
  pattern.rank = input.sizes().size() - 1;
  pattern[0] = channel_sizes[0];
  strides[0] = 1;
  for (size_t d = 1; d < pattern.rank; ++d) pattern[d] = 1;
  loop.strides_of(2, pattern.span(), {strides, pattern.rank});
  loop.run([&](const int64_t* at) {
    const size_t c = static_cast<size_t>(at[2]);
    const double x = load(input.const_data_ptr(), static_cast<size_t>(at[1]));
    store(out.mutable_data_ptr(), static_cast<size_t>(at[0]),
          (x - mu.at(c)) / std::sqrt(var.at(c) + eps) * scale.at(c) + shift.at(c));
  });
}

// _native_batch_norm_legit.no_stats_out(Tensor input, Tensor? weight, Tensor? bias,
//   bool training, float momentum, float eps, *, out, save_mean, save_invstd):
// mean and variance are those of the input, per channel.
void batch_norm_no_stats_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 9);
  const Tensor input = args.tensor(0);
  const std::optional<Tensor> weight = args.optional_tensor(1);
  const std::optional<Tensor> bias = args.optional_tensor(2);
  const double eps = args.real(5);
  const Tensor out = args.out(6);
  const Tensor save_mean = args.out(7);
  const Tensor save_invstd = args.out(8);
  if (!args.ok() || !check(context, input.dim() >= 2, "input must have rank 2 or more") ||
      !check_floating(context, input) || !check_same_type(context, input, out) ||
      !check_floating(context, save_mean) || !check_floating(context, save_invstd)) {
    return;
  }
  const size_t channels = static_cast<size_t>(input.size(1));
  const SizesType stats[] = {input.sizes()[1]};
  if (!check_factor(context, weight, channels) || !check_factor(context, bias, channels) ||
      !resize_one_out(context, out, input.sizes()) || !resize_one_out(context, save_mean, stats) ||
      !resize_one_out(context, save_invstd, stats) || input.numel() == 0) {
    return;
  }
  const Factor scale(weight, 1.0), shift(bias, 0.0);
  const auto load = loader<double>(input.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  // Every dim but that of the channels.
  SizeArray sizes(input.sizes());
  sizes[1] = 1;
  StridedLoop<2> loop(sizes.span());
  loop.strides_of(0, sizes.span(), out.strides());
  loop.strides_of(1, sizes.span(), input.strides());
  const double count = static_cast<double>(input.numel() / channels);
  for (size_t c = 0; c < channels; ++c) {
    const int64_t from = static_cast<int64_t>(c) * input.strides()[1];
    const int64_t to = static_cast<int64_t>(c) * out.strides()[1];
    const auto at = [&](const int64_t* place) {
      return load(input.const_data_ptr(), static_cast<size_t>(from + place[1]));
    };
    double sum = 0.0;
    loop.run([&](const int64_t* place) { sum += at(place); });
    const double mean = sum / count;
    double squares = 0.0;
    loop.run([&](const int64_t* place) { squares += (at(place) - mean) * (at(place) - mean); });
    const double inverse = 1.0 / std::sqrt(squares / count + eps);
    storer<double>(save_mean.scalar_type())(save_mean.mutable_data_ptr(), c, mean);
    storer<double>(save_invstd.scalar_type())(save_invstd.mutable_data_ptr(), c, inverse);
    loop.run([&](const int64_t* place) {
      store(out.mutable_data_ptr(), static_cast<size_t>(to + place[0]),
            (at(place) - mean) * inverse * scale.at(c) + shift.at(c));
    });
  }
}

}  // namespace petrel::runtime::portable
