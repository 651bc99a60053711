// SPDX-License-Identifier: Apache-2.0
//
// Budget: units of which only so many may be spent, such as bytes that a file may
// ask for or elements that may be computed. What would go beyond is refused before
// it is allocated or computed.
//
//   Budget bytes("max_delegate_bytes", limits.max_delegate_bytes);
//   PETREL_RETURN_IF_ERROR(bytes.take("the workspace", wanted));
//
// left() never grows but by refill().
#ifndef PETREL_RUNTIME_CORE_BUDGET_H_
#define PETREL_RUNTIME_CORE_BUDGET_H_

#include <cstdint>

#include "runtime/core/error.h"

namespace petrel::runtime {

class Budget final {
 public:
  // `name` says of messages which limit it is; lives as long as this.
  Budget(const char* name, uint64_t limit) : name_(name), limit_(limit), left_(limit) {}

  uint64_t left() const { return left_; }
  void refill() { left_ = limit_; }

  // False, and then nothing is spent, when less than `units` is left.
  [[nodiscard]] bool spend(uint64_t units) {
    if (units > left_) return false;
    left_ -= units;
    return true;
  }

  // spend() that explains itself: OutOfResources, with who needs how much.
  Error take(const char* who, uint64_t units) {
    return spend(units) ? Error::Ok : refuse(who, units);
  }

 private:
  Error refuse(const char* who, uint64_t units) const;

  const char* name_;
  uint64_t limit_;
  uint64_t left_;
};

// Products of counts, which stop at the largest number.
constexpr uint64_t saturating_product(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
constexpr uint64_t saturating_sum(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_BUDGET_H_
