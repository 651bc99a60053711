// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/sha256.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace petrel::backends::xnnpack {
namespace {

// Fractional parts of the cube roots of the first 64 primes.
alignas(16) constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

constexpr uint32_t rotate(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

void compress_portable(uint32_t state[8], const uint8_t* blocks, size_t count) {
  for (; count > 0; --count, blocks += 64) {
    uint32_t w[64];
    for (size_t i = 0; i < 16; ++i) {
      const uint8_t* p = blocks + 4 * i;
      w[i] = uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
    }
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
#pragma GCC unroll 8
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const uint32_t choice = (e & f) ^ (~e & g);
      const uint32_t t1 = h + big1 + choice + kRounds[i] + w[i];
      const uint32_t big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + big0 + majority;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
}

#if defined(__x86_64__)

// The instructions keep the state as two vectors, ABEF and CDGH (high to low),
// and do two rounds at a time; w holds the next 16 words of the schedule.
[[gnu::target("sha,sse4.1,ssse3")]] void compress_sha_ni(uint32_t state[8],
                                                         const uint8_t* blocks, size_t count) {
  const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  const __m128i dcba = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state));
  const __m128i hgfe = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state + 4));
  // Lanes 0..3 of the loads are a b c d and e f g h.
  const __m128i cdab = _mm_shuffle_epi32(dcba, 0xB1);
  const __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i) {
      const auto* words = reinterpret_cast<const __m128i*>(blocks + 16 * i);
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(words), swap);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const auto* constants = reinterpret_cast<const __m128i*>(kRounds + 4 * i);
      const __m128i sum = _mm_add_epi32(w[i % 4], _mm_load_si128(constants));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      if (i < 12) {
        // Words 16 places on: from those 16, 15, 7 and 2 places before.
        const __m128i w16 = w[i % 4];
        const __m128i w12 = w[(i + 1) % 4];
        const __m128i w8 = w[(i + 2) % 4];
        const __m128i w4 = w[(i + 3) % 4];
        const __m128i seven = _mm_alignr_epi8(w4, w8, 4);
        w[i % 4] = _mm_sha256msg2_epu32(
            _mm_add_epi32(_mm_sha256msg1_epu32(w16, w12), seven), w4);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool has_sha_ni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0) {
    return false;
  }
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1u << 29)) != 0;
}

#endif

}  // namespace

Sha256::Sha256(bool portable) : compress_(&compress_portable) {
#if defined(__x86_64__)
  static const bool use_sha_ni = has_sha_ni();
  if (!portable && use_sha_ni) compress_ = &compress_sha_ni;
#else
  (void)portable;
#endif
  // Fractional parts of the square roots of the first 8 primes.
  constexpr uint32_t kStart[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::memcpy(state_, kStart, sizeof(state_));
}

void Sha256::update(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  total_ += size;
  if (filled_ > 0) {
    const size_t part = std::min(size, sizeof(block_) - filled_);
    std::memcpy(block_ + filled_, bytes, part);
    filled_ += part;
    bytes += part;
    size -= part;
    if (filled_ < sizeof(block_)) return;
    compress_(state_, block_, 1);
    filled_ = 0;
  }
  compress_(state_, bytes, size / sizeof(block_));
  bytes += size / sizeof(block_) * sizeof(block_);
  filled_ = size % sizeof(block_);
  if (filled_ > 0) std::memcpy(block_, bytes, filled_);
}

Digest Sha256::finish() {
  const uint64_t bits = total_ * 8;
  block_[filled_++] = 0x80;
  if (filled_ > 56) {
    std::memset(block_ + filled_, 0, sizeof(block_) - filled_);
    compress_(state_, block_, 1);
    filled_ = 0;
  }
  std::memset(block_ + filled_, 0, 56 - filled_);
  for (int i = 0; i < 8; ++i) block_[56 + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  compress_(state_, block_, 1);
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

}  // namespace petrel::backends::xnnpack
