// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/fma_peak.h"

#include <algorithm>
#include <ctime>

namespace petrel::third_party::xnnpack {
namespace {

double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

#if defined(__x86_64__)

bool has_vectors(Vectors vectors) {
  return vectors == Vectors::kAvx512 ? __builtin_cpu_supports("avx512f")
                                     : __builtin_cpu_supports("fma");
}

// Sums that do not wait for one another, in registers alone.
#define ADD(v, sum) "vfmadd231ps %%" v "12, %%" v "13, %%" v sum "\n\t"
#define ADD_ALL(v) \
  "1:\n\t" ADD(v, "0") ADD(v, "1") ADD(v, "2") ADD(v, "3") ADD(v, "4") ADD(v, "5")       \
      ADD(v, "6") ADD(v, "7") ADD(v, "8") ADD(v, "9") ADD(v, "10") ADD(v, "11")          \
  "sub $1, %[rounds]\n\t"                                                                \
  "jne 1b\n\t"                                                                           \
  "vzeroupper\n\t"
#define CLOBBERED                                                                          \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "cc"

void run_fused_multiply_adds(Vectors vectors, size_t rounds) {
  if (rounds == 0) return;
  if (vectors == Vectors::kAvx512) {
    __asm__ volatile(ADD_ALL("zmm") : [rounds] "+r"(rounds) : : CLOBBERED);
  } else {
    __asm__ volatile(ADD_ALL("ymm") : [rounds] "+r"(rounds) : : CLOBBERED);
  }
}

#else

bool has_vectors(Vectors) { return false; }
void run_fused_multiply_adds(Vectors, size_t) {}

#endif

double fused_multiply_adds_per_ns(Vectors vectors) {
  constexpr size_t kRounds = 100'000;
  double best = 1;
  for (double used = 0; used < 0.1;) {
    const double start = now();
    run_fused_multiply_adds(vectors, kRounds);
    const double time = now() - start;
    best = std::min(best, time);
    used += time;
  }
  return 1e-9 * static_cast<double>(kRounds * multiply_adds_per_round(vectors)) / best;
}

}  // namespace petrel::third_party::xnnpack
