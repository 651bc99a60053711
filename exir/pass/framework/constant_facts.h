// SPDX-License-Identifier: Apache-2.0
//
// What passes ask of a constant once for each of its uses, of which an archive may have many for
// one large constant.
//
//   const ConstantFacts facts;             // apply_rewrites() has one
//   if (is_zero(zero_point->constant())) ...   reads a constant once while `facts` lives
#ifndef PETREL_EXIR_PASS_FRAMEWORK_CONSTANT_FACTS_H_
#define PETREL_EXIR_PASS_FRAMEWORK_CONSTANT_FACTS_H_

#include "exir/ir/constant.h"
#include "exir/pass/framework/once_per_constant.h"

namespace petrel::exir {

// Answers are kept while it lives: by this thread, and within another one by that. It holds the
// constants that it knows, so that no other takes the place of one.
class ConstantFacts {
 public:
  ConstantFacts();
  ~ConstantFacts();
  ConstantFacts(const ConstantFacts&) = delete;
  ConstantFacts& operator=(const ConstantFacts&) = delete;

 private:
  friend bool is_zero(const ConstantPtr& constant);

  OncePerConstant<bool> are_zero_;
};

// Whether it is known and all of its elements are 0. False for state, which changes.
bool is_zero(const ConstantPtr& constant);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_CONSTANT_FACTS_H_
