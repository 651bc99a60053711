/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions of 3 x 3 by Winograd's F(T x T, 3 x 3), for tiles of T x T outputs:
 *
 *   T   stride   products   of direct convolution
 *   2   1        16         36
 *   4   1        36         144
 *   2   2        25         36      even pixels by F(T, 2), odd ones as they are
 *   4   2        81         144
 *
 * Drawn for the first:
 *
 *   input               4 x 4 pixels           16 planes           2 x 2 pixels
 *   +--+--+--+--+       for each tile    V =   of tiles x K        of the output
 *   |  tile  |  |       ---------->      B'dB  each times   --->   A'MA + bias
 *   +--+--+--+--+                              U, K x N
 *      '-- next tile, two pixels on            U = GgG', packed when the layer is made,
 *                                              or made in each run
 *
 * V or U is as a whole in memory, whichever is smaller:
 *
 *   first             a task, in scratch memory of its thread
 *   U, unless packed  a block of tiles: its V, then M = VU for panel after panel of outputs
 *   V                 a panel of outputs: M = VU for all tiles; unless it is packed, U of one row
 *                     of planes after the other
 *
 * Where the window is dilated by d, pixels d apart are a plane of their own, of which there are
 * d x d:
 *
 *   d = 2    0 1 0 1 0      outputs of plane 0 read pixels of plane 0
 *            2 3 2 3 2
 *            0 1 0 1 0
 *
 * Where channels are in groups, each of them is a convolution of its own. A task has all of it, or
 * some of its blocks or panels, and makes V or U of the group in scratch memory first.
 *
 * Sums are in another order than those of direct convolution. Their error is smaller where T is
 * 2, and at most three times as large where it is 4. Numbers that are not finite would spread over
 * a tile, so a tile that has one in its result is computed anew, pixel by pixel, with the filter
 * that U was made of.
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
  size_t groups;
  size_t depth;   /* K, channels of the input, of a group */
  size_t outputs; /* N, channels of the output, of a group */

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
  size_t dilation; /* 1 at a stride of 2 */
  size_t input_stride, output_stride;
  size_t tile_rows, tile_columns, tiles; /* of a plane, the largest one, and of all images */
  bool has_panels_first;                 /* the second order of the two */
  size_t block;                          /* tiles that are multiplied, all in the second order */
  size_t part;                           /* tiles of a task of what comes first there */
  size_t tasks_of_group;                 /* threads that share one, or all tiles without groups */

  const float* input;
  const float* zeros; /* for pixels of the padding; may be null where there is none */
  float* output;
  const float* packed; /* the filter, or null */
  const float* kept;   /* the filter to be transformed in each run, or null */
  float low, high;
  float* shared;  /* winograd_shared_floats() */
  float* scratch; /* winograd_thread_floats() for each thread */
};

/* Decides on tiles, blocks and order. Precondition: channels, the kernel, the plane and `kept` are
 * there. Sets the tiles to 0 where nothing is to do. */
void winograd_plan(struct winograd_layer* layer, size_t images, size_t threads);

/* Of memory that all threads use, and of what each one has. */
size_t winograd_shared_floats(const struct winograd_layer* layer);
size_t winograd_thread_floats(const struct winograd_layer* layer);

/* Tasks of what comes first, of which there may be none, and those of a run behind all of them.
 * Either may be computed in any order and by several threads at once. */
size_t winograd_first_tasks(const struct winograd_layer* layer);
void winograd_first(const struct winograd_layer* layer, size_t task);
size_t winograd_tasks(const struct winograd_layer* layer);
void winograd_run(const struct winograd_layer* layer, size_t thread, size_t task);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_WINOGRAD_H_ */
