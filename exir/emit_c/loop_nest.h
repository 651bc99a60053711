// SPDX-License-Identifier: Apache-2.0
//
// Loops over dims that several operands are walked by, with as few dims as do: dims of
// one element are left out, and neighbours that all operands walk densely are one.
//
//   LoopNest nest(2);
//   nest.add(3, {20, 5});   // 3 elements, 20 apart in the first operand and 5 in the second
//   nest.add(4, {5, 1});
//   nest.add(5, {1, 0});
#ifndef PETREL_EXIR_EMIT_C_LOOP_NEST_H_
#define PETREL_EXIR_EMIT_C_LOOP_NEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "exir/emit_c/extent.h"
#include "exir/emit_c/kernel_call.h"
#include "exir/ir/type.h"

namespace petrel::exir::emit_c {

class LoopNest {
 public:
  explicit LoopNest(size_t operands) : strides_(operands) {}

  // Outermost first.
  void add(const Extent& size, const Extents& strides);

  const Extent& count() const { return count_; }
  const Extents& strides(size_t operand) const { return strides_[operand]; }
  // All operands are walked densely.
  bool is_dense() const;
  // A dim for kernels that need one.
  void make_not_empty();

  // PREFIXSIZES, PREFIXRANK, and the count as `count`.
  void bind_sizes(KernelCall& call, const std::string& prefix, const std::string& count) const;
  // For kernels with a loop over COLUMNS inside of one over ROWS: SIZES, OUTER_RANK too.
  void bind_rows(KernelCall& call) const;

 private:
  Extents sizes_;
  std::vector<Extents> strides_;  // by operand
  Extent count_ = 1;
};

// The strides by which `type` is walked when it is repeated to `sizes`.
Extents broadcast_strides(const TensorType& type, const Extents& sizes);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_LOOP_NEST_H_
