// SPDX-License-Identifier: Apache-2.0
//
// The equation of einsum, as its rule and its decomposition read it:
//
//   "b...i, ij -> b...j"    operands "b.i" and "ij", result "b.j"
//   "ji"                    operand "ji", result ".ij"
//
// Invariant: every operand and the result are letters and at most one '.', which stands for the
// dims of an ellipsis; no letter is twice in the result, and each of it is in an operand.
#ifndef PETREL_EXIR_OPS_EINSUM_H_
#define PETREL_EXIR_OPS_EINSUM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace petrel::exir {

inline constexpr char kEinsumEllipsis = '.';

struct EinsumEquation {
  std::vector<std::string> operands;
  std::string result;
};

// InvalidArgument shows the part that is none.
absl::StatusOr<EinsumEquation> read_einsum(absl::string_view equation);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_OPS_EINSUM_H_
