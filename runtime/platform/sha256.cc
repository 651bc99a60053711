// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/sha256.h"

#include <algorithm>
#include <cstring>

namespace petrel::runtime {

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
const uint32_t kSha256RoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

namespace {

constexpr size_t kBlockBytes = Sha256::kBlockBytes;
constexpr int kRounds = 64;

uint32_t rotated(uint32_t x, int by) { return x >> by | x << (32 - by); }

uint32_t big_endian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

// Mixes one block into the state.
void mix(const uint8_t* block, uint32_t* state) {
  uint32_t words[kRounds];
  for (int i = 0; i < 16; ++i) words[i] = big_endian(block + 4 * i);
  for (int i = 16; i < kRounds; ++i) {
    const uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + words[i - 7] +
               (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
  }
  uint32_t s[8];
  std::memcpy(s, state, sizeof(s));
  for (int i = 0; i < kRounds; ++i) {
    const uint32_t e = s[4], a = s[0];
    const uint32_t first = s[7] + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                           ((e & s[5]) ^ (~e & s[6])) + kSha256RoundConstants[i] + words[i];
    const uint32_t second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) +
                            ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    std::memmove(s + 1, s, 7 * sizeof(s[0]));
    s[4] += first;
    s[0] = first + second;
  }
  for (int i = 0; i < 8; ++i) state[i] += s[i];
}

}  // namespace

void mix_sha256(const uint8_t* blocks, size_t count, uint32_t* state) {
  for (size_t i = 0; i < count; ++i) mix(blocks + i * kBlockBytes, state);
}

void Sha256::update(Span<const uint8_t> data) {
  size_ += data.size();
  size_t done = 0;
  if (rest_ > 0) {
    done = std::min(kBlockBytes - rest_, data.size());
    if (done > 0) std::memcpy(last_ + rest_, data.data(), done);
    rest_ += done;
    if (rest_ < kBlockBytes) return;
    mix_(last_, 1, state_);
    rest_ = 0;
  }
  const size_t count = (data.size() - done) / kBlockBytes;
  if (count > 0) mix_(data.data() + done, count, state_);
  done += count * kBlockBytes;
  rest_ = data.size() - done;
  if (rest_ > 0) std::memcpy(last_, data.data() + done, rest_);
}

void Sha256::finish(uint8_t* digest) {
  // The rest, a one bit, zeros, and the number of bits in the last 8 bytes.
  uint8_t end[2 * kBlockBytes] = {};
  std::memcpy(end, last_, rest_);
  end[rest_] = 0x80;
  const size_t count = rest_ < kBlockBytes - 8 ? 1 : 2;
  const uint64_t bits = size_ * 8;
  for (size_t i = 0; i < 8; ++i) {
    end[count * kBlockBytes - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  }
  mix_(end, count, state_);
  for (size_t i = 0; i < kSha256Bytes; ++i) {
    digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
}

void sha256(Span<const uint8_t> data, uint8_t* digest) {
  Sha256 hash;
  hash.update(data);
  hash.finish(digest);
}

}  // namespace petrel::runtime
