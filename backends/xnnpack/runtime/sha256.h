// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4), with the processor's instructions for it where they
// exist. The runtime has its own, so that it needs no other library.
//
//   Sha256 hash;
//   hash.update(weights, nbytes);
//   Digest digest = hash.finish();

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_SHA256_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace petrel::backends::xnnpack {

using Digest = std::array<uint8_t, 32>;

class Sha256 {
 public:
  // `portable` keeps it from using special instructions.
  explicit Sha256(bool portable = false);

  void update(const void* data, size_t size);
  // Ends the message; the object is of no use afterwards.
  Digest finish();

 private:
  using CompressFn = void (*)(uint32_t state[8], const uint8_t* blocks, size_t count);

  CompressFn compress_;
  uint32_t state_[8];
  uint8_t block_[64];
  size_t filled_ = 0;
  uint64_t total_ = 0;
};

inline Digest sha256(const void* data, size_t size) {
  Sha256 hash;
  hash.update(data, size);
  return hash.finish();
}

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_SHA256_H_
