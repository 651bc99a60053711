// SPDX-License-Identifier: Apache-2.0
//
// Softmax and its logarithm along one dimension.
#include "runtime/kernels/portable/reduction_loops.h"
#include "runtime/kernels/portable/reference_math.h"

namespace petrel::runtime::portable {
namespace {

bool larger(double a, double b) { return a != a ? b == b : a > b; }  // NaN is largest

// softmax(x) = e^(x - max) / sum, log_softmax(x) = x - max - log(sum).
void softmax_family(KernelRuntimeContext& context, Span<EValue*> raw, bool logarithm) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const bool half_to_float = args.boolean(2);
  const Tensor out = args.out(3);
  Dims dims;
  if (!args.ok() || !check(context, !half_to_float, "half_to_float is not supported") ||
      !check_floating(context, self) || !check_same_type(context, self, out) ||
      !read_dim(context, dim, self.dim(), &dims) || !resize_out(context, out, self.sizes()) ||
      !check(context, is_contiguous(self) && is_contiguous(out),
             "input and output must be contiguous")) {
    return;
  }
  const Loops loops(self, dims);
  const auto load = loader<double>(self.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  loops.outer([&](size_t, int64_t base) {
    const auto at = [&](int64_t offset) {
      return load(self.const_data_ptr(), static_cast<size_t>(base + offset));
    };
    double max = -std::numeric_limits<double>::infinity();
    loops.inner([&](int64_t offset) { max = larger(at(offset), max) ? at(offset) : max; });
    double sum = 0.0;
    loops.inner([&](int64_t offset) { sum += reference_math::exp(at(offset) - max); });
    const double log_sum = reference_math::log(sum);
    loops.inner([&](int64_t offset) {
      const double x = at(offset) - max;
      store(out.mutable_data_ptr(), static_cast<size_t>(base + offset),
            logarithm ? x - log_sum : reference_math::exp(x) / sum);
    });
  });
}

}  // namespace

void softmax_out(KernelRuntimeContext& context, Span<EValue*> args) {
  softmax_family(context, args, false);
}
void log_softmax_out(KernelRuntimeContext& context, Span<EValue*> args) {
  softmax_family(context, args, true);
}

}  // namespace petrel::runtime::portable
