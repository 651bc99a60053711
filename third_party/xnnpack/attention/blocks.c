/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/attention/blocks.h"

#include <math.h>

#include "xnnpack.h"
#include "xnnpack/config.h"
#include "xnnpack/math.h"
#include "xnnpack/pack.h"

/* What kernels may read behind the last element. */
#define READ_BEHIND 128

/* Panels of keys that a tile of rows is multiplied by at once stay in the first cache. */
#define PANELS_BYTES 16384

/* So that no thread waits long for the last block of another one. */
#define BLOCKS_OF_THREAD 16

static size_t whole_lines(size_t bytes) { return round_up_po2(bytes, 64); }

bool attention_find_kernels(struct attention_layer* layer) {
  const struct xnn_gemm_config* gemm = xnn_init_f32_gemm_config();
  const struct xnn_rmax_config* rmax = xnn_init_f32_rmax_config();
  const struct xnn_raddstoreexpminusmax_config* raise = xnn_init_f32_raddstoreexpminusmax_config();
  const struct xnn_binary_elementwise_config* multiply = xnn_init_f32_vmul_config();
  if (gemm == NULL || rmax == NULL || raise == NULL || multiply == NULL) return false;
  const struct gemm_fused_ukernels* kernels = &gemm->minmax;
  if (gemm->linear.gemm[gemm->mr - 1].function[XNN_UARCH_DEFAULT] != NULL) kernels = &gemm->linear;
  layer->tile_rows = gemm->mr;
  layer->panel_columns = gemm->nr;
  layer->kr = (size_t)1 << gemm->log2_kr;
  layer->sr = (size_t)1 << gemm->log2_sr;
  layer->product = kernels->gemm[gemm->mr - 1].function[XNN_UARCH_DEFAULT];
  const xnn_gemm_ukernel_fn of_row = kernels->gemm[0].function[XNN_UARCH_DEFAULT];
  layer->product_of_row = of_row != NULL ? of_row : layer->product;
  layer->pack_turned = gemm->pack_gemm_goi;
  if (gemm->init.f32 != NULL) gemm->init.f32(&layer->product_params, -INFINITY, INFINITY);
  layer->find_max = rmax->ukernel;
  layer->raise = raise->ukernel;
  layer->multiply = multiply->opc_ukernel;
  return true;
}

static void plan_side(const struct attention_layer* layer, struct packed_side* side) {
  side->column_bytes = (1 + round_up_po2(side->depth, layer->kr * layer->sr)) * sizeof(float);
  side->bytes = whole_lines(round_up(side->columns, layer->panel_columns) * side->column_bytes);
}

/* Queries that steps have changed come before the scores. */
static size_t query_bytes(const struct attention_layer* layer) {
  const bool has_steps = layer->first_step[1] != layer->first_step[0];
  return has_steps
             ? whole_lines(layer->block_rows * layer->keys.depth * sizeof(float) + READ_BEHIND)
             : 0;
}

static size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

/* As many as have room, but several blocks for each thread. */
static size_t tiles_of_block(const struct attention_layer* layer, size_t block_bytes,
                             size_t threads) {
  const size_t room = block_bytes / (layer->score_row * sizeof(float) * layer->tile_rows);
  if (layer->shares_batches) return max(room, 1);
  const size_t blocks = divide_up(BLOCKS_OF_THREAD * threads, layer->batches);
  return max(min(room, divide_up(divide_up(layer->rows, layer->tile_rows), blocks)), 1);
}

size_t attention_plan(struct attention_layer* layer, size_t block_bytes, size_t threads) {
  plan_side(layer, &layer->keys);
  plan_side(layer, &layer->values);
  layer->packed_bytes = layer->keys.bytes + layer->values.bytes;
  const uint64_t work =
      (uint64_t)layer->rows * layer->keys.columns * (layer->keys.depth + layer->values.columns);
  layer->shares_batches =
      petrel_attention_shares_batches(layer->batches, layer->rows, threads, work);
  layer->score_row = petrel_attention_row(layer->keys.columns);
  const size_t row_bytes = layer->score_row * sizeof(float);
  layer->block_rows =
      min(tiles_of_block(layer, block_bytes, threads) * layer->tile_rows, layer->rows);
  const size_t scores = whole_lines(layer->block_rows * row_bytes + READ_BEHIND);
  layer->block_bytes =
      query_bytes(layer) + scores + (layer->shares_batches ? layer->packed_bytes : 0);
  return threads * layer->block_bytes +
         (layer->shares_batches ? 0 : layer->batches * layer->packed_bytes);
}

size_t attention_num_blocks(const struct attention_layer* layer) {
  return layer->batches * divide_up(layer->rows, layer->block_rows);
}

size_t attention_num_panels(const struct attention_layer* layer) {
  return divide_up(layer->keys.columns, layer->panel_columns) +
         divide_up(layer->values.columns, layer->panel_columns);
}

/* `count` columns from the one on which a panel begins. */
static void pack(const struct attention_layer* layer, const struct packed_side* side, size_t batch,
                 size_t first, size_t count, char* packed) {
  const float* data = side->data + batch * side->depth * side->columns;
  char* to = packed + first * side->column_bytes;
  if (side->is_turned) {
    layer->pack_turned(1, count, side->depth, layer->panel_columns, layer->kr, layer->sr,
                       data + first * side->depth, NULL, NULL, to, 0, NULL);
  } else {
    xnn_pack_f32_gemm_gio_w(1, count, side->depth, layer->panel_columns, layer->kr, layer->sr,
                            side->columns, data + first, NULL, NULL, (float*)to, 0, NULL);
  }
}

