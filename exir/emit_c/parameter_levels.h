// SPDX-License-Identifier: Apache-2.0
//
// What the elements of parameters stand for, as the nodes say that make numbers of them:
//
//   dequantize_per_tensor(%w, 0.5, -3)      levels {0.5, -3}
//   dequantize_per_channel(%w, %s, axis 0)  scales: the parameter %s, axis 0
#ifndef PETREL_EXIR_EMIT_C_PARAMETER_LEVELS_H_
#define PETREL_EXIR_EMIT_C_PARAMETER_LEVELS_H_

#include <vector>

#include "exir/emit_c/package.h"
#include "exir/emit_c/places.h"

namespace petrel::exir::emit_c {

// `symbols` are those that the parameters have.
void note_levels(const PlannedMethod& method, const Symbols& symbols,
                 std::vector<CParameter>* parameters);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_PARAMETER_LEVELS_H_
