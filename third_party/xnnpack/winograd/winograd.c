/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/winograd/winograd.h"

#include <stdint.h>
#include <string.h>

/* Of V, for one block: it stays in a cache of the second level beside a panel. */
#define BLOCK_FLOATS 65536u
/* Fewer tiles would read panels more often than they are worth. */
#define LEAST_BLOCK 32u
#define MOST_COLUMNS 64u
#define WINOGRAD_TAPS 9u
/* What kernels read behind the end of a row. */
#define BEHIND 32u
/* Channels that are packed at once: their rows of 16 panels stay in the first cache. */
#define PACKED_AT_ONCE 4u

static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t round_up(size_t a, size_t b) { return divide_up(a, b) * b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a < b ? b : a; }

/* A panel begins with the bias of its product, which is 0. */
static size_t panel_floats(size_t depth, size_t columns) { return columns + depth * columns; }

/* All planes of as many outputs as a panel has, behind their bias. */
static size_t group_floats(size_t depth, size_t columns) {
  return columns + WINOGRAD_PLANES * panel_floats(depth, columns);
}

size_t winograd_packed_floats(size_t depth, size_t outputs, size_t panel_columns) {
  return divide_up(outputs, panel_columns) * group_floats(depth, panel_columns);
}

/* G g G' of `count` channels of one output; u is [planes][PACKED_AT_ONCE]. */
static void transform_filter(const float* g, size_t depth, size_t count, float* u) {
  for (size_t k = 0; k < count; ++k) {
    float h[12];
    for (int x = 0; x < 3; ++x) {
      const float g0 = g[(size_t)x * depth + k];
      const float g1 = g[(size_t)(3 + x) * depth + k];
      const float g2 = g[(size_t)(6 + x) * depth + k];
      h[x] = g0;
      h[3 + x] = 0.5f * ((g0 + g2) + g1);
      h[6 + x] = 0.5f * ((g0 + g2) - g1);
      h[9 + x] = g2;
    }
    for (int y = 0; y < 4; ++y) {
      const float* row = h + 3 * y;
      float* to = u + (size_t)(4 * y) * PACKED_AT_ONCE + k;
      to[0] = row[0];
      to[PACKED_AT_ONCE] = 0.5f * ((row[0] + row[2]) + row[1]);
      to[2 * PACKED_AT_ONCE] = 0.5f * ((row[0] + row[2]) - row[1]);
      to[3 * PACKED_AT_ONCE] = row[2];
    }
  }
}

/* Returns a number that is not 0 where one of them is not finite. */
static float pack_channels(size_t depth, size_t columns, size_t column, size_t at, size_t count,
                           const float* filter, float* panels) {
  float u[WINOGRAD_PLANES * PACKED_AT_ONCE];
  float spoiled = 0;
  transform_filter(filter + at, depth, count, u);
  for (size_t p = 0; p < WINOGRAD_PLANES; ++p) {
    float* to = panels + p * panel_floats(depth, columns) + columns + at * columns + column;
    for (size_t k = 0; k < count; ++k) {
      const float value = u[p * PACKED_AT_ONCE + k];
      spoiled += value * 0.0f;
      to[k * columns] = value;
    }
  }
  return spoiled;
}

bool winograd_pack(size_t depth, size_t outputs, size_t panel_columns, size_t first, size_t count,
                   const float* filter, const float* bias, float* packed) {
  const size_t group = group_floats(depth, panel_columns);
  float spoiled = 0;
  for (size_t i = first; i < first + count; ++i) {
    float* to = packed + i * group;
    const size_t output = i * panel_columns;
    const size_t columns = smaller(panel_columns, outputs - output);
    memset(to, 0, group * sizeof(float));
    if (bias != NULL) memcpy(to, bias + output, columns * sizeof(float));
    for (size_t at = 0; at < depth; at += PACKED_AT_ONCE) {
      const size_t channels = smaller(PACKED_AT_ONCE, depth - at);
      for (size_t column = 0; column < columns; ++column) {
        spoiled += pack_channels(depth, panel_columns, column, at, channels,
                                 filter + (output + column) * 9 * depth, to + panel_columns);
      }
    }
  }
  return spoiled == 0;
}

/* Of a panel of kept filters, behind its bias. */
static size_t kept_panel_floats(size_t depth, size_t columns) {
  return columns + WINOGRAD_TAPS * depth * columns;
}

size_t winograd_kept_floats(size_t depth, size_t outputs, size_t panel_columns) {
  return divide_up(outputs, panel_columns) * kept_panel_floats(depth, panel_columns);
}

