// SPDX-License-Identifier: Apache-2.0
//
// Calls of kernels of integers for steps that run row by row (row_step.h), where those who
// write the rows say which arguments they have.
#ifndef PETREL_EXIR_EMIT_C_INT8_CALLS_H_
#define PETREL_EXIR_EMIT_C_INT8_CALLS_H_

#include "exir/emit_c/kernel_call.h"
#include "exir/emit_c/kernel_choices.h"
#include "exir/ir/graph.h"

namespace petrel::exir::emit_c {

// "uint32_t": what the scratch of a variant of packed weights is made of.
const char* scratch_type(const VariantRow& variant);

// Of one row, `row_`. Its arguments and the value of that are missing.
KernelCall convolution_of_rows(const KernelChoice& choice);

// A function that adds a level to the one at an address, as an addition of equal sizes does.
// `adds_self`: the level is of the operand self, and that of the other one is there.
KernelCall addition_of_levels(const Node& node, bool adds_self);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_INT8_CALLS_H_
