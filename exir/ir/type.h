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
// Sizes that vary from call to call ("dynamic") are expressions over the symbols
// of the method (size_expression.h); `sizes` holds their upper bounds, for which
// memory is planned. Two sizes are the same only when their expressions are equal
// in normal form. At sample points, the same for all values of a method, every
// size is a number: what differs at one of them is refuted to be the same, and
// rules that are written for numbers can be tried there.
//
//   symbols       batch in [1, 16]
//   points        16 1 2 5 7 10 12 14        largest, smallest, six between
//   x             f32[batch,8]               sizes {16, 8}, bounds
//   x.flatten()   f32[8*batch]               128 8 16 40 56 80 96 112
//
// Text form: f32[1,3,224,224], i64[] (rank 0), f32[1,3,8,8]{0,2,3,1} (order
// given when not contiguous), f32[s0//2,8], int, int(s0 - 1), float, bool.
#ifndef PETREL_EXIR_IR_TYPE_H_
#define PETREL_EXIR_IR_TYPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/ir/scalar_type.h"
#include "exir/ir/size_expression.h"
#include "schema/formats.h"

namespace petrel::exir {

// The rank limit of the `.pte` runtime.
inline constexpr size_t kMaxRank = schema::kMaxRank;

using Sizes = std::vector<int64_t>;

struct TensorType {
  ScalarType dtype = ScalarType::kFloat;
  Sizes sizes;
  std::vector<uint8_t> dim_order;  // outermost dimension first
  // The sizes as expressions; empty when no size varies.
  std::vector<SizeExpression> expressions;

  // A contiguous tensor.
  static TensorType contiguous(ScalarType dtype, Sizes sizes);
  // Static when all sizes are numbers. What one is at most follows from its
  // range; `bounds` are taken where that is open or unknown, raised to the samples.
  static TensorType dynamic(ScalarType dtype, std::vector<SizeExpression> sizes,
                            const Sizes& bounds = {});

  bool is_dynamic() const { return !expressions.empty(); }
  bool varies(size_t dim) const { return is_dynamic() && !expressions[dim].is_constant(); }
  SizeExpression size(size_t dim) const;
  std::vector<SizeExpression> all_sizes() const;
  // The same type at one point: static.
  TensorType at_sample(size_t k) const;
  // No order but the contiguous one.
  TensorType without_order() const;

  size_t rank() const { return sizes.size(); }
  int64_t numel() const;   // elements; 1 for rank 0
  int64_t nbytes() const;  // numel() * item_size(dtype)
  bool is_contiguous() const;

  // Proven: bounds are knowledge about a type, not part of it.
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
  // Of an int: what it is; nullopt when nothing is known.
  MaybeSize number;

  Type() = default;
  Type(TensorType t) : tensor(std::move(t)) {}  // NOLINT: a tensor is a Type
  static Type scalar(Kind kind);
  static Type integer(SizeExpression number);

  bool is_tensor() const { return kind == Kind::kTensor; }
  // A tensor whose sizes vary, or a scalar computed at run time.
  bool is_dynamic() const { return !is_tensor() || tensor.is_dynamic(); }
  bool operator==(const Type& other) const;
  bool operator!=(const Type& other) const { return !(*this == other); }
};

// Not refuted: like ==, but sizes and numbers that vary need to be equal at the
// sample points only. For checks of what is known to be the same by other means.
bool agree(const TensorType& a, const TensorType& b);
bool agree(const Type& a, const Type& b);
// The same of a result of an operator that has kDataSized, and of what its rule gives: a size
// that the rule does not know may be any up to the most that the rule gives.
bool agrees_by_data(const TensorType& found, const TensorType& ruled);

std::string to_string(const TensorType& type);
std::string to_string(const Type& type);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_TYPE_H_
