// SPDX-License-Identifier: Apache-2.0
//
// Quantising and dequantising, with one scale and zero point for the tensor, for each
// index along an axis, or for each row of the last dim (a token).
//
//   quantised = clamp(round(x * (1 / scale)) + zero_point, quant_min, quant_max)
//   x         = (quantised - zero_point) * scale
//
// The element i in logical order has the parameters of group (i / inner) % count:
//
//   [2,3], axis 0: 0 0 0 1 1 1   inner 3, count 2
//   [2,3], axis 1: 0 1 2 0 1 2   inner 1, count 3
//
// Each step is rounded to the type that eager torch computes it in. Rows add the zero
// point before they round.
#include <algorithm>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/rounding.h"

namespace petrel::runtime::portable {
namespace {

// Which scale and zero point an element has.
struct Groups {
  int64_t inner = 1;
  int64_t count = 1;

  size_t of(int64_t i) const { return static_cast<size_t>(i / inner % count); }
};

// The values that a quantised element may take.
struct Levels {
  int64_t min = 0;
  int64_t max = 0;
  std::optional<ScalarType> dtype;
};

bool holds(ScalarType type, int64_t value) {
  int64_t bits = static_cast<int64_t>(element_size(type)) * 8;
  const bool is_unsigned = type == ScalarType::Byte || type == ScalarType::UInt16 ||
                           type == ScalarType::UInt32 || type == ScalarType::UInt64;
  if (bits == 64) return !is_unsigned || value >= 0;
  if (!is_unsigned) --bits;
  const int64_t end = int64_t{1} << bits;
  return value < end && value >= (is_unsigned ? 0 : -end);
}

// `quantised` has the type that the call names, and all levels fit into it.
bool check_levels(KernelRuntimeContext& context, const Tensor& quantised, const Levels& levels) {
  const ScalarType type = quantised.scalar_type();
  return check(context, is_integral(type), "a quantised tensor must have an integer type") &&
         check(context, levels.dtype == type, "dtype is not that of the quantised tensor") &&
         check(context, levels.min <= levels.max, "quant_min is above quant_max") &&
         check(context, holds(type, levels.min) && holds(type, levels.max),
               "quant_min or quant_max does not fit into dtype");
}

bool check_group_tensor(KernelRuntimeContext& context, const Tensor& tensor, int64_t count) {
  return check_arithmetic(context, tensor) && check_contiguous(context, tensor) &&
         check(context, static_cast<int64_t>(tensor.numel()) == count,
               "scales and zero points must have one element for each group");
}

// One group for each index along dim `axis`.
bool along_axis(KernelRuntimeContext& context, const Tensor& x, int64_t axis, Groups* groups) {
  size_t dim = 0;
  if (!check(context, x.dim() > 0, "the tensor has no dim to quantise along") ||
      !normalize_dim(context, axis, x.dim(), &dim)) {
    return false;
  }
  const auto rank = static_cast<size_t>(x.dim());
  groups->count = x.sizes()[dim];
  groups->inner = std::max<int64_t>(1, static_cast<int64_t>(product(x.sizes(), dim + 1, rank)));
  return true;
}

// One group for each row of the last dim.
bool along_rows(KernelRuntimeContext& context, const Tensor& x, Groups* groups) {
  if (!check(context, x.dim() > 0, "the tensor has no dim to quantise along")) return false;
  const auto rank = static_cast<size_t>(x.dim());
  groups->count = static_cast<int64_t>(product(x.sizes(), 0, rank - 1));
  groups->inner = std::max<int64_t>(1, x.sizes()[rank - 1]);
  return true;
}

// Reads group `g` of a tensor of scales or zero points; of none, 0.
class GroupReader {
 public:
  explicit GroupReader(const std::optional<Tensor>& tensor)
      : data_(tensor ? tensor->const_data_ptr() : nullptr),
        load_(tensor ? loader<double>(tensor->scalar_type()) : nullptr) {}

  double at(size_t g) const { return load_ == nullptr ? 0.0 : load_(data_, g); }

