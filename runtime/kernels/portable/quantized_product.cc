// SPDX-License-Identifier: Apache-2.0
//
// Products of floats by weights of int8, and sums of quantised tensors.
//
//   mixed_mm       out[i, j] = sum over k of x[i, k] * (w[k, j] * scale[k])
//   mixed_linear   out[i, j] = sum over k of x[i, k] * (w[j, k] * scale[j])
//   add            out = quantised((a - a_zero_point) * a_scale + (b - b_zero_point) * b_scale)
//
// Products are accumulated in double, k ascending; sums are rounded to float at each step.
#include <algorithm>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/rounding.h"

namespace petrel::runtime::portable {
namespace {

struct MixedProduct {
  Tensor input;
  Tensor weight;
  Tensor scales;
  bool is_transposed;  // the weight's rows are those of the output's columns
};

bool check_mixed(KernelRuntimeContext& context, const MixedProduct& p, bool has_zero_points) {
  const ssize_t inner = p.is_transposed ? 1 : 0;
  return check_rank(context, p.input, 2) && check_rank(context, p.weight, 2) &&
         check_floating(context, p.input) && check_same_type(context, p.input, p.scales) &&
         check(context, p.weight.scalar_type() == ScalarType::Char, "the weight must hold int8") &&
         check(context, !has_zero_points, "zero points are not supported") &&
         check(context, p.input.size(1) == p.weight.size(inner),
               "inner sizes of the matrices differ") &&
         check_rank(context, p.scales, 1) &&
         check(context, p.scales.size(0) == p.weight.size(0),
               "there must be a scale for each row of the weight");
}

void multiply(const MixedProduct& p, const Tensor& out) {
  const auto load = loader<double>(p.input.scalar_type());
  const auto load_scale = loader<double>(p.scales.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const int64_t depth = p.input.size(1);
  const auto* weight = p.weight.const_data_ptr<int8_t>();
  for (int64_t i = 0; i < out.size(0); ++i) {
    for (int64_t j = 0; j < out.size(1); ++j) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t row = p.is_transposed ? j : k;
        const int64_t column = p.is_transposed ? k : j;
        const double x =
            load(p.input.const_data_ptr(),
                 static_cast<size_t>(i * p.input.strides()[0] + k * p.input.strides()[1]));
        sum += x * weight[row * p.weight.strides()[0] + column * p.weight.strides()[1]] *
               load_scale(p.scales.const_data_ptr(), static_cast<size_t>(row));
      }
      store(out.mutable_data_ptr(),
            static_cast<size_t>(i * out.strides()[0] + j * out.strides()[1]), sum);
    }
  }
}

void mixed_product(KernelRuntimeContext& context, const MixedProduct& p, bool has_zero_points,
                   ScalarType dtype, const Tensor& out) {
  if (!check_mixed(context, p, has_zero_points) || !check_floating(context, out) ||
      !check(context, out.scalar_type() == dtype, "the output has another type than the call")) {
    return;
  }
  const SizesType sizes[] = {p.input.sizes()[0],
                             p.is_transposed ? p.weight.sizes()[0] : p.weight.sizes()[1]};
  if (!resize_out(context, out, sizes) || !charge_product(context, out, p.input)) return;
  multiply(p, out);
}

// One of the operands of a sum, or the sum.
struct Quantised {
  double scale = 0;
  double zero_point = 0;
  int64_t min = 0;
  int64_t max = 0;

  static Quantised read(KernelArgs& args, size_t first) {
    return {as_float(args.real(first)), static_cast<double>(args.integer(first + 1)),
            args.integer(first + 2), args.integer(first + 3)};
  }
  double value(double level) const { return as_float(as_float(level - zero_point) * scale); }
  double level(double value) const {
    const double inverse = as_float(1.0 / scale);
    const double level = round_half_even(as_float(inverse * value)) + zero_point;
    return level < static_cast<double>(min)   ? static_cast<double>(min)
           : level > static_cast<double>(max) ? static_cast<double>(max)
                                              : level;
  }
};

}  // namespace

// mixed_mm.out(Tensor input, Tensor weight, Tensor weight_scales, Tensor?
//              weight_zero_points, *, Tensor(a!) out)
void mixed_mm_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const MixedProduct product = {args.tensor(0), args.tensor(1), args.tensor(2), false};
  const bool has_zero_points = args.optional_tensor(3).has_value();
  const Tensor out = args.out(4);
  if (!args.ok()) return;
  mixed_product(context, product, has_zero_points, product.input.scalar_type(), out);
}

// mixed_linear.out(Tensor input, Tensor weight, Tensor weight_scales, Tensor?
//                  weight_zero_points, ScalarType? dtype, *, Tensor(a!) out)
void mixed_linear_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 6);
  const MixedProduct product = {args.tensor(0), args.tensor(1), args.tensor(2), true};
  const bool has_zero_points = args.optional_tensor(3).has_value();
  const auto dtype = args.optional_scalar_type(4);
  const Tensor out = args.out(5);
  if (!args.ok()) return;
  mixed_product(context, product, has_zero_points, dtype.value_or(product.input.scalar_type()),
                out);
}

// add.out(Tensor a, float a_scale, int a_zero_point, int a_quant_min, int a_quant_max,
//         Tensor b, ..., float out_scale, ..., *, Tensor(a!) out)
void quantized_add_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 15);
  const Tensor a = args.tensor(0);
  const Tensor b = args.tensor(5);
  const Quantised of_a = Quantised::read(args, 1);
  const Quantised of_b = Quantised::read(args, 6);
  const Quantised of_out = Quantised::read(args, 10);
  const Tensor out = args.out(14);
  if (!args.ok() || !check_same_type(context, a, b) || !check_same_type(context, a, out) ||
      !check(context, out.scalar_type() == ScalarType::Byte, "the tensors must hold uint8") ||
      !check(context, of_out.min >= 0 && of_out.max <= UINT8_MAX && of_out.min <= of_out.max,
             "quant_min and quant_max must be in [0, 255]") ||
      !check(context,
             std::equal(a.sizes().begin(), a.sizes().end(), b.sizes().begin(), b.sizes().end()),
             "the operands must have the same sizes") ||
      !resize_out(context, out, a.sizes())) {
    return;
  }
  const auto load = loader<double>(a.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  StridedLoop<3> loop(out.sizes());
  loop.operand(0, out);
  loop.operand(1, a);
  loop.operand(2, b);
  loop.run([&](const int64_t* at) {
    const double sum = as_float(of_a.value(load(a.const_data_ptr(), static_cast<size_t>(at[1]))) +
                                of_b.value(load(b.const_data_ptr(), static_cast<size_t>(at[2]))));
    store(out.mutable_data_ptr(), static_cast<size_t>(at[0]), of_out.level(sum));
  });
}

}  // namespace petrel::runtime::portable
