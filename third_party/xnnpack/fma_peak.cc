// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/fma_peak.h"

#include <algorithm>
#include <ctime>
#include <vector>

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

// Two quotients, each with ten multiply-adds, of ones: other numbers may take longer.
#define TEN(v) \
  ADD(v, "0")  \
  ADD(v, "1")  \
  ADD(v, "2") ADD(v, "3") ADD(v, "4") ADD(v, "5") ADD(v, "6") ADD(v, "7") ADD(v, "8") ADD(v, "9")
#define DIVIDE(v)                                                                              \
  "vbroadcastss %[one], %%" v                                                                  \
  "12\n\t"                                                                                     \
  "vbroadcastss %[one], %%" v                                                                  \
  "13\n\t"                                                                                     \
  "1:\n\t" TEN(v) "vdivps %%" v "12, %%" v "13, %%" v "10\n\t" TEN(v) "vdivps %%" v "12, %%" v \
                                                                      "13, %%" v               \
                                                                      "11\n\t"                 \
                                                                      "sub $1, %[rounds]\n\t"  \
                                                                      "jne 1b\n\t"             \
                                                                      "vzeroupper\n\t"

namespace {

void run_quotients(Vectors vectors, size_t rounds) {
  const float one = 1;
  if (vectors == Vectors::kAvx512) {
    __asm__ volatile(DIVIDE("zmm") : [rounds] "+r"(rounds) : [one] "m"(one) : CLOBBERED);
  } else {
    __asm__ volatile(DIVIDE("ymm") : [rounds] "+r"(rounds) : [one] "m"(one) : CLOBBERED);
  }
}

#define READ(v, step, at, sum) "vmaxps " at "*" step "(%[from]), %%" v sum ", %%" v sum "\n\t"
#define READ_ALL(v, step)                                                          \
  "1:\n\t" READ(v, step, "0", "0") READ(v, step, "1", "1") READ(v, step, "2", "2") \
      READ(v, step, "3", "3") READ(v, step, "4", "4") READ(v, step, "5", "5")      \
          READ(v, step, "6", "6") READ(v, step, "7", "7") "add $8*" step           \
                                                          ", %[from]\n\t"          \
                                                          "sub $1, %[rounds]\n\t"  \
                                                          "jne 1b\n\t"             \
                                                          "vzeroupper\n\t"

void read_vectors(Vectors vectors, const char* from, size_t rounds) {
  if (vectors == Vectors::kAvx512) {
    __asm__ volatile(READ_ALL("zmm", "64")
                     : [rounds] "+r"(rounds), [from] "+r"(from)
                     :
                     : CLOBBERED, "memory");
  } else {
    __asm__ volatile(READ_ALL("ymm", "32")
                     : [rounds] "+r"(rounds), [from] "+r"(from)
                     :
                     : CLOBBERED, "memory");
  }
}

}  // namespace

#else

bool has_vectors(Vectors) { return false; }
void run_fused_multiply_adds(Vectors, size_t) {}
namespace {
void run_quotients(Vectors, size_t) {}
void read_vectors(Vectors, const char*, size_t) {}
}  // namespace

#endif

namespace {

size_t lanes(Vectors vectors) { return vectors == Vectors::kAvx512 ? 16 : 8; }

// The best of runs that take 0.1 s, in seconds.
template <typename Run>
double best_of(const Run& run) {
  double best = 1;
  for (double used = 0; used < 0.1;) {
    const double start = now();
    run();
    const double time = now() - start;
    best = std::min(best, time);
    used += time;
  }
  return best;
}

}  // namespace

double fused_multiply_adds_per_ns(Vectors vectors) {
  constexpr size_t kRounds = 100'000;
  const double best = best_of([=] { run_fused_multiply_adds(vectors, kRounds); });
  return 1e-9 * static_cast<double>(kRounds * multiply_adds_per_round(vectors)) / best;
}

double quotients_per_ns(Vectors vectors) {
  constexpr size_t kRounds = 20'000;
  const double best = best_of([=] { run_quotients(vectors, kRounds); });
  return 1e-9 * static_cast<double>(kRounds * 2 * lanes(vectors)) / best;
}

double bytes_read_per_ns(Vectors vectors, size_t bytes) {
  const size_t round = 8 * lanes(vectors) * sizeof(float);
  const size_t rounds = std::max<size_t>(bytes / round, 1);
  const std::vector<float> zeros(rounds * round / sizeof(float));
  const size_t times = std::max<size_t>(1'000'000 / (rounds * round), 1);
  const double best = best_of([&] {
    for (size_t i = 0; i < times; ++i) {
      read_vectors(vectors, reinterpret_cast<const char*>(zeros.data()), rounds);
    }
  });
  return 1e-9 * static_cast<double>(times * rounds * round) / best;
}

}  // namespace petrel::third_party::xnnpack
