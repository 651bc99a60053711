// SPDX-License-Identifier: Apache-2.0
//
// The type in which two operands are computed, and their elements as those of it, as
// PyTorch has them: 2^24 + 1 beside a float is 2^24. Of a type that has more numbers than
// the promoted one an element is rounded when it is read.
//
//   const Operands<double> operands = as_floats(a, b, true);
//   operands.a(a.const_data_ptr(), i) + operands.b(b.tensor->const_data_ptr(), i)
//
// Owns nothing.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_PROMOTION_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_PROMOTION_H_

#include <cstdint>
#include <optional>

#include "runtime/core/evalue.h"
#include "runtime/core/tensor.h"
#include "runtime/kernels/portable/element.h"

namespace petrel::runtime::portable {

// The second operand: a tensor, or one number for all elements.
struct Operand {
  std::optional<Tensor> tensor;
  Scalar number = Scalar(int64_t{0});

  bool floating() const {
    return tensor ? is_floating(tensor->scalar_type()) : number.isFloatingPoint();
  }
};

// How operands are read, and what a number stands for.
template <typename C>
struct Operands {
  Loader<C> a;
  Loader<C> b;  // null for a number
  C number;
};

Operands<int64_t> as_integers(const Tensor& a, const Operand& b);

// Without `rounds_floats`, wider floats beside half and bfloat16 are left as they are: some
// operators compute with them in float.
Operands<double> as_floats(const Tensor& a, const Operand& b, bool rounds_floats);

// The type of integers that a and b are computed in: tensors with dims count before
// those without, and these before numbers, unless they are all bool.
ScalarType promoted_integer(const Tensor& a, const Operand& b);

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_PROMOTION_H_
