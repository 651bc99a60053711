// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/instruction_sets.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "hwy/base.h"
#include "runtime/platform/isa_level.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace petrel::runtime::optimized {

namespace internal {

std::atomic<uint32_t> chosen{kUndecided};

uint32_t choose() {
  choose_among(0);
  return chosen.load(std::memory_order_relaxed);
}

}  // namespace internal

#if HWY_ARCH_X86

namespace {

// Of Highway's sets only those whose every part is allowed: SSE4 has more than
// SSE4.1 and comes with AVX.
int64_t allowed_targets() {
  const uint32_t features = isa_level().features;
  int64_t targets = HWY_STATIC_TARGET | HWY_EMU128 | HWY_SCALAR;
  if ((features & kAvx) != 0) targets |= HWY_SSE4;
  if ((features & kAvx2) != 0) targets |= HWY_AVX2;
  if ((features & kAvx512skx) != 0) targets |= HWY_AVX3;
  return targets;
}

}  // namespace

#endif

int64_t supported_targets() {
#if HWY_ARCH_X86
  // The built-in also asks whether the system saves the wider registers.
  int64_t targets = HWY_STATIC_TARGET | HWY_EMU128 | HWY_SCALAR;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
      __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes")) {
    targets |= HWY_SSE4;
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool half = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1u << 29)) != 0;
    if (half && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
      targets |= HWY_AVX2;
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
          __builtin_cpu_supports("avx512cd")) {
        targets |= HWY_AVX3;
      }
    }
  }
  return targets & allowed_targets() & HWY_TARGETS;
#else
  return HWY_STATIC_TARGET;
#endif
}

void choose_among(int64_t targets) {
  uint32_t best = 0;
#if HWY_ARCH_X86
  const int64_t usable = supported_targets() & (targets == 0 ? ~int64_t{0} : targets);
  if ((usable & HWY_SSE4) != 0) best = 1;
  if ((usable & HWY_AVX2) != 0) best = 2;
  if ((usable & HWY_AVX3) != 0) best = 3;
#else
  (void)targets;
#endif
  internal::chosen.store(best, std::memory_order_relaxed);
}

}  // namespace petrel::runtime::optimized

namespace hwy {

// Assertions in Highway's headers, on in builds without optimization and with
// sanitizers, end here.
HWY_NORETURN void Abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  va_list args;
  va_start(args, format);
  std::vfprintf(stderr, format, args);
  va_end(args);
  std::abort();
}

}  // namespace hwy
