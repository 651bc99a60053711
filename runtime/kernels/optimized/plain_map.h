// SPDX-License-Identifier: Apache-2.0
//
// out[i] = f(self[i]) by loops that compilers turn into vectors, for tensors of
// equal layout whose elements are not floats.
//
//   if (!map_plain<true>(self, out, [](auto x) { return x < 0 ? negated(x) : x; })) ...
//
// Each gives `out` its sizes and is false when the call is not for it.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_PLAIN_MAP_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_PLAIN_MAP_H_

#include <cstdint>

#include "runtime/kernels/optimized/fast_path.h"
#include "runtime/kernels/optimized/parallel.h"

namespace petrel::runtime::optimized {

// A plain loop. f is a copy, since bytes that are stored might be those of what
// it has captured. `to` may be `from`.
template <typename From, typename To, typename F>
void map_row(const From* from, To* to, size_t n, F f) {
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) to[i] = static_cast<To>(f(from[i]));
}

// f on integers and, where kWithDouble is true, on doubles.
template <bool kWithDouble, typename F>
bool map_plain(const Tensor& self, const Tensor& out, const F& f) {
  const ScalarType type = self.scalar_type();
  if (out.scalar_type() != type || resize_tensor(out, self.sizes()) != Error::Ok ||
      !same_layout(self, out)) {
    return false;
  }
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    const T* from = self.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    parallel_for(self.numel(), 0.3, [&](size_t begin, size_t end) {
      map_row(from + begin, to + begin, end - begin, f);
    });
    return true;
  };
  switch (type) {
    case ScalarType::Long:
      return run(int64_t{0});
    case ScalarType::Int:
      return run(int32_t{0});
    case ScalarType::Short:
      return run(int16_t{0});
    case ScalarType::Char:
      return run(int8_t{0});
    case ScalarType::Byte:
      return run(uint8_t{0});
    case ScalarType::Double:
      if constexpr (kWithDouble) return run(0.0);
      return false;
    default:
      return false;
  }
}

// f on doubles.
template <typename F>
bool map_doubles(const Tensor& self, const Tensor& out, double nanoseconds, const F& f) {
  if (self.scalar_type() != ScalarType::Double || out.scalar_type() != ScalarType::Double ||
      resize_tensor(out, self.sizes()) != Error::Ok || !same_layout(self, out)) {
    return false;
  }
  const double* from = self.const_data_ptr<double>();
  double* to = out.mutable_data_ptr<double>();
  parallel_for(self.numel(), nanoseconds, [&](size_t begin, size_t end) {
    map_row(from + begin, to + begin, end - begin, f);
  });
  return true;
}

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_PLAIN_MAP_H_