/* Returns a number that is not 0 where something of U may not be finite: none of its numbers is
 * larger than the sum of the weights without their signs. */
static float keep_output(size_t depth, size_t columns, const float* filter, float* to) {
  float spoiled = 0;
  for (size_t k = 0; k < depth; ++k) {
    float size = 0;
    for (size_t tap = 0; tap < WINOGRAD_TAPS; ++tap) {
      const float weight = filter[tap * depth + k];
      size += weight < 0 ? -weight : weight;
      to[(k * WINOGRAD_TAPS + tap) * columns] = weight;
    }
    spoiled += size * 0.0f;
  }
  return spoiled;
}

bool winograd_keep(size_t depth, size_t outputs, size_t panel_columns, size_t first, size_t count,
                   const float* filter, const float* bias, float* kept) {
  const size_t floats = kept_panel_floats(depth, panel_columns);
  float spoiled = 0;
  for (size_t i = first; i < first + count; ++i) {
    float* to = kept + i * floats;
    const size_t output = i * panel_columns;
    const size_t columns = smaller(panel_columns, outputs - output);
    memset(to, 0, floats * sizeof(float));
    if (bias != NULL) memcpy(to, bias + output, columns * sizeof(float));
    for (size_t column = 0; column < columns; ++column) {
      spoiled += keep_output(depth, panel_columns, filter + (output + column) * 9 * depth,
                             to + panel_columns + column);
    }
  }
  return spoiled == 0;
}

size_t winograd_panels(const struct winograd_layer* layer) {
  return divide_up(layer->outputs, layer->panel_columns);
}

void winograd_make(const struct winograd_layer* layer, size_t panel) {
  const size_t columns = layer->panel_columns;
  const size_t plane = panel_floats(layer->depth, columns);
  const float* from = layer->kept + panel * kept_panel_floats(layer->depth, columns);
  float* to = layer->made + panel * group_floats(layer->depth, columns);
  memcpy(to, from, columns * sizeof(float));
  from += columns;
  to += columns;
  for (size_t p = 0; p < WINOGRAD_PLANES; ++p) memset(to + p * plane, 0, columns * sizeof(float));
  for (size_t k = 0; k < layer->depth; ++k) {
    layer->transforms->filter(from + k * WINOGRAD_TAPS * columns, columns, to + (k + 1) * columns,
                              plane);
  }
}

static size_t most_tiles(size_t depth) {
  return larger(BLOCK_FLOATS / (WINOGRAD_PLANES * depth), LEAST_BLOCK);
}

void winograd_plan(struct winograd_layer* layer, size_t images, size_t threads) {
  layer->tile_rows = divide_up(layer->output_height, 2);
  layer->tile_columns = divide_up(layer->output_width, 2);
  layer->tiles = images * layer->tile_rows * layer->tile_columns;
  if (layer->tiles == 0) return;
  const size_t blocks = round_up(divide_up(layer->tiles, most_tiles(layer->depth)), threads);
  layer->block = round_up(divide_up(layer->tiles, blocks), layer->panel_rows);
}

size_t winograd_blocks(const struct winograd_layer* layer) {
  return divide_up(layer->tiles, layer->block);
}

size_t winograd_scratch_floats(const struct winograd_layer* layer) {
  return WINOGRAD_PLANES * layer->block * (layer->depth + layer->panel_columns) + BEHIND;
}

size_t winograd_most_scratch_floats(size_t depth) {
  return WINOGRAD_PLANES * (most_tiles(depth) + WINOGRAD_MAX_ROWS) * (depth + MOST_COLUMNS) +
         BEHIND;
}

/* Where the image of a tile begins, and its row and column there. */
struct tile {
  size_t image, row, column;
};

static struct tile tile_at(const struct winograd_layer* layer, size_t index) {
  const size_t of_image = layer->tile_rows * layer->tile_columns;
  const size_t rest = index % of_image;
  const struct tile tile = {index / of_image, rest / layer->tile_columns,
                            rest % layer->tile_columns};
  return tile;
}

/* A coordinate of the plane, or SIZE_MAX in the padding. What lies beyond all that an output of
 * the plane reads may be any pixel. */
static size_t place(size_t at, size_t padding, size_t size, bool has_zeros) {
  if (at >= padding && at - padding < size) return at - padding;
  return has_zeros ? SIZE_MAX : size - 1;
}

