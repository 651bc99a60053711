// SPDX-License-Identifier: Apache-2.0
//
// What a pass asks of all elements of a constant, asked once of each: in a few bytes of an
// archive another node has a constant that thousands have.
//
//   OncePerConstant<bool> is_zero(is_all_zero);
//   for (Node* node : ...) {
//     if (is_zero.of(node->input(arg::zero_points)->constant())) ...
//   }
//
// Answers are kept while it lives, and so are the constants.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_ONCE_PER_CONSTANT_H_
#define PETREL_EXIR_PASS_FRAMEWORK_ONCE_PER_CONSTANT_H_

#include <map>

#include "exir/ir/constant.h"

namespace petrel::exir {

template <typename Answer>
class OncePerConstant {
 public:
  using Ask = Answer (*)(const Constant& constant);

  explicit OncePerConstant(Ask ask) : ask_(ask) {}

  const Answer& of(const ConstantPtr& constant) {
    auto [known, is_new] = known_.try_emplace(constant);
    if (is_new) known->second = ask_(*constant);
    return known->second;
  }

 private:
  const Ask ask_;
  std::map<ConstantPtr, Answer> known_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_ONCE_PER_CONSTANT_H_
