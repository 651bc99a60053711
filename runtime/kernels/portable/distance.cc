// SPDX-License-Identifier: Apache-2.0
//
// Distances between vectors: the p-norm of their difference.
#include <cmath>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/reference_math.h"

namespace petrel::runtime::portable {
namespace {

// A row of numbers in a tensor.
struct Row {
  const void* data;
  int64_t offset, stride;
};

// sum(|x - y|^p)^(1/p); p = 0 counts differences, p = inf takes the largest.
double distance(Loader<double> load, const Row& x, const Row& y, int64_t n, double p) {
  double result = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    const double a = load(x.data, static_cast<size_t>(x.offset + i * x.stride));
    const double b = load(y.data, static_cast<size_t>(y.offset + i * y.stride));
    const double d = std::fabs(a - b);
    if (p == 0.0) {
      result += d != 0.0 ? 1.0 : 0.0;
    } else if (p == 1.0) {
      result += d;
    } else if (p == 2.0) {
      result += d * d;
    } else if (std::isinf(p)) {
      result = d != d || d > result ? d : result;
    } else {
      result += reference_math::pow(d, p);
    }
  }
  if (p == 2.0) return std::sqrt(result);
  if (p == 0.0 || p == 1.0 || std::isinf(p)) return result;
  return reference_math::pow(result, 1.0 / p);
}

}  // namespace

// _cdist_forward.out(Tensor x1, Tensor x2, float p, int? compute_mode, *, out):
// x1 [..., P, M], x2 [..., R, M], out [..., P, R]; leading dims broadcast.
void cdist_forward_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor x1 = args.tensor(0);
  const Tensor x2 = args.tensor(1);
  const double p = args.real(2);
  const Tensor out = args.out(4);
  if (!args.ok() || !check_floating(context, x1) || !check_same_type(context, x1, x2) ||
      !check_same_type(context, x1, out) ||
      !check(context, x1.dim() >= 2 && x2.dim() >= 2, "inputs must have rank 2 or more") ||
      !check(context, x1.size(x1.dim() - 1) == x2.size(x2.dim() - 1),
             "the last sizes of the inputs differ") ||
      !check(context, p >= 0.0, "p is negative or not a number")) {
    return;
  }
  const size_t leading1 = x1.sizes().size() - 2, leading2 = x2.sizes().size() - 2;
  const Span<const SizesType> batch1(x1.sizes().data(), leading1);
  const Span<const SizesType> batch2(x2.sizes().data(), leading2);
  SizeArray batch(batch1);
  if (!check(context, broadcast_sizes(&batch, batch2), "the leading sizes do not broadcast")) {
    return;
  }
  SizeArray sizes = batch;
  sizes[sizes.rank++] = x1.sizes()[leading1];
  sizes[sizes.rank++] = x2.sizes()[leading2];
  if (!resize_out(context, out, sizes.span()) || !charge_product(context, out, x1)) return;
  const auto load = loader<double>(x1.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  const int64_t columns = x1.size(x1.dim() - 1);
  StridedLoop<3> loop(batch.span());
  loop.strides_of(0, batch.span(), {out.strides().data(), batch.rank});
  loop.strides_of(1, batch1, {x1.strides().data(), leading1});
  loop.strides_of(2, batch2, {x2.strides().data(), leading2});
  loop.run([&](const int64_t* at) {
    for (int64_t i = 0; i < sizes[batch.rank]; ++i) {
      for (int64_t j = 0; j < sizes[batch.rank + 1]; ++j) {
        const Row a = {x1.const_data_ptr(), at[1] + i * x1.strides()[leading1],
                       x1.strides()[leading1 + 1]};
        const Row b = {x2.const_data_ptr(), at[2] + j * x2.strides()[leading2],
                       x2.strides()[leading2 + 1]};
        const int64_t to =
            at[0] + i * out.strides()[batch.rank] + j * out.strides()[batch.rank + 1];
        store(out.mutable_data_ptr(), static_cast<size_t>(to), distance(load, a, b, columns, p));
      }
    }
  });
}

// _pdist_forward.out(Tensor self, float p, *, out): the distances of all pairs
// of rows i < j, in that order.
void pdist_forward_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 3);
  const Tensor self = args.tensor(0);
  const double p = args.real(1);
  const Tensor out = args.out(2);
  if (!args.ok() || !check_floating(context, self) || !check_same_type(context, self, out) ||
      !check_rank(context, self, 2) || !check(context, p >= 0.0, "p is negative or not a number")) {
    return;
  }
  const int64_t rows = self.size(0);
  const int64_t pairs = rows * (rows - 1) / 2;
  if (!check(context, pairs <= INT32_MAX, "there are 2^31 pairs or more")) return;
  const SizesType sizes[] = {static_cast<SizesType>(pairs)};
  if (!resize_out(context, out, sizes) || !charge_product(context, out, self) ||
      !context.charge(static_cast<uint64_t>(rows))) {
    return;
  }
  const auto load = loader<double>(self.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  size_t k = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i + 1; j < rows; ++j) {
      const Row a = {self.const_data_ptr(), i * self.strides()[0], self.strides()[1]};
      const Row b = {self.const_data_ptr(), j * self.strides()[0], self.strides()[1]};
      store(out.mutable_data_ptr(), k++, distance(load, a, b, self.size(1), p));
    }
  }
}

}  // namespace petrel::runtime::portable
