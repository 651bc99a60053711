// SPDX-License-Identifier: Apache-2.0
//
// A set of search levels: the steps that a fact rests on. Levels from
// kLevels - 1 on share one element, which is sound as long as it is never
// taken out: the search then only goes back less far than it could.

#ifndef PETREL_EXIR_PLAN_SEARCH_REASON_H_
#define PETREL_EXIR_PLAN_SEARCH_REASON_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace petrel::exir::plan {

class Reason {
 public:
  static constexpr int32_t kLevels = 512;

  void add(int32_t level) {
    const int32_t bit = std::min(level, kLevels - 1);
    words_[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  void add(const Reason& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void remove(int32_t level) {
    if (level >= kLevels - 1) return;
    words_[level / 64] &= ~(uint64_t{1} << (level % 64));
  }
  bool has(int32_t level) const {
    const int32_t bit = std::min(level, kLevels - 1);
    return (words_[bit / 64] >> (bit % 64) & 1) != 0;
  }

 private:
  std::array<uint64_t, kLevels / 64> words_{};
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_REASON_H_
