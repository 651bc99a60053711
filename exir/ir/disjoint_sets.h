// SPDX-License-Identifier: Apache-2.0
//
// Numbers 0 to n - 1 in sets that are joined one by one; a set is called by its least.
//
//   DisjointSets sets(4);
//   sets.join(1, 3);
//   sets.least(3);   // 1
#ifndef PETREL_EXIR_IR_DISJOINT_SETS_H_
#define PETREL_EXIR_IR_DISJOINT_SETS_H_

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace petrel::exir {

class DisjointSets {
 public:
  explicit DisjointSets(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }

  // Of the set that `i` is in.
  size_t least(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  void join(size_t a, size_t b) {
    a = least(a);
    b = least(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<size_t> parent_;  // never above the number
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_DISJOINT_SETS_H_
