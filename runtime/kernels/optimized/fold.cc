// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/fold.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/narrow_floats.h"
#include "runtime/kernels/optimized/parallel.h"

namespace petrel::runtime::optimized {
namespace {

constexpr size_t kColumns = 256;  // of a row of results at a time

// Each operation with the type C that it is computed in, for elements T.
template <typename T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

template <typename T>
struct Sum {
  using C = Wide<T>;
  static constexpr C kStart = 0;
  static C next(C sum, T x) { return sum + static_cast<C>(x); }
  static C join(C a, C b) { return a + b; }
};
template <typename>
struct Truths {  // of bools, which are bytes
  using C = uint64_t;
  static constexpr C kStart = 0;
  static C next(C count, uint8_t x) { return count + (x != 0 ? 1 : 0); }
  static C join(C a, C b) { return a + b; }
};
template <typename T>
struct Product {
  using C = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
  static constexpr C kStart = 1;
  static C next(C product, T x) { return product * static_cast<C>(x); }
  static C join(C a, C b) { return a * b; }
};
// NaN wins.
template <typename T>
struct Largest {
  using C = T;
  static constexpr C kStart = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::lowest();
  static C next(C best, T x) { return x != x || x > best ? x : best; }
  static C join(C a, C b) { return next(a, b); }
};
template <typename T>
struct Smallest {
  using C = T;
  static constexpr C kStart = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::max();
  static C next(C best, T x) { return x != x || x < best ? x : best; }
  static C join(C a, C b) { return next(a, b); }
};
template <typename T>
struct Any {
  using C = uint8_t;
  static constexpr C kStart = 0;
  static C next(C any, T x) { return static_cast<C>(any | (x != T{0} ? 1 : 0)); }
  static C join(C a, C b) { return a | b; }
};

// What is done to n elements: all into one result, or each into its own.
struct Functions {
  void (*start)(void* results, size_t n);
  void (*row)(const void* elements, size_t n, void* result);
  void (*columns)(const void* elements, size_t n, void* results);
  void (*store)(const void* results, size_t i, double count, const Tensor& out, size_t at);
};

template <typename Op>
void start(void* results, size_t n) {
  std::fill_n(static_cast<typename Op::C*>(results), n, Op::kStart);
}

// Several results side by side, so that one need not wait for the other.
template <typename Op, typename T>
void row(const void* elements, size_t n, void* result) {
  using C = typename Op::C;
  constexpr size_t kLanes = 8;
  const T* from = static_cast<const T*>(elements);
  C lanes[kLanes];
  std::fill_n(lanes, kLanes, Op::kStart);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) lanes[k] = Op::next(lanes[k], from[i + k]);
  }
  C& own = *static_cast<C*>(result);
  for (size_t k = 0; k < kLanes; ++k) own = Op::join(own, lanes[k]);
  for (; i < n; ++i) own = Op::next(own, from[i]);
}

template <typename Op, typename T>
void columns(const void* elements, size_t n, void* results) {
  const T* __restrict from = static_cast<const T*>(elements);
  typename Op::C* __restrict to = static_cast<typename Op::C*>(results);
  for (size_t i = 0; i < n; ++i) to[i] = Op::next(to[i], from[i]);
}

template <typename C>
void store(const void* results, size_t i, double count, const Tensor& out, size_t at) {
  const C value = static_cast<const C*>(results)[i];
  if constexpr (std::is_floating_point_v<C>) {
    portable::storer<double>(out.scalar_type())(out.mutable_data_ptr(), at,
                                                static_cast<double>(value) / count);
  } else {
    portable::storer<int64_t>(out.scalar_type())(out.mutable_data_ptr(), at,
                                                 static_cast<int64_t>(value));
  }
}

template <template <typename> class Op, typename T>
Functions functions() {
  return {&start<Op<T>>, &row<Op<T>, T>, &columns<Op<T>, T>, &store<typename Op<T>::C>};
}

// Half and bfloat16 come as floats. Nothing for types that are not taken.
template <template <typename> class Op>
std::optional<Functions> functions_of(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Float:
      return functions<Op, float>();
    case ScalarType::Double:
      return functions<Op, double>();
    case ScalarType::Long:
      return functions<Op, int64_t>();
    case ScalarType::Int:
      return functions<Op, int32_t>();
    case ScalarType::Short:
      return functions<Op, int16_t>();
    case ScalarType::Char:
      return functions<Op, int8_t>();
    case ScalarType::Byte:
      return functions<Op, uint8_t>();
    default:
      return std::nullopt;
  }
}

std::optional<Functions> functions_of(ScalarType type, Fold kind) {
  switch (kind) {
    case Fold::kSum:
      if (type == ScalarType::Bool) return functions<Truths, uint8_t>();
      return functions_of<Sum>(type);
    case Fold::kMean:
      return functions_of<Sum>(type);
    case Fold::kProduct:
      return functions_of<Product>(type);
    case Fold::kLargest:
      return functions_of<Largest>(type);
    case Fold::kSmallest:
      return functions_of<Smallest>(type);
    case Fold::kAny:
      // A bool is a byte, of which any but 0 is true.
      return functions_of<Any>(type == ScalarType::Bool ? ScalarType::Byte : type);
  }
  return std::nullopt;
}

// Dims of the input before the run, in the order of its memory.
struct Dims {
  size_t size[kTensorDimensionLimit], stride[kTensorDimensionLimit];
  size_t rank = 0, count = 1;

