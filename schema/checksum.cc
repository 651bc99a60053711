// SPDX-License-Identifier: Apache-2.0
#include "schema/checksum.h"

namespace petrel::schema {
namespace {

constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;

uint64_t mix(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * kFactor;
  return sum ^ sum >> 32;
}

// Little-endian on every machine; compilers make it one load.
uint64_t word_at(const uint8_t* bytes) {
  uint64_t word = 0;
  for (size_t i = 8; i-- > 0;) word = word << 8 | bytes[i];
  return word;
}

}  // namespace

uint64_t checksum(const void* data, size_t size, uint64_t seed) {
  const auto* const bytes = static_cast<const uint8_t*>(data);
  // Four sums side by side, so that memory is the limit and not the products.
  // They start at large numbers: a small one would meet a byte or a size.
  uint64_t sums[4];
  for (uint64_t i = 0; i < 4; ++i) sums[i] = seed ^ (i + 1) * kFactor;
  size_t at = 0;
  for (; size - at >= 32; at += 32) {
    for (size_t i = 0; i < 4; ++i) sums[i] = mix(sums[i], word_at(bytes + at + 8 * i));
  }
  for (; at < size; ++at) sums[0] = mix(sums[0], bytes[at]);
  uint64_t sum = size;
  for (const uint64_t one : sums) sum = mix(sum, one);
  return sum;
}

}  // namespace petrel::schema
