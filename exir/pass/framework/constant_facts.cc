// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/constant_facts.h"

#include <algorithm>

#include "exir/pass/framework/constant_data.h"

namespace petrel::exir {
namespace {

thread_local ConstantFacts* known = nullptr;

bool read_is_zero(const Constant& constant) {
  const auto numbers = decode_constant(constant);
  return numbers.ok() &&
         std::all_of(numbers->begin(), numbers->end(), [](double n) { return n == 0; });
}

}  // namespace

ConstantFacts::ConstantFacts() : are_zero_(read_is_zero) {
  if (known == nullptr) known = this;
}

ConstantFacts::~ConstantFacts() {
  if (known == this) known = nullptr;
}

bool is_zero(const ConstantPtr& constant) {
  if (constant->is_mutable()) return false;
  if (known == nullptr) return read_is_zero(*constant);
  return known->are_zero_.of(constant);
}

}  // namespace petrel::exir
