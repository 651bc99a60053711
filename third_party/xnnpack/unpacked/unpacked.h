/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of single rows with weights as they are stored, such as the last layers of classifiers.
 *
 *   weights [outputs, inputs]              8 outputs and 4 inputs, turned in registers
 *   +---------------------------+          +----------------+
 *   | w00 w01 w02 ...           |          | w00 w10 w20 .. |  times x0
 *   | w10 w11 w12 ...           |   --->   | w01 w11 w21 .. |  times x1
 *   | w20 w21 w22 ...           |          | w02 w12 w22 .. |  times x2
 *
 * Weights that are multiplied by one row are read from memory, once a run; to pack them takes as
 * long as several runs, and as much memory again. Turning them takes less time than reading them.
 * Vectors of 8 outputs do as well as those of 16: shuffles of the longer ones take twice as long or
 * lines of sixteen rows that share a set of the cache drive each other out.
 * A sum is added up in the order of the inputs by fused multiply-adds, as XNNPACK's kernels do with
 * packed weights: results are the same bits.
 *
 * Nothing beside the weights is read.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_UNPACKED_UNPACKED_H_
#define PETREL_THIRD_PARTY_XNNPACK_UNPACKED_UNPACKED_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Outputs that are computed at once. */
#define UNPACKED_BLOCK 16

struct unpacked_layer {
  size_t inputs;        /* at least one */
  const float* weights; /* [outputs, inputs] */
  const float* bias;    /* of each output, or null */
  float low, high;
  size_t input_stride; /* floats from row to row */
  size_t output_stride;
  const float* input;
  float* output;
};

/* Computes `count` outputs of a row, from `first` on. May be called by several threads at once. */
typedef void unpacked_run(const struct unpacked_layer* layer, size_t row, size_t first,
                          size_t count);

unpacked_run unpacked_run_fma3;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_UNPACKED_UNPACKED_H_ */
