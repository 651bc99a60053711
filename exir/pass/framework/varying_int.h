// SPDX-License-Identifier: Apache-2.0
//
// How an int that varies can be computed, from its values at some points
// (size_points.h) and the sizes and numbers that are there.
//
//   at 4 5 9 it is 12 15 27, %x: f32[s0]     3*s0: mul(sym_size(%x, 0), 3)
//
// Tried: what is there, a linear function of one of them, a product of up to three
// times a factor; where none of those fits, a division of one by a small number.
// Formulas that fit may be several, and differ at other points: who takes one has to
// refute the others first.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_VARYING_INT_H_
#define PETREL_EXIR_PASS_FRAMEWORK_VARYING_INT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/ir/size_points.h"
#include "exir/pass/framework/builder.h"

namespace petrel::exir {

class VaryingInts {
 public:
  // A number (dim -1) or a size.
  struct Source {
    Value* value;
    int64_t dim;
    SizeExpression size;
    std::vector<int64_t> values;  // at the points
  };

  // (product of the sources * factor + offset) // divisor
  struct Formula {
    SizeExpression size;
    std::vector<const Source*> sources;
    int64_t factor = 1;
    int64_t offset = 0;
    int64_t divisor = 1;
  };

  // The sizes and numbers among the operands of `node` are what is there. Every
  // point has values for all of them.
  VaryingInts(const Node& node, const std::vector<SizePoint>& points);

  // True when it is a number or size that is there.
  bool is_known(const std::vector<int64_t>& values) const;
  // All that fit, no two of one size; the simplest first. They are valid as long as
  // this is.
  std::vector<Formula> formulas(const std::vector<int64_t>& values) const;
  // Makes the nodes.
  static BuiltValue make(Builder& b, const Formula& formula);

 private:
  std::vector<Source> sources_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_VARYING_INT_H_
