/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/image/image.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* Rows of a band take so many floats, if more than one row of the output has room there: they
 * stay in the cache of the first level while they are used. */
#define BAND_FLOATS 8192

/* What kernels may read behind the last pixel, in floats. */
#define READ_BEHIND 16

/* Of what each thread has, in bytes. */
#define SCRATCH_ALIGNMENT 64

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

static size_t rows_of(size_t band, size_t kernel_height, size_t stride_height) {
  return (band - 1) * stride_height + kernel_height;
}

/* As many rows of the output as BAND_FLOATS are enough for. */
static size_t most_rows(const struct image_layer* layer, size_t row_floats) {
  const size_t rows = BAND_FLOATS / row_floats;
  if (rows <= layer->kernel_height) return 1;
  return 1 + (rows - layer->kernel_height) / layer->stride_height;
}

static size_t pointer_bytes(const struct image_layer* layer) {
  return layer->kernel_height * layer->tile_rows * sizeof(void*);
}

void image_plan(struct image_layer* layer, size_t images, size_t threads) {
  layer->padded_width = (layer->output_width - 1) * layer->stride_width + layer->kernel_width;
  const size_t row_floats = layer->padded_width * layer->channels;
  /* Several bands for each thread, so that none waits long for the last one. */
  const size_t bands = threads <= 1 ? 1 : divide_up(threads * 4, images);
  layer->band = smaller(divide_up(layer->output_height, bands), most_rows(layer, row_floats));
  /* The last tile of a row may have pixels that are not there. */
  const size_t behind = layer->tile_rows * layer->stride_width * layer->channels + READ_BEHIND;
  const size_t rows = rows_of(layer->band, layer->kernel_height, layer->stride_height);
  const size_t bytes = pointer_bytes(layer) + (rows * row_floats + behind) * sizeof(float);
  layer->scratch_floats = divide_up(bytes, SCRATCH_ALIGNMENT) * (SCRATCH_ALIGNMENT / sizeof(float));
}

size_t image_tasks(const struct image_layer* layer, size_t images) {
  return images * divide_up(layer->output_height, layer->band);
}

/* Pixels of planes beside each other. */
static void join_planes(float* to, const float* from, size_t plane, size_t channels,
                        size_t pixels) {
  size_t i = 0;
#if defined(__SSE__)
  for (; channels == 3 && i + 4 <= pixels; i += 4) {
    const __m128 r = _mm_loadu_ps(from + i);
    const __m128 g = _mm_loadu_ps(from + plane + i);
    const __m128 b = _mm_loadu_ps(from + 2 * plane + i);
    const __m128 low = _mm_unpacklo_ps(r, g);
    const __m128 high = _mm_unpackhi_ps(r, g);
    const __m128 b0r1 = _mm_shuffle_ps(b, r, _MM_SHUFFLE(1, 1, 0, 0));
    const __m128 g1b1 = _mm_shuffle_ps(g, b, _MM_SHUFFLE(1, 1, 1, 1));
    const __m128 b2r3 = _mm_shuffle_ps(b, r, _MM_SHUFFLE(3, 3, 2, 2));
    const __m128 g3b3 = _mm_shuffle_ps(g, b, _MM_SHUFFLE(3, 3, 3, 3));
    _mm_storeu_ps(to + 3 * i, _mm_shuffle_ps(low, b0r1, _MM_SHUFFLE(2, 0, 1, 0)));
    _mm_storeu_ps(to + 3 * i + 4, _mm_shuffle_ps(g1b1, high, _MM_SHUFFLE(1, 0, 2, 0)));
    _mm_storeu_ps(to + 3 * i + 8, _mm_shuffle_ps(b2r3, g3b3, _MM_SHUFFLE(2, 0, 2, 0)));
  }
#endif
  for (; i < pixels; ++i) {
    for (size_t c = 0; c < channels; ++c) to[i * channels + c] = from[c * plane + i];
  }
}

/* `pixels` of a row of the input, from the first. */
static void copy_row(const struct image_layer* layer, float* to, const float* image, size_t row,
                     size_t pixels) {
  const size_t channels = layer->channels;
  if (layer->is_planar && channels > 1) {
    const size_t plane = layer->input_height * layer->input_width;
    join_planes(to, image + row * layer->input_width, plane, channels, pixels);
    return;
  }
  const size_t stride = layer->is_planar ? 1 : layer->input_stride;
  const float* from = image + row * layer->input_width * stride;
  if (stride == channels) {
    memcpy(to, from, pixels * channels * sizeof(float));
    return;
  }
  for (size_t i = 0; i < pixels; ++i) {
    for (size_t c = 0; c < channels; ++c) to[i * channels + c] = from[i * stride + c];
  }
}

/* A row of scratch memory; `row` counts from the first one of the padding. */
static void fill_row(const struct image_layer* layer, float* to, const float* image, size_t row) {
  const size_t width = layer->padded_width;
  const size_t left = smaller(layer->padding_left, width);
  const size_t pixels = smaller(layer->input_width, width - left);
  const size_t bytes = layer->channels * sizeof(float);
  if (row < layer->padding_top || row - layer->padding_top >= layer->input_height) {
    memset(to, 0, width * bytes);
    return;
  }
  memset(to, 0, left * bytes);
  copy_row(layer, to + left * layer->channels, image, row - layer->padding_top, pixels);
  memset(to + (left + pixels) * layer->channels, 0, (width - left - pixels) * bytes);
}

void image_run(const struct image_layer* layer, size_t thread, size_t task) {
  const size_t bands = divide_up(layer->output_height, layer->band);
  const size_t image = task / bands;
  const size_t first = task % bands * layer->band;
  const size_t rows = smaller(layer->band, layer->output_height - first);
  const size_t row_floats = layer->padded_width * layer->channels;
  const size_t pixel_stride = layer->is_planar ? layer->channels : layer->input_stride;
  const float* input =
      layer->input + image * layer->input_height * layer->input_width * pixel_stride;

  const void** pointers = (const void**)(layer->scratch + thread * layer->scratch_floats);
  float* pixels = (float*)((uintptr_t)pointers + pointer_bytes(layer));
  const size_t filled = rows_of(rows, layer->kernel_height, layer->stride_height);
  for (size_t i = 0; i < filled; ++i) {
    fill_row(layer, pixels + i * row_floats, input, first * layer->stride_height + i);
  }
  const size_t step = layer->stride_width * layer->channels;
  for (size_t y = 0; y < layer->kernel_height; ++y) {
    for (size_t i = 0; i < layer->tile_rows; ++i) {
      pointers[y * layer->tile_rows + i] = pixels + y * row_floats + i * step;
    }
  }

  const size_t depth_bytes = layer->kernel_width * layer->channels * sizeof(float);
  const size_t output_bytes = layer->output_stride * sizeof(float);
  for (size_t y = 0; y < rows; ++y) {
    float* output = layer->output + ((image * layer->output_height + first + y) *
                                     layer->output_width * layer->output_stride);
    for (size_t x = 0; x < layer->output_width; x += layer->tile_rows) {
      const size_t offset = y * layer->stride_height * row_floats + x * step;
      layer->product(smaller(layer->tile_rows, layer->output_width - x), layer->outputs,
                     depth_bytes, pointer_bytes(layer), pointers, layer->packed,
                     output + x * layer->output_stride, output_bytes,
                     layer->panel_columns * sizeof(float), offset * sizeof(float), NULL,
                     layer->params);
    }
  }
}
