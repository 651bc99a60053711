// SPDX-License-Identifier: Apache-2.0
//
// Tensors of rank 0 made from Python numbers. The name follows from the content
// ("literal_f32_40000000" is 2.0), so equal numbers are one constant in every
// method of a program.
#ifndef PETREL_EXIR_IMPORT_NUMBER_CONSTANT_H_
#define PETREL_EXIR_IMPORT_NUMBER_CONSTANT_H_

#include "absl/status/statusor.h"
#include "exir/ir/argument.h"
#include "exir/ir/constant.h"

namespace petrel::exir {

// `number` is an int, float or bool literal. It is converted as a cast would:
// integers wrap around, floats round. InvalidArgument for a float that no
// integer `dtype` holds.
absl::StatusOr<ConstantPtr> number_constant(const Argument& number, ScalarType dtype);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_NUMBER_CONSTANT_H_
