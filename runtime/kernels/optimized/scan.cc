// SPDX-License-Identifier: Apache-2.0
//
// cumsum and topk: what goes along a dim of a contiguous tensor in order.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/parallel.h"
#include "runtime/kernels/optimized/reduction_shape.h"

namespace petrel::runtime::optimized {
namespace {

// Sums of `Sum` over elements of one type. Columns side by side, so that those
// of a dim that is not the last are read as rows.
template <typename T, typename Sum>
void running_sums(const T* in, T* out, const ReductionShape& shape) {
  constexpr size_t kColumns = 64;
  const size_t n = shape.length, inner = shape.inner;
  const size_t groups = (inner + kColumns - 1) / kColumns;
  const size_t width = std::min(inner, kColumns);
  parallel_for(shape.outer * groups, 1.0 * static_cast<double>(n * width),
               [&](size_t begin, size_t end) {
                 for (size_t i = begin; i < end; ++i) {
                   const size_t first = i % groups * kColumns;
                   const size_t columns = std::min(kColumns, inner - first);
                   const size_t at = i / groups * n * inner + first;
                   Sum sums[kColumns] = {};
                   for (size_t k = 0; k < n; ++k) {
                     const T* from = in + at + k * inner;
                     T* to = out + at + k * inner;
                     for (size_t j = 0; j < columns; ++j) {
                       sums[j] += static_cast<Sum>(from[j]);
                       to[j] = static_cast<T>(sums[j]);
                     }
                   }
                 }
               });
}

// cumsum.out(Tensor self, int dim, *, ScalarType? dtype, out)
bool cumsum(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 4);
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  const Tensor out = args.out(3);
  if (!args.ok()) return true;
  const ScalarType type = self.scalar_type();
  if (out.scalar_type() != type) return false;
  const auto shape = ReductionShape::of(self, Span<const int64_t>(&dim, 1));
  if (!shape || resize_tensor(out, self.sizes()) != Error::Ok || !is_contiguous(out)) return false;
  if (self.numel() == 0) return true;
  switch (type) {
    case ScalarType::Float:
      running_sums<float, double>(self.const_data_ptr<float>(), out.mutable_data_ptr<float>(),
                                  *shape);
      return true;
    case ScalarType::Long:
      running_sums<int64_t, uint64_t>(self.const_data_ptr<int64_t>(),
                                      out.mutable_data_ptr<int64_t>(), *shape);
      return true;
    case ScalarType::Int:
      running_sums<int32_t, uint32_t>(self.const_data_ptr<int32_t>(),
                                      out.mutable_data_ptr<int32_t>(), *shape);
      return true;
    default:
      return false;
  }
}

constexpr size_t kMostKept = 512;

// Whether a comes before b; NaN is larger than all.
template <bool kLargest>
bool before(float a, float b) {
  if (kLargest) return a != a ? b == b : a > b;
  return b != b ? a == a : a < b;
}

// The k first of a row in order, each after those that are equal and earlier.
// What was kept is sorted; nearly all of a long row is compared with the last
// kept and nothing more.
template <bool kLargest>
void keep_first(const float* row, size_t n, size_t k, float* values, int64_t* places) {
  float best[kMostKept];
  int64_t place[kMostKept];
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    const float x = row[i];
    if (kept == k && !before<kLargest>(x, best[k - 1])) continue;
    const size_t at = static_cast<size_t>(
        std::upper_bound(best, best + kept, x,
                         [](float a, float b) { return before<kLargest>(a, b); }) -
        best);
    const size_t moved = (kept < k ? kept++ : k - 1) - at;
    std::memmove(best + at + 1, best + at, moved * sizeof(float));
    std::memmove(place + at + 1, place + at, moved * sizeof(int64_t));
    best[at] = x;
    place[at] = static_cast<int64_t>(i);
  }
  std::memcpy(values, best, k * sizeof(float));
  std::memcpy(places, place, k * sizeof(int64_t));
}

