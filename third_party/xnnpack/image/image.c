/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/image/image.h"

#include <string.h>

#include "third_party/xnnpack/image/rows.h"

/* Rows of a band take so many bytes, if more than one row of the output has room there: they
 * stay in the cache of the first level while they are used. */
#define BAND_BYTES 32768

/* What kernels may read behind the last pixel. */
#define READ_BEHIND 64

#define SCRATCH_ALIGNMENT 64

/* Windows are copied in pieces of so many bytes. */
#define PIECE 16

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

static size_t rows_of(size_t band, size_t kernel_height, size_t stride_height) {
  return (band - 1) * stride_height + kernel_height;
}

/* As many rows of the output as BAND_BYTES are enough for. */
static size_t most_rows(const struct image_layer* layer, size_t row_bytes) {
  const size_t rows = BAND_BYTES / row_bytes;
  if (rows <= layer->kernel_height) return 1;
  return 1 + (rows - layer->kernel_height) / layer->stride_height;
}

static size_t window_bytes(const struct image_layer* layer) {
  return layer->kernel_width * layer->pixel;
}

/* Whether a tile's windows are copied: a kernel gets one pointer for each. */
static bool copies_windows(const struct image_layer* layer) { return layer->element == 1; }

static size_t pointers_of(const struct image_layer* layer) {
  return copies_windows(layer) ? layer->tile_rows : layer->kernel_height * layer->tile_rows;
}

/* From one copied window to the next. */
static size_t copied_bytes(const struct image_layer* layer) {
  return layer->kernel_height * window_bytes(layer) + READ_BEHIND;
}

/* Bytes of scratch memory in front of the rows. */
static size_t head_bytes(const struct image_layer* layer) {
  const size_t windows = copies_windows(layer) ? layer->tile_rows * copied_bytes(layer) : 0;
  return pointers_of(layer) * sizeof(void*) + windows;
}

void image_plan(struct image_layer* layer, size_t images, size_t threads) {
  layer->padded_width = (layer->output_width - 1) * layer->stride_width + layer->kernel_width;
  const size_t row_bytes = layer->padded_width * layer->pixel;
  /* Several bands for each thread, so that none waits long for the last one. */
  const size_t bands = threads <= 1 ? 1 : divide_up(threads * 4, images);
  layer->band = smaller(divide_up(layer->output_height, bands), most_rows(layer, row_bytes));
  /* The last tile of a row may have pixels that are not there. */
  const size_t behind = layer->tile_rows * layer->stride_width * layer->pixel + READ_BEHIND;
  const size_t rows = rows_of(layer->band, layer->kernel_height, layer->stride_height);
  const size_t bytes = head_bytes(layer) + rows * row_bytes + behind;
  layer->scratch_bytes = divide_up(bytes, SCRATCH_ALIGNMENT) * SCRATCH_ALIGNMENT;
}

size_t image_tasks(const struct image_layer* layer, size_t images) {
  return images * divide_up(layer->output_height, layer->band);
}

/* A row of scratch memory; `row` counts from the first one of the padding. */
static void fill_row(const struct image_layer* layer, char* to, const char* image, size_t row) {
  const size_t width = layer->padded_width;
  const size_t left = smaller(layer->padding_left, width);
  const size_t pixels = smaller(layer->input_width, width - left);
  if (row < layer->padding_top || row - layer->padding_top >= layer->input_height) {
    memset(to, layer->zero, width * layer->pixel);
    return;
  }
  memset(to, layer->zero, left * layer->pixel);
  image_copy_row(layer, to + left * layer->pixel, image, row - layer->padding_top, pixels);
  memset(to + (left + pixels) * layer->pixel, layer->zero, (width - left - pixels) * layer->pixel);
}

/* What a task has: rows from the first one that it reads, and pointers to a tile's pixels. */
struct band {
  const void** pointers;
  char* windows;
  char* rows;
  size_t row_bytes;
};

static void point_to_rows(const struct image_layer* layer, const struct band* band) {
  const size_t step = layer->stride_width * layer->pixel;
  for (size_t y = 0; y < layer->kernel_height; ++y) {
    for (size_t i = 0; i < layer->tile_rows; ++i) {
      band->pointers[y * layer->tile_rows + i] = band->rows + y * band->row_bytes + i * step;
    }
  }
}

static void point_to_windows(const struct image_layer* layer, const struct band* band) {
  for (size_t i = 0; i < layer->tile_rows; ++i) {
    band->pointers[i] = band->windows + i * copied_bytes(layer);
  }
}

/* The windows of `count` pixels, the first of which begins at `from`. */
static void copy_windows(const struct image_layer* layer, const struct band* band, const char* from,
                         size_t count) {
  const size_t bytes = window_bytes(layer);
  for (size_t i = 0; i < count; ++i, from += layer->stride_width * layer->pixel) {
    char* to = band->windows + i * copied_bytes(layer);
    for (size_t y = 0; y < layer->kernel_height; ++y, to += bytes) {
      const char* row = from + y * band->row_bytes;
      /* The last piece ends behind the row of the window, where the next one is copied to. */
      for (size_t b = 0; b < bytes; b += PIECE) memcpy(to + b, row + b, PIECE);
    }
  }
}

void image_run(const struct image_layer* layer, size_t thread, size_t task) {
  const size_t bands = divide_up(layer->output_height, layer->band);
  const size_t image = task / bands;
  const size_t first = task % bands * layer->band;
  const size_t rows = smaller(layer->band, layer->output_height - first);
  const size_t stride = layer->is_planar ? layer->channels : layer->input_stride;
  const char* input = (const char*)layer->input +
                      image * layer->input_height * layer->input_width * stride * layer->element;

  char* scratch = layer->scratch + thread * layer->scratch_bytes;
  const bool has_windows = copies_windows(layer);
  const struct band band = {
      .pointers = (const void**)scratch,
      .windows = scratch + pointers_of(layer) * sizeof(void*),
      .rows = scratch + head_bytes(layer),
      .row_bytes = layer->padded_width * layer->pixel,
  };
  const size_t filled = rows_of(rows, layer->kernel_height, layer->stride_height);
  for (size_t i = 0; i < filled; ++i) {
    fill_row(layer, band.rows + i * band.row_bytes, input, first * layer->stride_height + i);
  }
  (has_windows ? point_to_windows : point_to_rows)(layer, &band);

  const size_t depth = window_bytes(layer) * (has_windows ? layer->kernel_height : 1);
  const size_t pointer_bytes = pointers_of(layer) * sizeof(void*);
  const size_t output_bytes = layer->output_stride * layer->element;
  for (size_t y = 0; y < rows; ++y) {
    const size_t row = image * layer->output_height + first + y;
    char* output = (char*)layer->output + row * layer->output_width * output_bytes;
    for (size_t x = 0; x < layer->output_width; x += layer->tile_rows) {
      const size_t count = smaller(layer->tile_rows, layer->output_width - x);
      const size_t offset =
          y * layer->stride_height * band.row_bytes + x * layer->stride_width * layer->pixel;
      if (has_windows) copy_windows(layer, &band, band.rows + offset, count);
      layer->product(count, layer->outputs, depth, pointer_bytes, band.pointers, layer->packed,
                     output + x * output_bytes, output_bytes, layer->panel_columns * layer->element,
                     has_windows ? 0 : offset, NULL, layer->params);
    }
  }
}
