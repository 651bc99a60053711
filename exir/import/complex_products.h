// SPDX-License-Identifier: Apache-2.0
//
// Functions of one tensor or of two that are linear in each, of complex numbers:
//
//   f(z)     ->  f(re z),  f(im z)
//   f(z, w)  ->  f(re z, re w) - f(im z, im w),  f(re z, im w) + f(im z, re w)
#ifndef PETREL_EXIR_IMPORT_COMPLEX_PRODUCTS_H_
#define PETREL_EXIR_IMPORT_COMPLEX_PRODUCTS_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/import/complex_rules.h"

namespace petrel::exir {

// One node for each part: what moves, sums or scales elements.
absl::StatusOr<std::vector<ComplexPair>> each_part(Builder& b, const ComplexCall& call);

using Bilinear = std::function<BuiltValue(Value*, Value*)>;

absl::StatusOr<ComplexPair> bilinear(Builder& b, const ComplexPair& x, const ComplexPair& y,
                                     const Bilinear& function);

// The first two arguments are the tensors.
absl::StatusOr<std::vector<ComplexPair>> product_of_two(Builder& b, const ComplexCall& call);
// A linear layer or a convolution, whose third argument is the bias.
absl::StatusOr<std::vector<ComplexPair>> layer(Builder& b, const ComplexCall& call);
// addmm
absl::StatusOr<std::vector<ComplexPair>> sum_with_product(Builder& b, const ComplexCall& call);
absl::StatusOr<std::vector<ComplexPair>> einsum(Builder& b, const ComplexCall& call);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_COMPLEX_PRODUCTS_H_
