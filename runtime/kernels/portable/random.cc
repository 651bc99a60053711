// SPDX-License-Identifier: Apache-2.0
//
// Random numbers: one sequence for the process, which begins the same in each
// process, so that runs can be repeated. Not for secrets.
#include <atomic>
#include <cmath>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/reference_math.h"

namespace petrel::runtime::portable {
namespace {

std::atomic<uint64_t> counter{0};

// Mixes a counter until each bit of it changes half of the bits of the result.
uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

// Uniform in [0, 1), in steps that a float holds.
double uniform() {
  const uint64_t n = counter.fetch_add(1, std::memory_order_relaxed) + 1;
  return static_cast<double>(mixed(n * 0x9e3779b97f4a7c15u) >> 40) * 0x1p-24;
}

// Normal with mean 0 and deviation 1, from two uniform numbers by way of their
// polar coordinates.
double normal() {
  constexpr double kTwoPi = 6.28318530717958647692;
  const double radius = std::sqrt(-2.0 * reference_math::log(1.0 - uniform()));
  return radius * reference_math::cos(kTwoPi * uniform());
}

void fill_with(KernelRuntimeContext& context, Span<EValue*> raw, double (*next)()) {
  KernelArgs args(context, raw, 2);
  const Span<const int64_t> list = args.int_list(0);
  const Tensor out = args.out(1);
  if (!args.ok() || !check_floating(context, out) ||
      !check(context, list.size() <= kTensorDimensionLimit, "rank is above 16")) {
    return;
  }
  SizeArray sizes;
  sizes.rank = list.size();
  for (size_t d = 0; d < list.size(); ++d) {
    if (!check(context, list[d] >= 0 && list[d] <= INT32_MAX, "a size is not in [0, 2^31)")) {
      return;
    }
    sizes[d] = static_cast<SizesType>(list[d]);
  }
  if (!resize_out(context, out, sizes.span())) return;
  const auto store = storer<double>(out.scalar_type());
  for (size_t i = 0; i < out.numel(); ++i) store(out.mutable_data_ptr(), i, next());
}

}  // namespace

// rand.out(SymInt[] size, *, out)
void rand_out(KernelRuntimeContext& context, Span<EValue*> args) {
  fill_with(context, args, uniform);
}

// randn.out(SymInt[] size, *, out)
void randn_out(KernelRuntimeContext& context, Span<EValue*> args) {
  fill_with(context, args, normal);
}

// native_dropout.out(Tensor input, float p, bool? train, *, out0, out1): with
// train (or None), elements survive with probability 1 - p and are scaled by
// its inverse; out1 tells which.
void native_dropout_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 5);
  const Tensor input = args.tensor(0);
  const double p = args.real(1);
  const std::optional<bool> train = args.optional_boolean(2);
  const Tensor out = args.out(3);
  const Tensor mask = args.out(4);
  if (!args.ok() || !check_floating(context, input) || !check_same_type(context, input, out) ||
      !check(context, mask.scalar_type() == ScalarType::Bool, "the mask must be bool") ||
      !check(context, p >= 0.0 && p <= 1.0, "p is not in [0, 1]") ||
      !check_contiguous(context, input) || !resize_one_out(context, out, input.sizes()) ||
      !check_contiguous(context, out) || !resize_out(context, mask, input.sizes()) ||
      !check_contiguous(context, mask)) {
    return;
  }
  const bool drops = train.value_or(true) && p > 0.0;
  const double scale = p < 1.0 ? 1.0 / (1.0 - p) : 0.0;
  const auto load = loader<double>(input.scalar_type());
  const auto store = storer<double>(out.scalar_type());
  uint8_t* kept = static_cast<uint8_t*>(mask.mutable_data_ptr());
  for (size_t i = 0; i < input.numel(); ++i) {
    const double x = load(input.const_data_ptr(), i);
    const bool stays = !drops || uniform() >= p;
    store(out.mutable_data_ptr(), i, !stays ? 0.0 : drops ? x * scale : x);
    kept[i] = stays ? 1 : 0;
  }
}

}  // namespace petrel::runtime::portable
