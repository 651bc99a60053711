// SPDX-License-Identifier: Apache-2.0
//
// SplitMix64: small, and unlike the distributions of <random> it gives the
// same numbers with every standard library.

#ifndef PETREL_EXIR_PLAN_SEARCH_RANDOM_H_
#define PETREL_EXIR_PLAN_SEARCH_RANDOM_H_

#include <cstdint>

namespace petrel::exir::plan {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // In [0, limit); uniform enough for limits far below 2^64.
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(limit));
  }

  bool chance(int percent) { return below(100) < percent; }

 private:
  uint64_t state_;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_RANDOM_H_