  void add(size_t n, size_t step) {
    size[rank] = n;
    stride[rank++] = step;
    count *= n;
  }
  size_t place(size_t i) const {
    size_t at = 0;
    for (size_t d = rank; d-- > 0; i /= size[d]) at += i % size[d] * stride[d];
    return at;
  }
};

struct Plan {
  Dims kept, reduced;
  size_t run = 1;
  bool run_is_reduced = true;
  size_t length = 1;  // elements that become one

  // False where dims are wrong. Gives `out` its sizes.
  bool prepare(const Tensor& self, std::optional<Span<const int64_t>> list, bool keepdim,
               const Tensor& out) {
    const auto sizes = self.sizes();
    const int64_t rank = self.dim();
    bool is_reduced[kTensorDimensionLimit] = {};
    for (int64_t d = 0; d < rank; ++d) is_reduced[d] = !list || list->empty();
    if (list) {
      for (const int64_t d : *list) {
        if (d < -rank || d >= rank || is_reduced[d < 0 ? d + rank : d]) return false;
        is_reduced[d < 0 ? d + rank : d] = true;
      }
    }
    portable::SizeArray result;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (!is_reduced[d]) {
        result[result.rank++] = sizes[d];
      } else if (keepdim) {
        result[result.rank++] = 1;
      }
    }
    if (resize_tensor(out, result.span()) != Error::Ok || !is_contiguous(out)) return false;
    size_t d = sizes.size();
    while (d > 0 && sizes[d - 1] == 1) --d;
    run_is_reduced = d == 0 || is_reduced[d - 1];
    for (; d > 0 && (sizes[d - 1] == 1 || is_reduced[d - 1] == run_is_reduced); --d) {
      run *= static_cast<size_t>(sizes[d - 1]);
    }
    for (size_t i = 0; i < d; ++i) {
      if (sizes[i] == 1) continue;
      (is_reduced[i] ? reduced : kept)
          .add(static_cast<size_t>(sizes[i]), static_cast<size_t>(self.strides()[i]));
    }
    length = reduced.count * (run_is_reduced ? run : 1);
    return true;
  }
};

bool types_fit(ScalarType from, ScalarType to, Fold kind) {
  const bool floating = portable::is_floating(from);
  switch (kind) {
    case Fold::kAny:
      return to == ScalarType::Bool || to == ScalarType::Byte;
    case Fold::kMean:
      return floating && portable::is_floating(to);
    case Fold::kLargest:
    case Fold::kSmallest:
      return from == to;
    case Fold::kProduct:
      // Computed in floats, which overflow where doubles do not.
      if (to == ScalarType::Double && from != to) return false;
      [[fallthrough]];
    default:
      return floating == portable::is_floating(to) && to != ScalarType::Bool &&
             portable::is_arithmetic(to);
  }
}

}  // namespace

bool fold(const Tensor& self, std::optional<Span<const int64_t>> dims, bool keepdim,
          const Tensor& out, Fold kind) {
  const ScalarType type = self.scalar_type();
  const auto f = functions_of(type, kind);
  Plan plan;
  if (!f || !types_fit(type, out.scalar_type(), kind) || !is_contiguous(self) ||
      !plan.prepare(self, dims, keepdim, out) || plan.length == 0) {
    return false;
  }
  const double count = kind == Fold::kMean ? static_cast<double>(plan.length) : 1.0;
  const char* data = static_cast<const char*>(self.const_data_ptr());
  const size_t size = self.element_size();
  // f on n elements from element `at` on.
  const auto apply = [&](auto function, size_t at, size_t n, void* results) {
    if (!is_narrow(type)) return function(data + at * size, n, results);
    float piece[kColumns];  // columns are no more than fit; a row is cut
    for (size_t i = 0; i < n; i += kColumns) {
      const size_t m = std::min(kColumns, n - i);
      widen(type, data, at + i, piece, m);
      function(piece, m, results);
    }
  };
  if (plan.run_is_reduced) {
    parallel_for(plan.kept.count, 0.3 * static_cast<double>(plan.length),
                 [&](size_t begin, size_t end) {
                   for (size_t k = begin; k < end; ++k) {
                     uint64_t result = 0;
                     f->start(&result, 1);
                     const size_t base = plan.kept.place(k);
                     for (size_t r = 0; r < plan.reduced.count; ++r) {
                       apply(f->row, base + plan.reduced.place(r), plan.run, &result);
                     }
                     f->store(&result, 0, count, out, k);
                   }
                 });
    return true;
  }
  const size_t blocks = (plan.run + kColumns - 1) / kColumns;
  const size_t width = std::min(plan.run, kColumns);
  parallel_for(plan.kept.count * blocks, 0.3 * static_cast<double>(plan.length * width),
               [&](size_t begin, size_t end) {
                 for (size_t u = begin; u < end; ++u) {
                   const size_t first = u % blocks * kColumns;
                   const size_t n = std::min(kColumns, plan.run - first);
                   uint64_t results[kColumns];
                   f->start(results, n);
                   const size_t base = plan.kept.place(u / blocks) + first;
                   for (size_t r = 0; r < plan.reduced.count; ++r) {
                     apply(f->columns, base + plan.reduced.place(r), n, results);
                   }
                   for (size_t j = 0; j < n; ++j) {
                     f->store(results, j, count, out, u / blocks * plan.run + first + j);
                   }
                 }
               });
  return true;
}

}  // namespace petrel::runtime::optimized