 private:
  const void* data_;
  Loader<double> load_;
};

double clamp_level(double level, const Levels& levels) {
  const auto low = static_cast<double>(levels.min);
  const auto high = static_cast<double>(levels.max);
  return level < low ? low : level > high ? high : level;
}

// Calls visit(offset in x, offset in out, group) for each element in logical order.
template <typename Visit>
void for_each_element(const Tensor& x, const Tensor& out, const Groups& groups, Visit visit) {
  StridedLoop<2> loop(out.sizes());
  loop.operand(0, x);
  loop.operand(1, out);
  int64_t i = 0;
  loop.run([&](const int64_t* at) {
    visit(static_cast<size_t>(at[0]), static_cast<size_t>(at[1]), groups.of(i++));
  });
}

void quantize_tensor(KernelRuntimeContext& context, const Tensor& x, double scale,
                     double zero_point, const Levels& levels, const Tensor& out) {
  if (!check_floating(context, x) || !check_levels(context, out, levels) ||
      !resize_out(context, out, x.sizes())) {
    return;
  }
  const double inverse = as_float(1.0 / scale);
  const auto load = loader<double>(x.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  for_each_element(x, out, Groups{}, [&](size_t from, size_t to, size_t) {
    const double value = as_float(load(x.const_data_ptr(), from));
    const double level = as_float(round_half_even(as_float(value * inverse)) + zero_point);
    store(out.mutable_data_ptr(), to, clamp_level(level, levels));
  });
}

void quantize_groups(KernelRuntimeContext& context, const Tensor& x, const Tensor& scales,
                     const Tensor& zero_points, const Groups& groups, const Levels& levels,
                     bool round_last, const Tensor& out) {
  if (!check_floating(context, x) || !check_floating(context, scales) ||
      !check_group_tensor(context, scales, groups.count) ||
      !check_group_tensor(context, zero_points, groups.count) ||
      !check_levels(context, out, levels) || !resize_out(context, out, x.sizes())) {
    return;
  }
  const bool is_double = scales.scalar_type() == ScalarType::Double ||
                         (round_last && x.scalar_type() == ScalarType::Double);
  const bool is_narrow = round_last && x.scalar_type() == scales.scalar_type();
  const Rounding rounded = is_narrow   ? rounding_of(x.scalar_type())
                           : is_double ? rounding_of(ScalarType::Double)
                                       : as_float;
  const Rounding of_scale = rounding_of(scales.scalar_type());
  const GroupReader scale(scales);
  const GroupReader zero_point(zero_points);
  const auto load = loader<double>(x.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  for_each_element(x, out, groups, [&](size_t from, size_t to, size_t g) {
    const double inverse = of_scale(1.0 / scale.at(g));
    double level = rounded(load(x.const_data_ptr(), from) * inverse);
    if (!round_last) level = round_half_even(level);
    level = rounded(level + zero_point.at(g));
    if (round_last) level = round_half_even(level);
    store(out.mutable_data_ptr(), to, clamp_level(level, levels));
  });
}

void dequantize_tensor(KernelRuntimeContext& context, const Tensor& x, double scale,
                       double zero_point, const Levels& levels, std::optional<ScalarType> out_dtype,
                       const Tensor& out) {
  if (!check_levels(context, x, levels) || !check_floating(context, out) ||
      !check(context, out_dtype.value_or(ScalarType::Float) == out.scalar_type(),
             "out_dtype is not that of the output") ||
      !resize_out(context, out, x.sizes())) {
    return;
  }
  const Rounding rounded = rounding_of(out.scalar_type());
  const double factor = out.scalar_type() == ScalarType::Double ? scale : as_float(scale);
  const auto load = loader<double>(x.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  for_each_element(x, out, Groups{}, [&](size_t from, size_t to, size_t) {
    const double steps = rounded(rounded(load(x.const_data_ptr(), from)) - zero_point);
    store(out.mutable_data_ptr(), to, steps * factor);
  });
}

void dequantize_groups(KernelRuntimeContext& context, const Tensor& x, const Tensor& scales,
                       const std::optional<Tensor>& zero_points, const Groups& groups,
                       const Levels& levels, std::optional<ScalarType> out_dtype,
                       const Tensor& out) {
  if (!check_levels(context, x, levels) || !check_floating(context, scales) ||
      !check_group_tensor(context, scales, groups.count) ||
      (zero_points && !check_group_tensor(context, *zero_points, groups.count)) ||
      !check_floating(context, out) ||
      !check(context, out_dtype.value_or(ScalarType::Float) == out.scalar_type(),
             "out_dtype is not that of the output") ||
      !resize_out(context, out, x.sizes())) {
    return;
  }
  // Of one type, the difference is of that type and wraps in it.
  const bool wraps = zero_points && zero_points->scalar_type() == x.scalar_type();
  const auto load = loader<double>(x.scalar_type());
  const Rounding rounded = rounding_of(scales.scalar_type());
  const GroupReader scale(scales);
  const GroupReader zero_point(zero_points);
  const auto store = storer<double>(out.scalar_type());
  for_each_element(x, out, groups, [&](size_t from, size_t to, size_t g) {
    double steps = load(x.const_data_ptr(), from) - zero_point.at(g);
    if (wraps) {
      int64_t wrapped = 0;
      storer<double>(x.scalar_type())(&wrapped, 0, steps);
      steps = load(&wrapped, 0);
    }
    store(out.mutable_data_ptr(), to, rounded(rounded(steps) * scale.at(g)));
  });
}

// A scale or zero point that is a tensor of one element.
double only_element(KernelRuntimeContext& context, const Tensor& tensor) {
  if (!check_group_tensor(context, tensor, 1)) return 0.0;
  return loader<double>(tensor.scalar_type())(tensor.const_data_ptr(), 0);
}

struct TensorQuant {
  double scale = 0.0;
  double zero_point = 0.0;
};

// Arguments 1 and 2, which are numbers or hold one each.
TensorQuant read_quant(KernelRuntimeContext& context, KernelArgs& args, bool in_tensors) {
  if (!in_tensors) return {args.real(1), static_cast<double>(args.integer(2))};
  const Tensor scale = args.tensor(1);
  const Tensor zero_point = args.tensor(2);
  if (!args.ok()) return {};
  return {only_element(context, scale), only_element(context, zero_point)};
}

Levels read_levels(KernelArgs& args, size_t first) {
  return {args.integer(first), args.integer(first + 1), args.optional_scalar_type(first + 2)};
}

// (Tensor input, scale, zero_point, int quant_min, int quant_max, ScalarType dtype, *,
//  Tensor(a!) out)
void quantize_per_tensor(KernelRuntimeContext& context, Span<EValue*> raw, bool in_tensors) {
  KernelArgs args(context, raw, 7);
  const Tensor x = args.tensor(0);
  const TensorQuant quant = read_quant(context, args, in_tensors);
  const Levels levels = read_levels(args, 3);
  const Tensor out = args.out(6);
  if (!args.ok()) return;
  quantize_tensor(context, x, quant.scale, quant.zero_point, levels, out);
}

// (Tensor input, scale, zero_point, int quant_min, int quant_max, ScalarType dtype, *,
//  ScalarType? out_dtype, Tensor(a!) out)
void dequantize_per_tensor(KernelRuntimeContext& context, Span<EValue*> raw, bool in_tensors) {
  KernelArgs args(context, raw, 8);
  const Tensor x = args.tensor(0);
  const TensorQuant quant = read_quant(context, args, in_tensors);
  const Levels levels = read_levels(args, 3);
  const auto out_dtype = args.optional_scalar_type(6);
  const Tensor out = args.out(7);
  if (!args.ok()) return;
  dequantize_tensor(context, x, quant.scale, quant.zero_point, levels, out_dtype, out);
}

}  // namespace

// With float scale and int zero_point; with a tensor for each.
void quantize_per_tensor_out(KernelRuntimeContext& context, Span<EValue*> args) {
  quantize_per_tensor(context, args, false);
}
void quantize_per_tensor_tensor_out(KernelRuntimeContext& context, Span<EValue*> args) {
  quantize_per_tensor(context, args, true);
}
void dequantize_per_tensor_out(KernelRuntimeContext& context, Span<EValue*> args) {
  dequantize_per_tensor(context, args, false);
}
void dequantize_per_tensor_tensor_out(KernelRuntimeContext& context, Span<EValue*> args) {
  dequantize_per_tensor(context, args, true);
}

// quantize_per_channel.out(Tensor input, Tensor scales, Tensor zero_points, int axis,
//                          int quant_min, int quant_max, ScalarType dtype, *, out)
void quantize_per_channel_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 8);
  const Tensor x = args.tensor(0);
  const Tensor scales = args.tensor(1);
  const Tensor zero_points = args.tensor(2);
  const int64_t axis = args.integer(3);
  const Levels levels = read_levels(args, 4);
  const Tensor out = args.out(7);
  Groups groups;
  if (!args.ok() || !along_axis(context, x, axis, &groups)) return;
  quantize_groups(context, x, scales, zero_points, groups, levels, false, out);
}

// quantize_per_token.out(Tensor input, Tensor scales, Tensor zero_points, int quant_min,
//                        int quant_max, ScalarType dtype, *, out)
void quantize_per_token_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 7);
  const Tensor x = args.tensor(0);
  const Tensor scales = args.tensor(1);
  const Tensor zero_points = args.tensor(2);
  const Levels levels = read_levels(args, 3);
  const Tensor out = args.out(6);
  Groups groups;
  if (!args.ok() || !along_rows(context, x, &groups)) return;
  quantize_groups(context, x, scales, zero_points, groups, levels, true, out);
}

