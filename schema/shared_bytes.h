// SPDX-License-Identifier: Apache-2.0
//
// SharedBytes: how many bytes the entries of a file may name together. Entries may share
// bytes, as equal weights do, but whoever compares, hashes or copies what each of them names
// does it for all: a few bytes of a file would ask for the rest of it once more, and a file
// of megabytes for hours.
//
//   SharedBytes named(file_size);
//   for (...) if (!named.add(segment.size)) return Error::InvalidProgram;
//
// So many times the file is more than a model of equal weights has, of which one is stored.
#ifndef PETREL_SCHEMA_SHARED_BYTES_H_
#define PETREL_SCHEMA_SHARED_BYTES_H_

#include <cstdint>

namespace petrel::schema {

class SharedBytes final {
 public:
  static constexpr uint64_t kMostTimes = 256;
  static constexpr uint64_t kMore = uint64_t{1} << 30;

  explicit constexpr SharedBytes(uint64_t file_bytes)
      : most_(file_bytes > (UINT64_MAX - kMore) / kMostTimes ? UINT64_MAX
                                                             : kMostTimes * file_bytes + kMore),
        left_(most_) {}

  // False when there are too many with these.
  [[nodiscard]] constexpr bool add(uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  constexpr uint64_t most() const { return most_; }

 private:
  uint64_t most_;
  uint64_t left_;
};

static_assert(SharedBytes(0).most() == SharedBytes::kMore);
static_assert(SharedBytes(UINT64_MAX / 2).most() == UINT64_MAX);

}  // namespace petrel::schema

#endif  // PETREL_SCHEMA_SHARED_BYTES_H_