static void find_pixels(const struct winograd_layer* layer, struct tile tile,
                        const float** pixels) {
  const float* image =
      layer->input + tile.image * layer->input_height * layer->input_width * layer->input_stride;
  for (size_t y = 0; y < 4; ++y) {
    const size_t row =
        place(2 * tile.row + y, layer->padding_top, layer->input_height, layer->zeros != NULL);
    for (size_t x = 0; x < 4; ++x) {
      const size_t column =
          place(2 * tile.column + x, layer->padding_left, layer->input_width, layer->zeros != NULL);
      const bool is_padding = row == SIZE_MAX || column == SIZE_MAX;
      pixels[4 * y + x] = is_padding
                              ? layer->zeros
                              : image + (row * layer->input_width + column) * layer->input_stride;
    }
  }
}

static struct winograd_target target_of(const struct winograd_layer* layer, struct tile tile,
                                        size_t output, const float* bias) {
  const size_t row = 2 * tile.row;
  const size_t column = 2 * tile.column;
  const size_t pixel = (tile.image * layer->output_height + row) * layer->output_width + column;
  struct winograd_target to;
  to.output = layer->output + pixel * layer->output_stride + output;
  to.row_stride = layer->output_width * layer->output_stride;
  to.column_stride = layer->output_stride;
  to.rows = smaller(2, layer->output_height - row);
  to.columns = smaller(2, layer->output_width - column);
  to.channels = smaller(layer->panel_columns, layer->outputs - output);
  to.bias = bias;
  to.low = layer->low;
  to.high = layer->high;
  return to;
}

/* The rows of V from `row` on times U of one plane. Whole tiles of rows bring a part each of the
 * panel that comes next. */
static void multiply_rows(const struct winograd_layer* layer, const float* v, size_t row,
                          size_t tiles, const float* u, size_t columns, float* m) {
  const size_t depth_bytes = layer->depth * sizeof(float);
  const size_t m_stride = layer->panel_columns * sizeof(float);
  const size_t rows = smaller(layer->panel_rows, tiles - row);
  if (layer->product_ahead == NULL || rows < layer->panel_rows) {
    layer->products[rows - 1](rows, columns, depth_bytes, v, depth_bytes, u, m, m_stride, m_stride,
                              layer->params);
    return;
  }
  const size_t panel = panel_floats(layer->depth, layer->panel_columns) * sizeof(float);
  const size_t step = divide_up(m_stride, tiles / layer->panel_rows);
  const struct petrel_ahead ahead =
      petrel_bring(panel + row / layer->panel_rows * step * (layer->depth + 1), step);
  layer->product_ahead(rows, columns, depth_bytes, v, depth_bytes, u, m, m_stride, m_stride,
                       layer->params, ahead);
}

/* M = V U of one panel of outputs, in all planes. */
static void multiply(const struct winograd_layer* layer, const float* v, size_t tiles,
                     const float* u, size_t columns, float* m) {
  const size_t panel = panel_floats(layer->depth, layer->panel_columns);
  for (size_t p = 0; p < WINOGRAD_PLANES; ++p) {
    for (size_t row = 0; row < tiles; row += layer->panel_rows) {
      const size_t place = p * layer->block + row;
      multiply_rows(layer, v + place * layer->depth, row, tiles, u + p * panel, columns,
                    m + place * layer->panel_columns);
    }
  }
}

void winograd_run(const struct winograd_layer* layer, size_t thread, size_t block) {
  float* v = layer->scratch + thread * winograd_scratch_floats(layer);
  float* m = v + WINOGRAD_PLANES * layer->block * layer->depth;
  const size_t first = block * layer->block;
  const size_t tiles = smaller(layer->block, layer->tiles - first);
  const size_t columns = layer->panel_columns;
  const float* pixels[WINOGRAD_PLANES];
  for (size_t t = 0; t < tiles; ++t) {
    find_pixels(layer, tile_at(layer, first + t), pixels);
    layer->transforms->input(pixels, layer->depth, v + t * layer->depth,
                             layer->block * layer->depth);
  }
  for (size_t output = 0; output < layer->outputs; output += columns) {
    const float* bias = layer->packed + output / columns * group_floats(layer->depth, columns);
    const float* u = bias + columns;
    multiply(layer, v, tiles, u, smaller(columns, layer->outputs - output), m);
    for (size_t t = 0; t < tiles; ++t) {
      const struct tile tile = tile_at(layer, first + t);
      const struct winograd_target to = target_of(layer, tile, output, bias);
      if (layer->transforms->output(m + t * columns, layer->block * columns, &to)) continue;
      find_pixels(layer, tile, pixels);
      layer->transforms->direct(pixels, layer->depth, u + columns,
                                panel_floats(layer->depth, columns), columns, &to);
    }
  }
}
