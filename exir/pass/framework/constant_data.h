// SPDX-License-Identifier: Apache-2.0
//
// Elements of constants as doubles and back, for the little arithmetic that
// passes do on weights themselves (batch norm folding, scalars).
//
//   PETREL_ASSIGN_OR_RETURN(std::vector<double> mean, decode_constant(c));
//
// Elements are in row-major order of the sizes, whatever the dim order. i64
// and u64 values beyond 2^53 lose digits.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_CONSTANT_DATA_H_
#define PETREL_EXIR_PASS_FRAMEWORK_CONSTANT_DATA_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "exir/ir/constant.h"

namespace petrel::exir {

absl::StatusOr<std::vector<double>> decode_constant(const Constant& constant);

// Rounds to nearest even. InvalidArgument when a value does not fit an integer
// dtype.
absl::StatusOr<Blob> encode_constant(const std::vector<double>& values, ScalarType dtype);

// `data`, which holds a tensor of `type` in its dim order, in row-major order:
// rearranged whenever it is read. Precondition: data.size() == type.nbytes().
Blob in_row_major_order(const Blob& data, const TensorType& type);

// One element at `out`, without a check of range.
void encode_element(double value, ScalarType dtype, uint8_t* out);
double decode_element(const uint8_t* in, ScalarType dtype);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_CONSTANT_DATA_H_
