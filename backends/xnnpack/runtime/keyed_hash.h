// SPDX-License-Identifier: Apache-2.0
//
// A fast hash of 128 bits under a secret key. For any two different inputs the
// chance that they collide is about 2^-64, taken over the keys: whoever does not
// know the key cannot make bytes that pass for others.
//
//   KeyedHash::Secret secret;
//   if (!KeyedHash::random_secret(&secret)) ...     // no entropy
//   KeyedHash hash(secret);
//   KeyedHash::Digest digest = hash.of(weights, size);
//
// Blocks of 1 KiB are summed up as products of words and key words; the sums are
// the coefficients of a polynomial at a secret point, modulo 2^127 - 1.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_KEYED_HASH_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_KEYED_HASH_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace petrel::backends::xnnpack {

class KeyedHash {
 public:
  static constexpr size_t kBlockWords = 128;
  struct Secret {
    uint64_t words[kBlockWords];
    uint64_t point[2];
  };
  using Digest = std::array<uint8_t, 16>;

  // False when the system gives no random bytes.
  static bool random_secret(Secret* secret);

  explicit KeyedHash(const Secret& secret);

  Digest of(const void* data, size_t size) const;
  const Secret& secret() const { return secret_; }

 private:
  Secret secret_;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_KEYED_HASH_H_
