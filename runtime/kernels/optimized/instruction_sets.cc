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

// Whether the system saves what they need, too.
bool machine_has(uint32_t features) { return is_available({"", features, features, ""}); }

}  // namespace

#endif

int64_t supported_targets() {
#if HWY_ARCH_X86
  int64_t targets = HWY_STATIC_TARGET | HWY_EMU128 | HWY_SCALAR;
  unsigned a = 0, b = 0, c = 0, d = 0;
  // Of SSE4 what IsaFeature has no names for: PCLMUL, SSE4.1, SSE4.2, AES.
  constexpr unsigned kSse4 = 1u << 1 | 1u << 19 | 1u << 20 | 1u << 25;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kSse4) == kSse4) {
    targets |= HWY_SSE4;
    constexpr unsigned kBmi = 1u << 3 | 1u << 8;
    if (machine_has(kF16c | kFma3 | kAvx2) && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
        (b & kBmi) == kBmi) {
      targets |= HWY_AVX2;
      if (machine_has(kAvx512f | kAvx512skx)) targets |= HWY_AVX3;
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
