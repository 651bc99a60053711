/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions of 3 x 3 at a stride of 1 by Winograd's F(2 x 2, 3 x 3): 16 products for what
 * direct convolution needs 36 for.
 *
 *   input               4 x 4 pixels           16 planes           2 x 2 pixels
 *   +--+--+--+--+       for each tile    V =   of tiles x K        of the output
 *   |  tile  |  |       ---------->      B'dB  each times   --->   A'MA + bias
 *   +--+--+--+--+                              U, K x N
 *      '-- next tile, two pixels on            U = GgG', packed when the layer is made,
 *                                              or made in each run
 *
 * A block of tiles is computed by one task, in scratch memory of its thread: V of all
 * channels, then M = VU for as many outputs as a kernel computes at once.
 *
 * Sums are in another order than those of direct convolution, and as exact. Numbers that are
 * not finite would spread over a tile, so a tile that has one in its result is computed
 * anew, pixel by pixel, with the filter that U was made of.
 *
 * Whoever fills `struct winograd_layer` owns what it points to.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_WINOGRAD_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_WINOGRAD_H_

#include <stdbool.h>
#include <stddef.h>

#include "third_party/xnnpack/ahead.h"
#include "third_party/xnnpack/winograd/transforms.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WINOGRAD_MAX_ROWS 16

/* XNNPACK's contract of matrix products: [rows, depth / 4] times packed columns. */
typedef void (*winograd_product)(size_t rows, size_t columns, size_t depth_bytes, const void* a,
                                 size_t a_stride, const void* packed, void* c, size_t c_stride,
                                 size_t c_column_stride, const void* params);

/* The same where it brings weights to the cache besides. */
typedef void (*winograd_product_ahead)(size_t rows, size_t columns, size_t depth_bytes,
                                       const void* a, size_t a_stride, const void* packed, void* c,
                                       size_t c_stride, size_t c_column_stride, const void* params,
                                       struct petrel_ahead ahead);

struct winograd_layer {
  size_t depth;   /* K, channels of the input */
  size_t outputs; /* N, channels of the output */

  /* The kernel of products: columns of a packed panel, rows at once, and the function for each
   * number of rows. `params` are those of no bounds. `product_ahead`, of `panel_rows`, may be
   * null. */
  size_t panel_columns;
  size_t panel_rows;
  winograd_product products[WINOGRAD_MAX_ROWS];
  winograd_product_ahead product_ahead;
  float params[2];
  const struct winograd_transforms* transforms;

  /* The plane, in pixels. `input_stride` and `output_stride` are floats from pixel to pixel. */
  size_t input_height, input_width, output_height, output_width;
  size_t padding_top, padding_left;
  size_t input_stride, output_stride;
  size_t tile_rows, tile_columns, tiles; /* of a plane, and of all images */
  size_t block;                          /* tiles of a task */

  const float* input;
  const float* zeros; /* for pixels of the padding; may be null where there is none */
  float* output;
  const float* packed;
  /* Where U is made in each run: of what, and where `packed` is then. */
  const float* kept;
  float* made; /* winograd_packed_floats() */
  float low, high;
  float* scratch; /* winograd_scratch_floats() for each thread */
};

/* Floats of the packed filter. Their panels lie at multiples of `panel_columns`. */
size_t winograd_packed_floats(size_t depth, size_t outputs, size_t panel_columns);

/* Packs panels [first, first + count) of a filter [outputs][3][3][depth] and its bias, which may
 * be null. False when what it makes is not finite: such filters need direct convolution. */
bool winograd_pack(size_t depth, size_t outputs, size_t panel_columns, size_t first, size_t count,
                   const float* filter, const float* bias, float* packed);

/* The same for filters that are transformed in each run: as many floats as direct convolution
 * has, with the outputs of a panel side by side:
 *
 *   panel   | biases | channel 0: 9 taps of all its outputs | channel 1 | ...
 */
size_t winograd_kept_floats(size_t depth, size_t outputs, size_t panel_columns);
bool winograd_keep(size_t depth, size_t outputs, size_t panel_columns, size_t first, size_t count,
                   const float* filter, const float* bias, float* kept);

/* One task of what comes before winograd_run(): U of a panel. */
size_t winograd_panels(const struct winograd_layer* layer);
void winograd_make(const struct winograd_layer* layer, size_t panel);

/* Decides on tiles and blocks. Precondition: channels, the kernel and the plane are there. */
void winograd_plan(struct winograd_layer* layer, size_t images, size_t threads);

size_t winograd_scratch_floats(const struct winograd_layer* layer);
size_t winograd_blocks(const struct winograd_layer* layer);

/* The most that winograd_scratch_floats() is for any kernel and plane. */
size_t winograd_most_scratch_floats(size_t depth);

/* One task. Blocks may be computed in any order and by several threads at once. */
void winograd_run(const struct winograd_layer* layer, size_t thread, size_t block);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_WINOGRAD_H_ */
