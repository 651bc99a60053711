/* SPDX-License-Identifier: Apache-2.0
 *
 * A step of attention on some rows of one matrix: sums, products or quotients of each element and
 * an operand that may have fewer dims.
 *
 *   struct row_step step;
 *   row_step_init(&described, &step);
 *   row_step_reshape(&step, &operand_dims, &dims_of_rows);
 *   step.operand = data;
 *   row_step_run(&step, batch, 14, 7, columns, from, from_row, to, to_row);   // rows 14 to 20
 *
 * Owns nothing.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_ATTENTION_ROW_STEP_H_
#define PETREL_THIRD_PARTY_XNNPACK_ATTENTION_ROW_STEP_H_

#include <stdbool.h>
#include <stddef.h>

#include "third_party/xnnpack/attention/program.h"
#include "xnnpack/microfnptr.h"
#include "xnnpack/microparams.h"

struct row_step {
  const float* operand;
  size_t num_batch_dims;
  size_t batch_dims[PETREL_ATTENTION_MAX_DIMS];
  /* Of the operand, in floats; 0 where it has one for all. */
  size_t batch_strides[PETREL_ATTENTION_MAX_DIMS];
  size_t row_stride;
  bool has_one_column;
  bool operand_is_first;
  xnn_vbinary_ukernel_fn pair;   /* of as many elements of both */
  xnn_vbinary_ukernel_fn single; /* of one element of the operand */
  union xnn_binary_uparams params;
  xnn_vunary_ukernel_fn clamp; /* null without a range */
  union xnn_unary_uparams clamp_params;
};

/* False where this processor has no kernel. */
bool row_step_init(const struct petrel_attention_step* described, struct row_step* step);

/* False if the operand does not fit the dims, which are two or more. */
bool row_step_reshape(struct row_step* step, const struct petrel_attention_dims* operand,
                      const struct petrel_attention_dims* dims);

/* `batch` counts matrices of the dims; rows of `from` and `to`, which may be the same, are so many
 * floats apart. */
void row_step_run(const struct row_step* step, size_t batch, size_t row, size_t rows,
                  size_t columns, const float* from, size_t from_row, float* to, size_t to_row);

#endif /* PETREL_THIRD_PARTY_XNNPACK_ATTENTION_ROW_STEP_H_ */
