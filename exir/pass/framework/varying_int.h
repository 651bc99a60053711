// SPDX-License-Identifier: Apache-2.0
//
// Finds out how an int that varies is computed, from its values at the general
// sample points and the sizes of what is there, and makes the nodes for it.
//
//   values 12 15 27, %x: f32[4|..4 5 9..]     mul(sym_size(%x, 0), 3)
//
// Tried in order: a number that is there, a size, a linear function of one of
// them, a product of up to three times a factor, a division of one by a small
// number. nullopt where none of them fits.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_VARYING_INT_H_
#define PETREL_EXIR_PASS_FRAMEWORK_VARYING_INT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/pass/framework/builder.h"

namespace petrel::exir {

class VaryingInts {
 public:
  // The sizes and numbers among the operands of `node` are what is there.
  explicit VaryingInts(const Node& node);

  // True when it is a number or size that is there.
  bool is_known(const std::vector<int64_t>& values) const;
  absl::StatusOr<std::optional<Argument>> make(Builder& b,
                                               const std::vector<int64_t>& values) const;

 private:
  // A number (dim -1) or a size.
  struct Source {
    Value* value;
    int64_t dim;
    std::vector<int64_t> values;  // at the general points
  };

  BuiltValue value_of(Builder& b, const Source& source) const;

  std::vector<Source> sources_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_VARYING_INT_H_
