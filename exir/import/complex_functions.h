// SPDX-License-Identifier: Apache-2.0
//
// Functions of each complex number by itself, with its parts x and y, length |z| and angle:
//
//   exp(z)    ->  exp(x) cos y,  exp(x) sin y
//   sqrt(z)   ->  sqrt|z| cos(angle / 2),  sqrt|z| sin(angle / 2)
//   sin(z)    ->  sin x cosh y,  cos x sinh y
//   z == w    ->  both parts are equal
#ifndef PETREL_EXIR_IMPORT_COMPLEX_FUNCTIONS_H_
#define PETREL_EXIR_IMPORT_COMPLEX_FUNCTIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "exir/import/complex_rules.h"

namespace petrel::exir {

using MadeOfComplex = absl::StatusOr<std::vector<ComplexPair>>;

// The first argument where only complex numbers make sense, whatever the archive says of the
// result.
absl::StatusOr<ComplexPair> complex_self(const ComplexCall& call);

MadeOfComplex polar(Builder& b, const ComplexCall& call);
MadeOfComplex absolute(Builder& b, const ComplexCall& call);
MadeOfComplex angle(Builder& b, const ComplexCall& call);

// exp, log, log2 and log10
MadeOfComplex exponential(Builder& b, const ComplexCall& call);
MadeOfComplex logarithm(Builder& b, const ComplexCall& call);
// Of a length to the exponent, and an angle times it: sqrt, rsqrt, pow.Tensor_Scalar
MadeOfComplex power(Builder& b, const ComplexCall& call);

// sin, cos, sinh and cosh; tan, tanh and sigmoid
MadeOfComplex wave(Builder& b, const ComplexCall& call);
MadeOfComplex tangent(Builder& b, const ComplexCall& call);

// A truth of each part, and both of them, or one: eq and isfinite; ne, isnan and isinf
MadeOfComplex of_both_parts(Builder& b, const ComplexCall& call);
MadeOfComplex of_one_part(Builder& b, const ComplexCall& call);

// var and std: of a number and others the squares of both distances are added.
MadeOfComplex variance(Builder& b, const ComplexCall& call);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_COMPLEX_FUNCTIONS_H_