// Orders as before() does, and equal values by their places: the value's bits above the
// place. Elements may lie in a file that somebody changes: what is sorted is a copy.
template <bool kLargest>
uint64_t order_of(float value, size_t place) {
  constexpr uint32_t kSign = uint32_t{1} << 31;
  if (value == 0) value = 0;  // of either sign
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  bits = (bits & kSign) != 0 ? ~bits : bits | kSign;
  if (value != value) bits = UINT32_MAX;
  return uint64_t{kLargest ? ~bits : bits} << 32 | place;
}

// The same for more than that: places, below 2^31, are put in order with their values.
template <bool kLargest>
void order_first(const float* row, size_t n, size_t k, float* values, int64_t* places) {
  const auto comes_before = [](int64_t a, int64_t b) {
    return static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
  };
  const auto order_at = [row](size_t i) {
    return static_cast<int64_t>(order_of<kLargest>(row[i], i));
  };
  for (size_t i = 0; i < k; ++i) places[i] = order_at(i);
  if (k < n) {
    std::make_heap(places, places + k, comes_before);
    for (size_t i = k; i < n; ++i) {
      // Nearly all of a long row comes after the last that is kept.
      const int64_t order = order_at(i);
      if (!comes_before(order, places[0])) continue;
      std::pop_heap(places, places + k, comes_before);
      places[k - 1] = order;
      std::push_heap(places, places + k, comes_before);
    }
  }
  std::sort(places, places + k, comes_before);
  for (size_t i = 0; i < k; ++i) {
    places[i] = static_cast<int64_t>(static_cast<uint64_t>(places[i]) & UINT32_MAX);
    values[i] = row[places[i]];
  }
}

// topk.values(Tensor self, SymInt k, int dim, bool largest, bool sorted, *,
//   values, indices)
bool topk(KernelRuntimeContext& context, Span<EValue*> raw) {
  KernelArgs args(context, raw, 7);
  const Tensor self = args.tensor(0);
  const int64_t k = args.integer(1);
  const int64_t dim = args.integer(2);
  const bool largest = args.boolean(3);
  const Tensor values = args.out(5);
  const Tensor indices = args.out(6);
  if (!args.ok()) return true;
  if (!is_float(self) || !is_float(values) || indices.scalar_type() != ScalarType::Long) {
    return false;
  }
  const auto shape = ReductionShape::of(self, Span<const int64_t>(&dim, 1));
  if (!shape || shape->inner != 1 || k < 1 || static_cast<size_t>(k) > shape->length) {
    return false;
  }
  portable::SizeArray sizes(self.sizes());
  for (size_t d = 0; d < sizes.rank; ++d) {
    if (shape->reduced[d]) sizes[d] = static_cast<portable::SizesType>(k);
  }
  if (resize_tensor(values, sizes.span()) != Error::Ok ||
      resize_tensor(indices, sizes.span()) != Error::Ok || !is_contiguous(values) ||
      !is_contiguous(indices)) {
    return false;
  }
  // Places are kept in the output and trusted to stay.
  if (!portable::check_apart(context, {self, values, indices})) return true;
  if (!portable::charge_order(context, self, k)) return true;
  const size_t n = shape->length, count = static_cast<size_t>(k);
  const float* in = self.const_data_ptr<float>();
  float* bests = values.mutable_data_ptr<float>();
  int64_t* places = indices.mutable_data_ptr<int64_t>();
  const bool few = count <= kMostKept;
  const auto keep = few ? (largest ? &keep_first<true> : &keep_first<false>)
                        : (largest ? &order_first<true> : &order_first<false>);
  const double cost = (few ? 0.7 : 40.0) * static_cast<double>(n);
  parallel_for(shape->outer, cost, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      keep(in + i * n, n, count, bests + i * count, places + i * count);
    }
  });
  return true;
}

}  // namespace

void cumsum_out(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!cumsum(context, raw)) portable::cumsum_out(context, raw);
}
void topk_values(KernelRuntimeContext& context, Span<EValue*> raw) {
  if (!topk(context, raw)) portable::topk_values(context, raw);
}

}  // namespace petrel::runtime::optimized
