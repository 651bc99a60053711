/* SPDX-License-Identifier: Apache-2.0
 *
 * How attention is computed: which memory it needs, how keys and values are packed, and what a
 * thread does with a block of rows.
 *
 *   memory   | keys and values of all matrices, packed | block of thread 0 | block of thread 1 |
 *   or       | keys and values of one matrix, packed, and block, of thread 0 | of thread 1 |
 *
 * The second is for as many matrices as balance threads: what a thread packs it reads from its own
 * cache, and nothing waits for the others to have packed.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_ATTENTION_BLOCKS_H_
#define PETREL_THIRD_PARTY_XNNPACK_ATTENTION_BLOCKS_H_

#include <stdbool.h>
#include <stddef.h>

#include "third_party/xnnpack/attention/program.h"
#include "third_party/xnnpack/attention/row_step.h"
#include "xnnpack/config-types.h"
#include "xnnpack/microfnptr.h"
#include "xnnpack/microparams.h"

/* One side of a product that is packed: `columns` of `depth` elements. */
struct packed_side {
  bool is_turned; /* each column's elements follow each other, else each row's do */
  size_t depth, columns;
  size_t column_bytes; /* of the packed form */
  size_t bytes;        /* of the packed form of a matrix */
  const float* data;
};

struct attention_layer {
  /* Kernels, and parameters as operators have them. */
  xnn_gemm_ukernel_fn product, product_of_row;
  size_t tile_rows, panel_columns, kr, sr;
  xnn_packw_gemm_goi_ukernel_fn pack_turned;
  union xnn_f32_minmax_params product_params;
  xnn_rmax_ukernel_fn find_max;
  xnn_raddstoreexpminusmax_ukernel_fn raise;
  xnn_vbinary_ukernel_fn multiply;
  /* Sizes. */
  size_t batches, rows;
  struct packed_side keys, values;
  size_t block_rows, score_row;
  bool shares_batches;
  size_t packed_bytes; /* of keys and values of a matrix */
  size_t block_bytes;  /* of the memory of a thread, packed ones included if they are its own */
  /* Data. */
  const float* queries;
  float* output;
  char* memory;
  /* Of stages in their order; the first one of each, and behind the last. */
  size_t first_step[4];
  struct row_step steps[PETREL_ATTENTION_MAX_STEPS];
};

/* False where this processor has no kernel. */
bool attention_find_kernels(struct attention_layer* layer);

/* Sizes are there: batches, rows, depth and columns of both sides. Returns the bytes of memory. */
size_t attention_plan(struct attention_layer* layer, size_t block_bytes, size_t threads);

size_t attention_num_blocks(const struct attention_layer* layer);
size_t attention_num_panels(const struct attention_layer* layer);

/* Tasks: of matrices that are shared, of panels that are packed, and then of blocks. */
void attention_run_batch(const struct attention_layer* layer, size_t thread, size_t batch);
void attention_pack_panel(const struct attention_layer* layer, size_t batch, size_t panel);
void attention_run_block(const struct attention_layer* layer, size_t thread, size_t index);

#endif /* PETREL_THIRD_PARTY_XNNPACK_ATTENTION_BLOCKS_H_ */
