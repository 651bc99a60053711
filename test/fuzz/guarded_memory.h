// SPDX-License-Identifier: Apache-2.0
//
// GuardedMemory: blocks between pages that nobody may touch, for code that no sanitizer
// watches, such as XNNPACK's microkernels. A block ends where such a page begins, or begins
// where one ends.
//
//   uint8_t* const data = GuardedMemory::instance().block(0, size, true);   // ends there
//
// The memory of a place is the same each time: what it held is gone. Null for what does not fit.
// One thread at a time.

#ifndef PETREL_TEST_FUZZ_GUARDED_MEMORY_H_
#define PETREL_TEST_FUZZ_GUARDED_MEMORY_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "test/fuzz/oracle.h"

namespace petrel::fuzz {

class GuardedMemory final {
 public:
  static constexpr size_t kPlaces = 16;
  static constexpr size_t kMostBytes = 1 << 20;

  static GuardedMemory& instance() {
    static GuardedMemory* const memory = new GuardedMemory;
    return *memory;
  }

  // `size` zeros.
  uint8_t* block(size_t place, size_t size, bool at_end) {
    if (place >= kPlaces || size > kMostBytes) return nullptr;
    uint8_t* const begin = pages_ + place * kStep + kPage;
    uint8_t* const data = at_end ? begin + kMostBytes - size : begin;
    std::memset(data, 0, size);
    return data;
  }

 private:
  static constexpr size_t kPage = 4096;
  static constexpr size_t kStep = kMostBytes + kPage;

  GuardedMemory() {
    void* const pages =
        mmap(nullptr, kPlaces * kStep + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(pages != MAP_FAILED, "no memory for the fuzzer itself");
    pages_ = static_cast<uint8_t*>(pages);
    for (size_t place = 0; place < kPlaces; ++place) {
      require(mprotect(pages_ + place * kStep + kPage, kMostBytes, PROT_READ | PROT_WRITE) == 0,
              "no memory for the fuzzer itself");
    }
  }

  uint8_t* pages_;
};

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_GUARDED_MEMORY_H_
