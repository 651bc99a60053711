// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/keyed_hash.h"

#include <algorithm>
#include <cstring>

#include "runtime/platform/random_bytes.h"

namespace petrel::backends::xnnpack {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide kPrime = (Wide{1} << 127) - 1;
constexpr size_t kBlockBytes = KeyedHash::kBlockWords * sizeof(uint64_t);

Wide reduce(Wide value) {
  value = (value & kPrime) + (value >> 127);
  return value >= kPrime ? value - kPrime : value;
}

// a * b modulo the prime, for a and b below it.
Wide multiply(Wide a, Wide b) {
  const auto low = [](Wide v) { return static_cast<uint64_t>(v); };
  const auto high = [](Wide v) { return static_cast<uint64_t>(v >> 64); };
  const Wide bottom = Wide{low(a)} * low(b);
  // Two products of less than 2^127 each.
  const Wide middle = Wide{low(a)} * high(b) + Wide{high(a)} * low(b);
  const Wide top = Wide{high(a)} * high(b);
  // 2^64 * middle + 2^128 * top + bottom, with 2^127 = 1.
  const Wide middle_low = Wide{low(middle)} << 64;
  Wide sum = reduce(bottom) + reduce(middle_low);
  sum = reduce(sum) + reduce(Wide{high(middle)} << 1);
  return reduce(reduce(sum) + reduce(top << 1));
}

// The sum of products of one block.
Wide sum_block(const uint8_t* block, const uint64_t* key) {
  Wide sums[2] = {0, 0};
  for (size_t i = 0; i < KeyedHash::kBlockWords; i += 4) {
    uint64_t words[4];
    std::memcpy(words, block + i * sizeof(uint64_t), sizeof(words));
    sums[0] += Wide{words[0] + key[i]} * (words[1] + key[i + 1]);
    sums[1] += Wide{words[2] + key[i + 2]} * (words[3] + key[i + 3]);
  }
  return sums[0] + sums[1];
}

}  // namespace

bool KeyedHash::random_secret(Secret* secret) {
  return runtime::random_bytes(secret, sizeof(*secret));
}

KeyedHash::KeyedHash(const Secret& secret) : secret_(secret) {}

KeyedHash::Digest KeyedHash::of(const void* data, size_t size) const {
  const Wide point = reduce(Wide{secret_.point[1]} << 64 | secret_.point[0]);
  const auto* at = static_cast<const uint8_t*>(data);
  // The length first, so that padding cannot be mistaken for data.
  Wide state = reduce(Wide{size} + 1);
  size_t left = size;
  for (; left >= kBlockBytes; left -= kBlockBytes, at += kBlockBytes) {
    state = reduce(multiply(state, point) + reduce(sum_block(at, secret_.words)));
  }
  if (left > 0) {
    uint8_t last[kBlockBytes] = {};
    std::memcpy(last, at, left);
    state = reduce(multiply(state, point) + reduce(sum_block(last, secret_.words)));
  }
  state = multiply(state, point);
  Digest digest;
  std::memcpy(digest.data(), &state, digest.size());
  return digest;
}

}  // namespace petrel::backends::xnnpack
