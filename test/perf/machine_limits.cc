// SPDX-License-Identifier: Apache-2.0
//
// What one thread of this machine does at most, as a JSON object: fused multiply-adds per
// nanosecond by instruction set, floats per nanosecond of a loop with ten of them and a division
// for each, bytes per nanosecond that copies of given sizes read and write, and those that reading
// as many reads.
//
//   machine_limits 1048576
//   # {"avx2": 62.0, "native": 123.1, "quotients": {"avx2": 4.9, "native": 6.1},
//   #  "copies": {"1048576": 55.2}, "reads": {"1048576": 80.1}}

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "third_party/xnnpack/fma_peak.h"

namespace {

using petrel::third_party::xnnpack::bytes_read_per_ns;
using petrel::third_party::xnnpack::fused_multiply_adds_per_ns;
using petrel::third_party::xnnpack::has_vectors;
using petrel::third_party::xnnpack::quotients_per_ns;
using petrel::third_party::xnnpack::Vectors;

// Of copies that move `bytes` in all, half of them read and half written.
double copied_bytes_per_ns(size_t bytes) {
  const std::vector<char> from(bytes / 2, 1);
  std::vector<char> to(bytes / 2);
  double best = 1e9, used = 0;
  for (int i = 0; i < 5 || used < 0.1; ++i) {
    const auto start = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), to.size());
    // Keeps the copy although nobody reads it.
    __asm__ volatile("" : : "r"(to.data()) : "memory");
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
    used += time.count();
  }
  return 1e-9 * static_cast<double>(bytes) / best;
}

template <typename Rate>
void print_rates(const char* name, const std::vector<size_t>& sizes, const Rate& rate) {
  std::printf("\"%s\": {", name);
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::printf("%s\"%zu\": %.2f", i == 0 ? "" : ", ", sizes[i], rate(sizes[i]));
  }
  std::printf("}");
}

}  // namespace

int main(int argc, char** argv) {
  if (!has_vectors(Vectors::kFma3)) {
    std::fprintf(stderr, "machine_limits: the processor has no FMA3\n");
    return 1;
  }
  const double fma3 = fused_multiply_adds_per_ns(Vectors::kFma3);
  const bool is_wide = has_vectors(Vectors::kAvx512);
  const double native = is_wide ? fused_multiply_adds_per_ns(Vectors::kAvx512) : fma3;
  const Vectors widest = is_wide ? Vectors::kAvx512 : Vectors::kFma3;
  std::vector<size_t> sizes;
  for (int i = 1; i < argc; ++i) {
    char* end = nullptr;
    const unsigned long long bytes = std::strtoull(argv[i], &end, 10);
    if (*end != '\0' || bytes < 2 || bytes > (1ull << 32)) {
      std::fprintf(stderr, "machine_limits: '%s' is no number of bytes in [2, 2^32]\n", argv[i]);
      return 1;
    }
    sizes.push_back(bytes);
  }
  std::printf("{\"avx2\": %.2f, \"native\": %.2f, ", fma3, native);
  std::printf("\"quotients\": {\"avx2\": %.2f, \"native\": %.2f}, ",
              quotients_per_ns(Vectors::kFma3), quotients_per_ns(widest));
  print_rates("copies", sizes, [](size_t bytes) { return copied_bytes_per_ns(bytes); });
  std::printf(", ");
  print_rates("reads", sizes, [=](size_t bytes) { return bytes_read_per_ns(widest, bytes); });
  std::printf("}\n");
  return 0;
}
