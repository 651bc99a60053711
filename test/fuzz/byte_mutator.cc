// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/byte_mutator.h"

#include <algorithm>
#include <cstring>

namespace petrel::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

// Where arithmetic of a width ends, and what sizes and counts are compared with.
constexpr uint64_t kNumbers[] = {0,     1,          2,          4,          8,          16,
                                 32,    63,         64,         65,         127,        128,
                                 255,   256,        1024,       4096,       32767,      32768,
                                 65535, 65536,      0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32,
                                 ~0ull, 1ull << 62, 1ull << 63, ~0ull >> 1, ~0ull - 1,  0xff800000};
// What texts of numbers and lists are made of.
constexpr uint8_t kSigns[] = "0123456789-+.eE,:;\"'[]{}()<>= \n\r\t\\/#_aA\xff";

class Change {
 public:
  Change(std::minstd_rand& random, size_t most, Bytes* bytes)
      : random_(random), most_(most), bytes_(*bytes) {}

  void make() {
    if (bytes_.empty()) return insert(1 + below(8));
    switch (below(10)) {
      case 0:
        bytes_[place()] ^= static_cast<uint8_t>(1u << below(8));
        return;
      case 1:
        bytes_[place()] = byte();
        return;
      case 2:
        bytes_[place()] += static_cast<uint8_t>(below(33) - 16);
        return;
      case 3:
        return put_number();
      case 4:
        bytes_[place()] = kSigns[below(sizeof(kSigns) - 1)];
        return;
      case 5:
        return insert(1 + below(below(4) == 0 ? 32 : 4));
      case 6:
        return remove();
      case 7:
        return move_part();
      case 8:
        return repeat_part();
      default:
        if (below(8) == 0) bytes_.resize(place());  // as cut off
        return;
    }
  }

  // The end of `other`, or a part of it in the middle.
  void take_from(const Bytes& other) {
    if (other.empty() || bytes_.empty()) return;
    const size_t from = below(other.size());
    const size_t at = below(bytes_.size() + 1);
    if (below(2) == 0) {
      bytes_.resize(at);
      bytes_.insert(bytes_.end(), other.begin() + static_cast<ptrdiff_t>(from), other.end());
    } else {
      const size_t count = std::min(other.size() - from, 1 + below(64));
      const auto first = other.begin() + static_cast<ptrdiff_t>(from);
      bytes_.insert(bytes_.begin() + static_cast<ptrdiff_t>(at), first,
                    first + static_cast<ptrdiff_t>(count));
    }
  }

 private:
  size_t below(size_t end) { return random_() % end; }
  size_t place() { return below(bytes_.size()); }
  uint8_t byte() { return static_cast<uint8_t>(below(256)); }
  // Small parts mostly.
  size_t length(size_t most) { return 1 + below(std::min(most, below(4) == 0 ? most : 8)); }

  void put_number() {
    uint64_t number = kNumbers[below(std::size(kNumbers))];
    number += below(3) == 0 ? below(5) - 2 : 0;
    const size_t width = size_t{1} << below(4);
    const size_t at = place();
    const size_t count = std::min(width, bytes_.size() - at);
    for (size_t i = 0; i < count; ++i) {
      bytes_[at + i] = static_cast<uint8_t>(number >> 8 * i);
    }
  }

  void insert(size_t count) {
    count = std::min(count, most_ - std::min(most_, bytes_.size()));
    const size_t at = below(bytes_.size() + 1);
    const bool is_random = below(2) == 0;
    const uint8_t same = byte();
    bytes_.insert(bytes_.begin() + static_cast<ptrdiff_t>(at), count, same);
    for (size_t i = 0; is_random && i < count; ++i) bytes_[at + i] = byte();
  }

  void remove() {
    const size_t at = place();
    const auto first = bytes_.begin() + static_cast<ptrdiff_t>(at);
    bytes_.erase(first, first + static_cast<ptrdiff_t>(length(bytes_.size() - at)));
  }

  void move_part() {
    const size_t from = place(), to = place();
    std::memmove(bytes_.data() + to, bytes_.data() + from,
                 length(bytes_.size() - std::max(from, to)));
  }

  void repeat_part() {
    const size_t from = place();
    const size_t count =
        std::min(length(bytes_.size() - from), most_ - std::min(most_, bytes_.size()));
    const auto first = bytes_.begin() + static_cast<ptrdiff_t>(from);
    const Bytes part(first, first + static_cast<ptrdiff_t>(count));
    bytes_.insert(bytes_.begin() + static_cast<ptrdiff_t>(below(bytes_.size() + 1)), part.begin(),
                  part.end());
  }

  std::minstd_rand& random_;
  const size_t most_;
  Bytes& bytes_;
};

}  // namespace

void mutate_bytes(std::minstd_rand& random, size_t most, Bytes* bytes) {
  Change(random, most, bytes).make();
}

void mutate_bytes_with(std::minstd_rand& random, const Bytes& other, size_t most, Bytes* bytes) {
  Change change(random, most, bytes);
  if (random() % 8 == 0) change.take_from(other);
  do {
    change.make();
  } while (random() % 2 == 0);
  if (bytes->size() > most) bytes->resize(most);
}

}  // namespace petrel::fuzz