// dequantize_per_channel.out(Tensor input, Tensor scales, Tensor? zero_points, int axis,
//     int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype, out)
void dequantize_per_channel_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 9);
  const Tensor x = args.tensor(0);
  const Tensor scales = args.tensor(1);
  const std::optional<Tensor> zero_points = args.optional_tensor(2);
  const int64_t axis = args.integer(3);
  const Levels levels = read_levels(args, 4);
  const auto out_dtype = args.optional_scalar_type(7);
  const Tensor out = args.out(8);
  Groups groups;
  if (!args.ok() || !along_axis(context, x, axis, &groups)) return;
  dequantize_groups(context, x, scales, zero_points, groups, levels, out_dtype, out);
}

// dequantize_per_token.out(Tensor input, Tensor scales, Tensor zero_points,
//     int quant_min, int quant_max, ScalarType dtype, ScalarType output_dtype, *, out)
void dequantize_per_token_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 8);
  const Tensor x = args.tensor(0);
  const Tensor scales = args.tensor(1);
  const Tensor zero_points = args.tensor(2);
  const Levels levels = read_levels(args, 3);
  const auto out_dtype = args.optional_scalar_type(6);
  const Tensor out = args.out(7);
  Groups groups;
  if (!args.ok() || !along_rows(context, x, &groups)) return;
  dequantize_groups(context, x, scales, zero_points, groups, levels, out_dtype, out);
}

}  // namespace petrel::runtime::portable
