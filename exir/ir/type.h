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
// Sizes that vary from call to call ("dynamic") are known by their values at
// kSamples sample points: assignments of numbers to the symbols of the method,
// the same for all its values. `sizes` holds their upper bounds, for which memory
// is planned. Two sizes are the same function of the symbols when they agree at
// every point; whatever computes with sizes does it at each point, so nothing
// needs an algebra of expressions:
//
//   symbols       batch in [1, 16]
//   points        16 1 2 5 7 10 12 14        largest, smallest, six between
//   x             f32[batch, 8]              sizes {16, 8}, bounds
//   x.flatten()   f32[8 * batch]             128 8 16 40 56 80 96 112
//
// Text form: f32[1,3,224,224], i64[] (rank 0), f32[1,3,8,8]{0,2,3,1} (order
// given when not contiguous), f32[16|16|1|2|5|7|10|12|14,8] (a bound and the
// values at the points), int, int|16|1|2|5|7|10|12|14, float, bool.
#ifndef PETREL_EXIR_IR_TYPE_H_
#define PETREL_EXIR_IR_TYPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/ir/scalar_type.h"
#include "exir/ir/size_expression.h"

namespace petrel::exir {

// The rank limit of the `.pte` runtime.
inline constexpr size_t kMaxRank = 16;

using Sizes = std::vector<int64_t>;

struct TensorType {
  ScalarType dtype = ScalarType::kFloat;
  Sizes sizes;
  std::vector<uint8_t> dim_order;  // outermost dimension first
  // The sizes at each sample point; empty when no size varies.
  std::vector<Sizes> samples;

  // A contiguous tensor.
  static TensorType contiguous(ScalarType dtype, Sizes sizes);
  // One whose sizes vary, static if they turn out to be the same at all points.
  // `bounds` may be lower than a sample, which then counts. Precondition:
  // kSamples samples and `bounds`, all of one rank.
  static TensorType dynamic(ScalarType dtype, Sizes bounds, std::vector<Sizes> samples);

  bool is_dynamic() const { return !samples.empty(); }
  bool varies(size_t dim) const;
  // The same type at one point: static.
  TensorType at_sample(size_t k) const;
  // No order but the contiguous one.
  TensorType without_order() const;

  size_t rank() const { return sizes.size(); }
  int64_t numel() const;   // elements; 1 for rank 0
  int64_t nbytes() const;  // numel() * item_size(dtype)
  bool is_contiguous() const;

  // Sizes that vary are equal when they are at every point: bounds are
  // knowledge about a type, not part of it.
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
  // Of an int: its value at each sample point; empty when nothing is known.
  std::vector<int64_t> samples;

  Type() = default;
  Type(TensorType t) : tensor(std::move(t)) {}  // NOLINT: a tensor is a Type
  static Type scalar(Kind kind);
  // An int; one sample stands for all points.
  static Type integer(std::vector<int64_t> samples);

  bool is_tensor() const { return kind == Kind::kTensor; }
  // A tensor whose sizes vary, or a scalar computed at run time.
  bool is_dynamic() const { return !is_tensor() || tensor.is_dynamic(); }
  bool operator==(const Type& other) const;
  bool operator!=(const Type& other) const { return !(*this == other); }
};

std::string to_string(const TensorType& type);
std::string to_string(const Type& type);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_TYPE_H_