void attention_pack_panel(const struct attention_layer* layer, size_t batch, size_t panel) {
  const size_t key_panels = divide_up(layer->keys.columns, layer->panel_columns);
  const bool is_of_keys = panel < key_panels;
  const struct packed_side* side = is_of_keys ? &layer->keys : &layer->values;
  const size_t first = (is_of_keys ? panel : panel - key_panels) * layer->panel_columns;
  const size_t count = min(layer->panel_columns, side->columns - first);
  char* packed = layer->memory + batch * layer->packed_bytes;
  pack(layer, side, batch, first, count, is_of_keys ? packed : packed + layer->keys.bytes);
}

/* Rows of one matrix, and where a thread has what they need. */
struct block {
  size_t batch, row, rows;
  const char* packed;
  float* queries;
  float* scores;
};

static void run_steps(const struct attention_layer* layer, enum petrel_attention_stage stage,
                      const struct block* block, size_t columns, const float* from, size_t from_row,
                      float* to, size_t to_row) {
  for (size_t i = layer->first_step[stage]; i < layer->first_step[stage + 1]; i++) {
    row_step_run(&layer->steps[i], block->batch, block->row, block->rows, columns, from, from_row,
                 to, to_row);
    from = to;
    from_row = to_row;
  }
}

/* All rows by some columns, then by the next. */
static void multiply(const struct attention_layer* layer, const struct packed_side* side,
                     size_t columns_at_once, size_t rows, const float* a, size_t a_row,
                     const char* packed, float* c, size_t c_row) {
  const xnn_gemm_ukernel_fn product = layer->rows == 1 ? layer->product_of_row : layer->product;
  for (size_t column = 0; column < side->columns; column += columns_at_once) {
    for (size_t row = 0; row < rows; row += layer->tile_rows) {
      product(min(layer->tile_rows, rows - row), min(columns_at_once, side->columns - column),
              side->depth * sizeof(float), a + row * a_row, a_row * sizeof(float),
              packed + column * side->column_bytes, c + row * c_row + column, c_row * sizeof(float),
              layer->panel_columns * sizeof(float), &layer->product_params);
    }
  }
}

static void find_shares(const struct attention_layer* layer, float* row) {
  const size_t bytes = layer->keys.columns * sizeof(float);
  float most, sum;
  layer->find_max(bytes, row, &most, NULL);
  layer->raise(bytes, row, &most, row, &sum, NULL);
  const float scale = 1.0f / sum;
  layer->multiply(bytes, row, &scale, row, NULL);
}

static void run_block(const struct attention_layer* layer, const struct block* block) {
  const size_t depth = layer->keys.depth;
  const size_t columns = layer->keys.columns;
  const float* queries = layer->queries + (block->batch * layer->rows + block->row) * depth;
  if (layer->first_step[1] != layer->first_step[0]) {
    run_steps(layer, petrel_attention_queries, block, depth, queries, depth, block->queries, depth);
    queries = block->queries;
  }
  const size_t panel = layer->panel_columns;
  const size_t panels = max(PANELS_BYTES / (panel * layer->keys.column_bytes), 1);
  float* scores = block->scores;
  multiply(layer, &layer->keys, panels * panel, block->rows, queries, depth, block->packed, scores,
           layer->score_row);
  run_steps(layer, petrel_attention_scores, block, columns, scores, layer->score_row, scores,
            layer->score_row);
  for (size_t i = 0; i < block->rows; i++) find_shares(layer, scores + i * layer->score_row);
  run_steps(layer, petrel_attention_shares, block, columns, scores, layer->score_row, scores,
            layer->score_row);
  float* output = layer->output + (block->batch * layer->rows + block->row) * layer->values.columns;
  multiply(layer, &layer->values, round_up(layer->values.columns, panel), block->rows, scores,
           layer->score_row, block->packed + layer->keys.bytes, output, layer->values.columns);
}

/* The memory of a thread: packed ones of its own, queries, scores. */
static struct block place_block(const struct attention_layer* layer, size_t thread) {
  const size_t shared = layer->shares_batches ? 0 : layer->batches * layer->packed_bytes;
  char* own = layer->memory + shared + thread * layer->block_bytes;
  char* queries = own + (layer->shares_batches ? layer->packed_bytes : 0);
  return (struct block){
      .packed = own,
      .queries = (float*)queries,
      .scores = (float*)(queries + query_bytes(layer)),
  };
}

void attention_run_block(const struct attention_layer* layer, size_t thread, size_t index) {
  const size_t blocks = divide_up(layer->rows, layer->block_rows);
  struct block block = place_block(layer, thread);
  block.batch = index / blocks;
  block.row = index % blocks * layer->block_rows;
  block.rows = min(layer->block_rows, layer->rows - block.row);
  block.packed = layer->memory + block.batch * layer->packed_bytes;
  run_block(layer, &block);
}

void attention_run_batch(const struct attention_layer* layer, size_t thread, size_t batch) {
  struct block block = place_block(layer, thread);
  char* packed = (char*)block.packed;
  pack(layer, &layer->keys, batch, 0, layer->keys.columns, packed);
  pack(layer, &layer->values, batch, 0, layer->values.columns, packed + layer->keys.bytes);
  block.batch = batch;
  for (; block.row < layer->rows; block.row += layer->block_rows) {
    block.rows = min(layer->block_rows, layer->rows - block.row);
    run_block(layer, &block);
  }
}
