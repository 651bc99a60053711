// SPDX-License-Identifier: Apache-2.0
//
// How a size becomes a number that a program computes: from the sizes and numbers
// among the operands of a node.
//
//   %x: f32[s0]     3*s0 + 1      %n = aten.sym_size.int(%x, 0)
//                                 %m = executorch_prim.mul.Scalar(%n, 3)
//                                 %k = executorch_prim.add.Scalar(%m, 1)
//
// Invariant: the number of what is made equals the size in normal form.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_SIZE_NUMBERS_H_
#define PETREL_EXIR_PASS_FRAMEWORK_SIZE_NUMBERS_H_

#include <cstdint>
#include <vector>

#include "exir/ir/graph.h"
#include "exir/pass/framework/builder.h"

namespace petrel::exir {

class SizeNumbers {
 public:
  explicit SizeNumbers(const Node& node);

  // Whether it is a number or size of an operand.
  bool has(const SizeExpression& size) const;
  // Null where it does not follow from what is there; nodes may have been made
  // before that was found. Precondition: it is not constant.
  BuiltValue make(Builder& b, const SizeExpression& size) const;

 private:
  // A number (dim -1) or a size.
  struct Source {
    Value* value;
    int64_t dim;
    SizeExpression size;
  };

  static BuiltValue read(Builder& b, const Source& source);
  BuiltValue from_one(Builder& b, const SizeExpression& size) const;
  BuiltValue from_product(Builder& b, const SizeExpression& size) const;
  BuiltValue from_atom(Builder& b, const SizeAtomPtr& atom) const;
  BuiltValue from_term(Builder& b, const SizeTerm& term) const;
  // As an argument: the number itself, or what is made; none where nothing is.
  absl::StatusOr<Argument> operand(Builder& b, const SizeExpression& size) const;

  std::vector<Source> sources_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_SIZE_NUMBERS_H_
