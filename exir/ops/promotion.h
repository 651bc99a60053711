// SPDX-License-Identifier: Apache-2.0
//
// Type promotion. Operands rank in three levels: tensors with dimensions above
// tensors of rank 0 above Python numbers. A lower level changes the result only
// when its category (bool < integer < float) is higher.
//
//   Promotion p;
//   p.add(TensorType f16[4]);  p.add(TensorType f32[]);  p.result() -> f16
//   p.add(TensorType i32[4]);  p.add_number(1.5);        p.result() -> f32
#ifndef PETREL_EXIR_OPS_PROMOTION_H_
#define PETREL_EXIR_OPS_PROMOTION_H_

#include <optional>

#include "absl/status/statusor.h"
#include "exir/ir/argument.h"
#include "exir/ir/type.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {

// The dtype that holds both, for operands of one level. InvalidArgument for
// pairs that do not mix (u16, u32, u64 with other integers).
absl::StatusOr<ScalarType> promote_types(ScalarType a, ScalarType b);

class Promotion {
 public:
  absl::Status add(ScalarType dtype, size_t rank);
  template <typename Tensor>
  absl::Status add(const Tensor& type) {
    return add(type.dtype, type.rank());
  }
  // An int, float or bool literal.
  absl::Status add_number(const Argument& number);
  absl::StatusOr<ScalarType> result() const;

 private:
  absl::Status join(int level, ScalarType type);
  std::optional<ScalarType> levels_[3];  // dimensioned, rank 0, number
};

// The promoted dtype of all tensors and of the numbers named self, other,
// exponent, min and max.
absl::StatusOr<ScalarType> promoted_dtype(const BoundArguments& in);

// f32 for integers and bool, else `type`.
ScalarType as_floating(ScalarType type);

}  // namespace petrel::exir::rules

#endif  // PETREL_EXIR_OPS_PROMOTION_H_
