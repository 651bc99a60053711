// SPDX-License-Identifier: Apache-2.0
//
// Variances over some dimensions, in two passes: the mean, then the squares of
// what deviates from it.
#include "runtime/kernels/portable/reduction_loops.h"

namespace petrel::runtime::portable {
namespace {

// The squared deviations divided by (elements - correction), and the mean if
// `mean_out` is given.
void variance(KernelRuntimeContext& context, const Tensor& self,
              std::optional<Span<const int64_t>> list, double correction, bool keepdim,
              const Tensor& out, const Tensor* mean_out = nullptr) {
  Dims dims;
  if (!check_floating(context, self) || !check_same_type(context, self, out) ||
      !read_dims(context, list, self.dim(), &dims) ||
      !resize_reduced(context, self, dims, keepdim, out) ||
      (mean_out != nullptr && (!check_same_type(context, self, *mean_out) ||
                               !resize_reduced(context, self, dims, keepdim, *mean_out)))) {
    return;
  }
  const Loops loops(self, dims);
  const double count = static_cast<double>(loops.reduced_numel());
  const double freedom = count - correction;
  const auto load = loader<double>(self.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  loops.outer([&](size_t k, int64_t base) {
    const auto at = [&](int64_t offset) {
      return load(self.const_data_ptr(), static_cast<size_t>(base + offset));
    };
    double sum = 0.0;
    loops.inner([&](int64_t offset) { sum += at(offset); });
    const double mean = sum / count;
    double squares = 0.0;
    loops.inner([&](int64_t offset) { squares += (at(offset) - mean) * (at(offset) - mean); });
    store(out.mutable_data_ptr(), k, squares / (freedom > 0.0 ? freedom : 0.0));
    if (mean_out != nullptr) store(mean_out->mutable_data_ptr(), k, mean);
  });
}

}  // namespace

// var.correction_out(Tensor self, int[1]? dim, *, Scalar? correction, bool keepdim, out)
void var_correction_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const std::optional<Span<const int64_t>> list = args.optional_int_list(1);
  const std::optional<Scalar> correction = args.optional_scalar(2);
  const bool keepdim = args.boolean(3);
  const Tensor out = args.out(4);
  if (!args.ok()) return;
  variance(context, self, list, correction ? correction->to_double() : 1.0, keepdim, out);
}

// var.out(Tensor self, int[1]? dim, bool unbiased, bool keepdim, *, out)
void var_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor self = args.tensor(0);
  const std::optional<Span<const int64_t>> list = args.optional_int_list(1);
  const bool unbiased = args.boolean(2);
  const bool keepdim = args.boolean(3);
  const Tensor out = args.out(4);
  if (args.ok()) variance(context, self, list, unbiased ? 1.0 : 0.0, keepdim, out);
}

// var_mean.correction_out(Tensor self, int[1]? dim, *, Scalar? correction,
//   bool keepdim, out0, out1)
void var_mean_correction_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 6);
  const Tensor self = args.tensor(0);
  const std::optional<Span<const int64_t>> list = args.optional_int_list(1);
  const std::optional<Scalar> correction = args.optional_scalar(2);
  const bool keepdim = args.boolean(3);
  const Tensor out = args.out(4);
  const Tensor mean = args.out(5);
  if (!args.ok()) return;
  variance(context, self, list, correction ? correction->to_double() : 1.0, keepdim, out, &mean);
}

}  // namespace petrel::runtime::portable
