// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/fast_sha256.h"

#include <atomic>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>

#include "runtime/platform/arm64_features.h"
#endif

namespace petrel::runtime {

namespace {

// Each instruction makes some rounds; a vector has four words of the block.
constexpr int kSteps = 16;
constexpr int kStepsWithNewWords = 12;

#if defined(__x86_64__)

bool ask_machine() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSse41Bits = 1u << 19 | 1u << 9;  // and SSSE3
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSse41Bits) != kSse41Bits) return false;
  constexpr unsigned kShaBit = 1u << 29;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kShaBit) != 0;
}

__m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }

// The instructions want the state as ABEF and CDGH.
[[gnu::target("sha,sse4.1")]] void mix_with_instructions(const uint8_t* blocks, size_t count,
                                                         uint32_t* state) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i badc = _mm_shuffle_epi32(load(state), 0xB1);
  const __m128i hgfe = _mm_shuffle_epi32(load(state + 4), 0x1B);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);
  for (; count > 0; --count, blocks += Sha256::kBlockBytes) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i words[4];
    for (int i = 0; i < 4; ++i) words[i] = _mm_shuffle_epi8(load(blocks + 16 * i), big_endian);
#pragma GCC unroll 16
    for (int i = 0; i < kSteps; ++i) {
      __m128i& first = words[i % 4];
      const __m128i last = words[(i + 3) % 4];
      const __m128i sum = _mm_add_epi32(first, load(kSha256RoundConstants + 4 * i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      if (i >= kStepsWithNewWords) continue;
      const __m128i partial = _mm_add_epi32(_mm_sha256msg1_epu32(first, words[(i + 1) % 4]),
                                            _mm_alignr_epi8(last, words[(i + 2) % 4], 4));
      first = _mm_sha256msg2_epu32(partial, last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#elif defined(__aarch64__)

bool ask_machine() { return find_arm64_features().sha2; }

[[gnu::target("+crypto")]] void mix_with_instructions(const uint8_t* blocks, size_t count,
                                                      uint32_t* state) {
  uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
  for (; count > 0; --count, blocks += Sha256::kBlockBytes) {
    const uint32x4_t abcd_before = abcd, efgh_before = efgh;
    uint32x4_t words[4];
    for (int i = 0; i < 4; ++i) {
      words[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(blocks + 16 * i)));
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSteps; ++i) {
      uint32x4_t& first = words[i % 4];
      const uint32x4_t sum = vaddq_u32(first, vld1q_u32(kSha256RoundConstants + 4 * i));
      const uint32x4_t before = abcd;
      abcd = vsha256hq_u32(abcd, efgh, sum);
      efgh = vsha256h2q_u32(efgh, before, sum);
      if (i >= kStepsWithNewWords) continue;
      first = vsha256su1q_u32(vsha256su0q_u32(first, words[(i + 1) % 4]), words[(i + 2) % 4],
                              words[(i + 3) % 4]);
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(state, abcd);
  vst1q_u32(state + 4, efgh);
}

#else

bool ask_machine() { return false; }
constexpr Sha256Mixer mix_with_instructions = &mix_sha256;

#endif

}  // namespace

bool has_sha256_instructions() {
  enum : int { kUnknown, kNo, kYes };
  static std::atomic<int> answer{kUnknown};
  int known = answer.load(std::memory_order_relaxed);
  if (known == kUnknown) {
    known = ask_machine() ? kYes : kNo;
    answer.store(known, std::memory_order_relaxed);
  }
  return known == kYes;
}

Sha256Mixer fast_sha256_mixer() {
  return has_sha256_instructions() ? mix_with_instructions : &mix_sha256;
}

void fast_sha256(Span<const uint8_t> data, uint8_t* digest) {
  Sha256 hash(fast_sha256_mixer());
  hash.update(data);
  hash.finish(digest);
}

}  // namespace petrel::runtime
