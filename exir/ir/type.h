// SPDX-License-Identifier: Apache-2.0
//
// The type of an IR value: a tensor, or a scalar computed at run time.
//
// Invariant of a TensorType that entered a Graph: every size is in [0, 2^31),
// rank <= kMaxRank, the product of the sizes and of the sizes times the item
// size fits in int64_t (check_tensor_type asserts it at every entrance), and
// `dim_order` is a permutation of 0..rank-1. Inside a graph values are
// contiguous, that is dim_order = 0,1,2,...; another order occurs only at the
// border of a method.
//
// Text form: f32[1,3,224,224], i64[] (rank 0), f32[1,3,8,8]{0,2,3,1} (order
// given when not contiguous), int, float, bool.
#ifndef PETREL_EXIR_IR_TYPE_H_
#define PETREL_EXIR_IR_TYPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/ir/scalar_type.h"

namespace petrel::exir {

// The rank limit of the `.pte` runtime.
inline constexpr size_t kMaxRank = 16;

using Sizes = std::vector<int64_t>;

struct TensorType {
  ScalarType dtype = ScalarType::kFloat;
  Sizes sizes;
  std::vector<uint8_t> dim_order;  // outermost dimension first

  // A contiguous tensor.
  static TensorType contiguous(ScalarType dtype, Sizes sizes);

  size_t rank() const { return sizes.size(); }
  int64_t numel() const;   // elements; 1 for rank 0
  int64_t nbytes() const;  // numel() * item_size(dtype)
  bool is_contiguous() const;

  bool operator==(const TensorType& other) const;
  bool operator!=(const TensorType& other) const { return !(*this == other); }
};

// InvalidArgument naming the dimension, its value and the limit when `type`
// breaks the invariant above.
absl::Status check_tensor_type(const TensorType& type);

struct Type {
  enum class Kind : uint8_t { kTensor, kInt, kFloat, kBool };

  Kind kind = Kind::kTensor;
  TensorType tensor;  // meaningful when kind is kTensor

  Type() = default;
  Type(TensorType t) : tensor(std::move(t)) {}  // NOLINT: a tensor is a Type
  static Type scalar(Kind kind);

  bool is_tensor() const { return kind == Kind::kTensor; }
  bool operator==(const Type& other) const;
  bool operator!=(const Type& other) const { return !(*this == other); }
};

std::string to_string(const TensorType& type);
std::string to_string(const Type& type);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_TYPE_H_
