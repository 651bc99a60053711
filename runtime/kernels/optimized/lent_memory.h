// SPDX-License-Identifier: Apache-2.0
//
// LentMemory<N>: work memory for a piece of a call, at most N floats. One thread
// at a time gets the scratch memory of the call, or temporary memory of the
// application where the program planned none; other threads, and calls without
// either, work on their stacks.
//
//   LentMemory<PaddedPlane::kBuffer> memory(context, padded.bytes());
//   parallel_for(planes, nanoseconds, [&](size_t begin, size_t end) {
//     memory.lend([&](float* buffer) { padded.fill(plane, p, 0.0f, buffer); ... });
//   });
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_LENT_MEMORY_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_LENT_MEMORY_H_

#include <atomic>
#include <cstddef>

#include "runtime/kernel/kernel_runtime_context.h"

namespace petrel::runtime::optimized {

template <size_t kMostFloats>
class LentMemory final {
 public:
  LentMemory(KernelRuntimeContext& context, size_t bytes)
      : memory_(static_cast<float*>(context.try_allocate_temp(bytes, 16))) {}

  // body(float*): at least as many bytes as were asked for, for this thread.
  template <typename Body>
  void lend(Body&& body) {
    if (memory_ == nullptr || is_lent_.exchange(true, std::memory_order_acquire)) {
      return on_stack(body);
    }
    body(memory_);
    is_lent_.store(false, std::memory_order_release);
  }

 private:
  // Apart, so that whoever is lent memory needs no such stack.
  template <typename Body>
  __attribute__((noinline)) static void on_stack(Body& body) {
    alignas(64) float buffer[kMostFloats];
    body(buffer);
  }

  float* const memory_;
  std::atomic<bool> is_lent_{false};
};

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_LENT_MEMORY_H_
