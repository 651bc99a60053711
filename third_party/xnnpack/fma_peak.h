// SPDX-License-Identifier: Apache-2.0

// What a processor does when it does nothing but multiply and add floats, or divides them besides,
// or does nothing but read.
//
//   if (has_vectors(Vectors::kFma3)) run_fused_multiply_adds(Vectors::kFma3, 1000);
//   // 1000 * multiply_adds_per_round(Vectors::kFma3) of them
#ifndef PETREL_THIRD_PARTY_XNNPACK_FMA_PEAK_H_
#define PETREL_THIRD_PARTY_XNNPACK_FMA_PEAK_H_

#include <cstddef>

namespace petrel::third_party::xnnpack {

enum class Vectors { kFma3, kAvx512 };

// False for both elsewhere than on x86-64.
bool has_vectors(Vectors vectors);

// Twelve vectors of floats.
constexpr size_t multiply_adds_per_round(Vectors vectors) {
  return 12 * (vectors == Vectors::kAvx512 ? 16 : 8);
}

// Precondition: the processor has them.
void run_fused_multiply_adds(Vectors vectors, size_t rounds);

// The most per nanosecond of processor time, of runs that take 0.1 s.
double fused_multiply_adds_per_ns(Vectors vectors);

// Floats per nanosecond of a loop with ten multiply-adds and a division for each, no less than what
// a sigmoid takes. Precondition, here and below: the processor has them.
double quotients_per_ns(Vectors vectors);

// Of about `bytes` that are read again and again, from whichever cache holds them.
double bytes_read_per_ns(Vectors vectors, size_t bytes);

}  // namespace petrel::third_party::xnnpack

#endif  // PETREL_THIRD_PARTY_XNNPACK_FMA_PEAK_H_
