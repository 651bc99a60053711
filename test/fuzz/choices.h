// SPDX-License-Identifier: Apache-2.0
//
// Choices: decisions of a generator, read from the fuzzer's bytes. Few bytes are
// few decisions: when they end, every further decision is 0.
//
//   Choices choices(data, size);
//   const uint64_t rank = choices.below(6);
//   if (choices.one_in(4)) ...

#ifndef PETREL_TEST_FUZZ_CHOICES_H_
#define PETREL_TEST_FUZZ_CHOICES_H_

#include <cstddef>
#include <cstdint>

namespace petrel::fuzz {

class Choices final {
 public:
  Choices(const uint8_t* data, size_t size) : next_(data), end_(data + size) {}

  bool is_over() const { return next_ == end_; }

  // In [0, limit). One byte for small limits, so that a changed byte changes one
  // decision.
  uint64_t below(uint64_t limit) {
    if (limit <= 1) return 0;
    uint64_t value = 0;
    for (uint64_t rest = limit - 1; rest != 0; rest >>= 8) value = value << 8 | byte();
    return value % limit;
  }
  // False when the bytes have ended.
  bool one_in(uint64_t count) { return below(count) == count - 1; }
  uint64_t number() { return below(UINT64_MAX); }

 private:
  uint8_t byte() { return next_ == end_ ? uint8_t{0} : *next_++; }

  const uint8_t* next_;
  const uint8_t* end_;
};

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_CHOICES_H_
