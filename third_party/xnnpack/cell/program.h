/* SPDX-License-Identifier: Apache-2.0
 *
 * What a cell computes: a few functions of floats, one element by one, on runs of its inputs, its
 * outputs and of memory of its own.
 *
 *   input 0   | x x x x | x x x x |...     y = sigmoid(input 0, elements 4 to 7) to scratch 0
 *   input 1   | h h h h |                  multiply(scratch 0, input 1) to output 0
 *   scratch   | s s s s |
 *   output 0  | y y y y |
 *
 * Whoever makes a program owns it and all that it points to, and keeps it as long as there are
 * operators of it. Invariant: each run lies in what it is a run of, or in scratch_bytes.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_CELL_PROGRAM_H_
#define PETREL_THIRD_PARTY_XNNPACK_CELL_PROGRAM_H_

#include <stddef.h>
#include <stdint.h>

/* Of XNNPACK, for one node. */
#define PETREL_CELL_MAX_INPUTS 5
#define PETREL_CELL_MAX_OUTPUTS 4

enum petrel_cell_function {
  petrel_cell_add,
  petrel_cell_subtract,
  petrel_cell_multiply,
  petrel_cell_divide,
  petrel_cell_maximum,
  petrel_cell_minimum,
  /* Of one operand. */
  petrel_cell_abs,
  petrel_cell_exp,
  petrel_cell_negate,
  petrel_cell_sigmoid,
  petrel_cell_square,
  petrel_cell_tanh,
};

enum petrel_cell_place { petrel_cell_input, petrel_cell_output, petrel_cell_scratch };

struct petrel_cell_run {
  enum petrel_cell_place place;
  uint32_t index; /* of the input or output */
  size_t offset;  /* in bytes */
};

struct petrel_cell_step {
  enum petrel_cell_function function;
  size_t bytes; /* of each run */
  struct petrel_cell_run a, b, y;
};

struct petrel_cell {
  const struct petrel_cell_step* steps;
  size_t num_steps;
  size_t scratch_bytes;
  uint32_t num_inputs, num_outputs;
  size_t input_bytes[PETREL_CELL_MAX_INPUTS];
  size_t output_bytes[PETREL_CELL_MAX_OUTPUTS];
};

#endif /* PETREL_THIRD_PARTY_XNNPACK_CELL_PROGRAM_H_ */
