/* SPDX-License-Identifier: Apache-2.0
 *
 * Transposed convolutions of floats, phase by phase.
 *
 *   a b a b a b     Outputs whose places leave the same rest by the stride see the same taps: they
 *   c d c d c d     are a phase. Each phase is a product: rows are its pixels, columns the channels
 *   a b a b a b     of the output, the depth the channels of the input at its taps.
 *   c d c d c d
 *
 * A tile of rows goes on in the next line of its phase: of an image that is 4 pixels wide, 14 rows
 * are three lines and a half. And a panel of weights is used by all tiles of a block of pixels
 * before the next one is touched; where tiles are few, each brings a part of the next one.
 *
 *   block of pixels, whose input stays in the second-level cache
 *     group
 *       phase
 *         panel of columns, whose weights stay there          <- a task
 *           image, tile of rows
 *
 * Kernels write rows that are equally far apart, as pixels of one line are. A tile that goes on in
 * the next line is computed aside and its rows are copied. Sums are those of the kernels: results
 * are the same bits however pixels are cut into tiles.
 *
 * Whoever fills `struct phases_layer` owns what it points to.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_PHASES_PHASES_H_
#define PETREL_THIRD_PARTY_XNNPACK_PHASES_PHASES_H_

#include <stdbool.h>
#include <stddef.h>

#include "third_party/xnnpack/ahead.h"
#include "xnnpack/microfnptr.h"
#include "xnnpack/microparams.h"

#define PHASES_MOST_TILE_ROWS 16

/* A kernel that brings weights ahead besides (third_party/xnnpack/ahead.h). */
typedef void (*phases_gemm_ahead)(size_t rows, size_t columns, size_t depth, const float* a,
                                  size_t a_stride, const float* w, float* c, size_t c_stride,
                                  size_t c_column_stride, const union xnn_f32_minmax_params* params,
                                  struct petrel_ahead ahead);
typedef void (*phases_igemm_ahead)(size_t rows, size_t columns, size_t depth, size_t pointer_bytes,
                                   const float** a, const float* w, float* c, size_t c_stride,
                                   size_t c_column_stride, size_t offset, const float* zero,
                                   const union xnn_f32_minmax_params* params,
                                   struct petrel_ahead ahead);

struct phases_layer {
  /* Of phases_lay_out(), except for weights and their strides. */
  struct subconvolution_params* phases;
  size_t images, groups, outputs;   /* channels of a group */
  size_t depth;                     /* bytes: input channels of a group */
  size_t input_height, input_width; /* pixels, here and below */
  size_t output_height, output_width;
  size_t kernel_height, kernel_width, stride_height, stride_width;
  size_t padding_top, padding_left;
  size_t input_pixel, output_pixel; /* bytes from pixel to pixel */
  size_t weights_group;             /* bytes from group to group */

  /* Whether each phase sees each pixel of the input once, in order: there are no pointers. */
  bool is_product;
  xnn_gemm_ukernel_fn gemm;
  xnn_igemm_ukernel_fn igemm;
  phases_gemm_ahead gemm_ahead; /* NULL where the kernel has no such form, here and below */
  phases_igemm_ahead igemm_ahead;
  size_t most_tiles_ahead; /* of a block that had better bring a panel between them, else 0 */
  size_t tile_rows;        /* of a kernel, at most PHASES_MOST_TILE_ROWS */
  size_t tile_columns;
  union xnn_f32_minmax_params params;
  const float* zero;   /* pixels beside the image */
  size_t input_offset; /* added to all other pointers */

  /* Of phases_plan(). */
  bool goes_on; /* whether tiles go on in the next line */
  size_t rows;  /* of a tile, at most tile_rows */
  size_t tiles_of_block, images_of_block;
  size_t plane_blocks, image_blocks;
  size_t panel, panels; /* columns */
  bool brings;          /* whether tiles bring the next panel between them */

  const char* input;
  char* output;
};

/* Sizes of phases. */
void phases_lay_out(struct phases_layer* layer);

/* Cuts the work into tasks. Precondition: phases are laid out and the output has elements. */
void phases_plan(struct phases_layer* layer, size_t threads);

/* How many pointers there are; at most 16 and a pixel of the phase for each tap. */
size_t phases_count_pointers(const struct phases_layer* layer);

/* Writes them, for an input at `input`. */
void phases_point(struct phases_layer* layer, const void** pointers, const char* input);

size_t phases_tasks(const struct phases_layer* layer);

/* One task. They may be computed in any order and by several threads at once. */
void phases_run(const struct phases_layer* layer, size_t task);

#endif /* PETREL_THIRD_PARTY_XNNPACK_PHASES_PHASES_H_ */
