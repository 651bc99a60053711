// SPDX-License-Identifier: Apache-2.0
//
// Loops on the threads of the process (runtime/threads), for kernels.
//
//   parallel_for(rows, /*nanoseconds=*/0.3 * columns, [&](size_t begin, size_t end) {
//     for (size_t i = begin; i < end; ++i) ...
//   });
//
// `nanoseconds` is what one unit takes on one thread, roughly. Work below 7 µs
// runs on the caller: waking a thread and waiting for it costs a good part of
// that. The pieces are equal and large; their order is not defined.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_PARALLEL_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_PARALLEL_H_

#include <cstddef>
#include <type_traits>

namespace petrel::runtime::optimized {

inline constexpr double kLeastParallelNanoseconds = 7000.0;

using RangeFunction = void (*)(void* context, size_t begin, size_t end);

void parallel_ranges(size_t count, double nanoseconds, RangeFunction function, void* context);

template <typename Body>
void parallel_for(size_t count, double nanoseconds, Body&& body) {
  if (static_cast<double>(count) * nanoseconds < kLeastParallelNanoseconds || count < 2) {
    if (count > 0) body(size_t{0}, count);
    return;
  }
  using Plain = std::remove_reference_t<Body>;
  parallel_ranges(
      count, nanoseconds,
      [](void* context, size_t begin, size_t end) { (*static_cast<Plain*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_PARALLEL_H_
