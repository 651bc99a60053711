// SPDX-License-Identifier: Apache-2.0
//
// Outputs that callers see as numbers, which passes had as tensors of no dims:
//
//   %n = aten.sym_size.int(%x, 0) : int(s0)          %n = aten.sym_size.int(%x, 0) : int(s0)
//   %o = aten.full.default([], %n) : i64[]     =>    return %n
//   return %o
//
// A tensor that no number was made into is read by aten::_local_scalar_dense.
//
//   show_numbers(program);    // before memory is planned
//
// C has tensors alone: it keeps these, and gets constants of the numbers that export knows.
//
//   return %x, 3              =>    return %x, %forward_output_1 : i64[]
//
//   add_known_numbers(program);
#ifndef PETREL_EXIR_EMIT_NUMBER_OUTPUTS_H_
#define PETREL_EXIR_EMIT_NUMBER_OUTPUTS_H_

#include "exir/ir/program.h"

namespace petrel::exir {

// Makes outputs of kind int, float or bool of those in Signature::number_outputs.
void show_numbers(Program& program);

// Makes outputs of kind tensor, i64, f64 or bool, of the numbers in Signature::fixed_outputs.
// None and strings stay there.
void add_known_numbers(Program& program);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_EMIT_NUMBER_OUTPUTS_H_
