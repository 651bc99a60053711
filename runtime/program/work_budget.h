// SPDX-License-Identifier: Apache-2.0
//
// WorkBudget: keeps verification linear in the size of a file. Parts of a
// flatbuffer may be shared, so that a few bytes can be visited millions of
// times; every visit of an element is paid for from a budget that an honest
// file cannot exhaust, because its elements take bytes of their own.

#ifndef PETREL_RUNTIME_PROGRAM_WORK_BUDGET_H_
#define PETREL_RUNTIME_PROGRAM_WORK_BUDGET_H_

#include <cstdint>

namespace petrel::runtime {

class WorkBudget final {
 public:
  explicit WorkBudget(uint64_t units) : left_(units) {}

  // False, for good, when less than `units` was left.
  [[nodiscard]] bool spend(uint64_t units) {
    if (units > left_) {
      left_ = 0;
      return false;
    }
    left_ -= units;
    return true;
  }

 private:
  uint64_t left_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_WORK_BUDGET_H_
