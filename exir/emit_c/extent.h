// SPDX-License-Identifier: Apache-2.0
//
// A size as generated C has it: a number, or an expression over the sizes that the caller
// gives with the inputs, which a step finds in `sizes`.
//
//   const Extent rows = extents_of(x->tensor())[0];
//   rows.text()             "16", or "sizes->s31"
//   (rows * 8 + 1).text()   "129", or "8 * sizes->s31 + 1"
//
// Equal means proven equal. What cannot be computed is not known, and has no text; whoever
// writes calls refuses it. C computes in 64 bits, in which nothing that has a text overflows.
#ifndef PETREL_EXIR_EMIT_C_EXTENT_H_
#define PETREL_EXIR_EMIT_C_EXTENT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exir/ir/size_expression.h"
#include "exir/ir/type.h"

namespace petrel::exir::emit_c {

class Extent {
 public:
  Extent() : Extent(0) {}
  Extent(int64_t number) : size_(SizeExpression(number)) {}         // NOLINT
  Extent(int32_t number) : Extent(static_cast<int64_t>(number)) {}  // NOLINT
  Extent(const SizeExpression& expression) : size_(expression) {}   // NOLINT
  Extent(MaybeSize size) : size_(std::move(size)) {}                // NOLINT

  bool is_known() const { return size_.has_value(); }
  bool is_number() const { return is_known() && size_->is_constant(); }
  // Precondition: is_number().
  int64_t number() const { return size_->constant(); }
  // What it is at least and at most.
  SizeRange range() const { return is_known() ? size_->range() : SizeRange(); }

  // Of type int64_t; "" for what C cannot compute.
  std::string text() const;

  friend Extent operator+(const Extent& a, const Extent& b);
  friend Extent operator-(const Extent& a, const Extent& b);
  friend Extent operator*(const Extent& a, const Extent& b);
  // Towards minus infinity.
  friend Extent operator/(const Extent& a, const Extent& b);
  friend Extent smaller_of(const Extent& a, const Extent& b);
  friend Extent larger_of(const Extent& a, const Extent& b);
  friend bool operator==(const Extent& a, const Extent& b) {
    return a.is_known() && b.is_known() && *a.size_ == *b.size_;
  }
  friend bool operator!=(const Extent& a, const Extent& b) { return !(a == b); }
  Extent& operator*=(const Extent& other) { return *this = *this * other; }
  Extent& operator+=(const Extent& other) { return *this = *this + other; }

 private:
  MaybeSize size_;
};

using Extents = std::vector<Extent>;

Extents extents_of(const TensorType& type);
Extent numel_of(const TensorType& type);
Extent nbytes_of(const TensorType& type);

// What each size is at least.
Sizes least_sizes(const TensorType& type);

// The member of `sizes` that a symbol is.
std::string size_member(const std::string& symbol);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_EXTENT_H_
