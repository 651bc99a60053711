// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) of bytes in memory, in plain C++. fast_sha256.h has the same with
// the processor's instructions for it.
//
//   uint8_t digest[kSha256Bytes];
//   sha256({data, size}, digest);
//
//   Sha256 hash;                       // of bytes that come in parts
//   hash.update({head, head_size});
//   hash.update({rest, rest_size});
//   hash.finish(digest);               // once
//
// Needs no heap and no tables but its constants.

#ifndef PETREL_RUNTIME_PLATFORM_SHA256_H_
#define PETREL_RUNTIME_PLATFORM_SHA256_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/span.h"

namespace petrel::runtime {

constexpr size_t kSha256Bytes = 32;

// Writes kSha256Bytes bytes to `digest`.
using Sha256Function = void (*)(Span<const uint8_t> data, uint8_t* digest);

void sha256(Span<const uint8_t> data, uint8_t* digest);

// Mixes `count` blocks of 64 bytes into the 8 numbers of the state.
using Sha256Mixer = void (*)(const uint8_t* blocks, size_t count, uint32_t* state);

void mix_sha256(const uint8_t* blocks, size_t count, uint32_t* state);

class Sha256 final {
 public:
  static constexpr size_t kBlockBytes = 64;

  explicit Sha256(Sha256Mixer mix = &mix_sha256) : mix_(mix) {}

  void update(Span<const uint8_t> data);
  void finish(uint8_t* digest);

 private:
  Sha256Mixer mix_;
  // The first 32 bits of the fractions of the square roots of the first 8 primes.
  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint64_t size_ = 0;
  size_t rest_ = 0;  // bytes in last_
  uint8_t last_[kBlockBytes];
};

// For mixers.
extern const uint32_t kSha256RoundConstants[64];

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_SHA256_H_
