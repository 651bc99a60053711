/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions of images of up to four channels, such as the first layers of networks.
 *
 *   a row of the input, and zeros              windows of adjacent pixels, stride 2
 *   +-------+-------------------+-----+        |<- 3 pixels, 9 floats ->|
 *   | 0 0 0 | r g b r g b r g b | 0.. |                     |<- 3 pixels, 9 floats ->|
 *   +-------+-------------------+-----+
 *
 * XNNPACK's kernels take a pointer for each pixel of a window, which takes longer to find than
 * three floats behind it to multiply. Here rows are copied to memory of the thread first, with
 * the padding. Then a row of a window is one piece of memory, and needs one pointer; the weights
 * are packed in that order anyway. An input of planes is taken as it is: copying turns it.
 *
 * Kernels of bytes multiply four or eight of a pixel's channels at once, tiles of AMX 64, whether
 * they are there or not. Windows of a tile are copied one behind the other, and are one pixel with
 * many channels to the kernel, for which their weights are packed:
 *
 *   | r g b r g b r g b  r g b r g b r g b  r g b r g b r g b |     a window of 3 x 3, 27 bytes
 *
 * Sums are those of the kernels, floats in the same order: results are the same bits.
 *
 * Whoever fills `struct image_layer` owns what it points to.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_IMAGE_IMAGE_H_
#define PETREL_THIRD_PARTY_XNNPACK_IMAGE_IMAGE_H_

#include <stdbool.h>
#include <stddef.h>

#include "third_party/xnnpack/image/flag.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IMAGE_MOST_TILE_ROWS 16

/* XNNPACK's contract of convolutions by pointers. */
typedef void (*image_product)(size_t rows, size_t columns, size_t depth_bytes, size_t pointer_bytes,
                              const void** pointers, const void* packed, void* c, size_t c_stride,
                              size_t c_column_stride, size_t offset, const void* zero,
                              const void* params);

struct image_layer {
  size_t channels, outputs;
  size_t kernel_height, kernel_width, stride_height, stride_width;
  size_t input_height, input_width, output_height, output_width;
  size_t padding_top, padding_left;
  bool is_planar;       /* the input is [n, channels, height, width] */
  size_t input_stride;  /* elements from pixel to pixel, unless it is planar */
  size_t output_stride; /* the same of the output */
  size_t element;       /* bytes: of a float, or one */
  size_t pixel;         /* bytes: an element for each channel */
  unsigned char zero;   /* each byte of an element of the padding */

  image_product product; /* for up to `tile_rows` pixels, at most IMAGE_MOST_TILE_ROWS */
  size_t tile_rows;
  size_t panel_columns;
  const void* params;
  const void* packed;

  /* Of image_plan(). */
  size_t padded_width;  /* pixels of a row of scratch memory */
  size_t band;          /* rows of the output that a task computes */
  size_t scratch_bytes; /* of a thread */

  const void* input;
  void* output;
  char* scratch; /* scratch_bytes for each thread, aligned like pointers */
};

/* Decides on bands. Precondition: all above it but `packed` is there, and the output has
 * elements. */
void image_plan(struct image_layer* layer, size_t images, size_t threads);

/* How many tasks there are. */
size_t image_tasks(const struct image_layer* layer, size_t images);

/* One task. They may be computed in any order and by several threads at once. */
void image_run(const struct image_layer* layer, size_t thread, size_t task);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_IMAGE_IMAGE_H_ */
