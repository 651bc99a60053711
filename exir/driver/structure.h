// SPDX-License-Identifier: Apache-2.0
//
// What a program is apart from its weights, as a digest: two programs with one
// structure compute the same from the same weights. Operators, types, literals,
// initial state, delegates with their payloads and the names of weights count;
// what weights hold, and what values in between are called, does not.
#ifndef PETREL_EXIR_DRIVER_STRUCTURE_H_
#define PETREL_EXIR_DRIVER_STRUCTURE_H_

#include "exir/ir/blob.h"
#include "exir/ir/program.h"

namespace petrel::exir {

Sha256 structure_of(const Program& program);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_STRUCTURE_H_
