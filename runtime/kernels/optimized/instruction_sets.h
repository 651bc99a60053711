// SPDX-License-Identifier: Apache-2.0
//
// The instruction sets that vector code is compiled for: SSE4, AVX2 and AVX-512
// beside the least that the compiler may assume; on arm64 NEON, as vectors
// without a fixed size cannot be kept in arrays. To be included before
// hwy/foreach_target.h.
//
//   PETREL_EXPORT(Row_exp);                // a table with one entry per set
//   PETREL_DISPATCH(Row_exp)(in, out, n);  // the best for this machine
//
// Highway is used for its headers alone. Its library measures the resolution of
// timers when a process starts, a few milliseconds that nothing here needs, and
// choosing through it costs a call into a shared object each time.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_INSTRUCTION_SETS_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_INSTRUCTION_SETS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#define PETREL_UNUSED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

// GCC 12 aligns frames to no more than 32 bytes when AddressSanitizer keeps
// them to find uses after return; vectors of AVX-512 need 64.
#if defined(__SANITIZE_ADDRESS__)
#define HWY_DISABLED_TARGETS (PETREL_UNUSED_TARGETS | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS PETREL_UNUSED_TARGETS
#endif

#include "hwy/detect_targets.h"

#if HWY_ARCH_X86 && (HWY_TARGETS & (HWY_TARGETS - 1)) != 0

#define PETREL_EXPORT(function)                                                                   \
  HWY_MAYBE_UNUSED static decltype(&HWY_STATIC_DISPATCH(function))                                \
      const PetrelTable_##function[] = {HWY_CHOOSE_FALLBACK(function), HWY_CHOOSE_SSE4(function), \
                                        HWY_CHOOSE_AVX2(function), HWY_CHOOSE_AVX3(function)}
#define PETREL_DISPATCH(function) \
  (PetrelTable_##function[::petrel::runtime::optimized::instruction_set()])

#else

#define PETREL_EXPORT(function) static_assert(true, "")
#define PETREL_DISPATCH(function) (&HWY_STATIC_DISPATCH(function))

#endif

namespace petrel::runtime::optimized {

namespace internal {
inline constexpr uint32_t kUndecided = ~uint32_t{0};
extern std::atomic<uint32_t> chosen;
uint32_t choose();
}  // namespace internal

// The place of the chosen set in the tables.
inline size_t instruction_set() {
  const uint32_t chosen = internal::chosen.load(std::memory_order_relaxed);
  return chosen != internal::kUndecided ? chosen : internal::choose();
}

// Of the sets that are compiled, those that this machine has and that the level
// of the process (runtime/platform/isa_level.h) allows: bits of Highway.
int64_t supported_targets();

// Chooses the best of `targets`; 0 means all. For tests, while no kernel runs.
void choose_among(int64_t targets);

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_INSTRUCTION_SETS_H_
