/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/winograd/filters.h"

#include <string.h>

#define TAPS 9u
/* Channels whose lines, one of each tap and output, stay in a cache together. */
#define AT_ONCE 16u

static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

size_t winograd_plane_floats(size_t depth, size_t columns) { return columns + depth * columns; }

size_t winograd_panel_floats(size_t planes, size_t depth, size_t columns) {
  return columns + planes * winograd_plane_floats(depth, columns);
}

size_t winograd_packed_floats(size_t planes, size_t depth, size_t outputs, size_t panel_columns) {
  return divide_up(outputs, panel_columns) * winograd_panel_floats(planes, depth, panel_columns);
}

size_t winograd_kept_panel_floats(size_t depth, size_t columns) {
  return columns + TAPS * depth * columns;
}

/* Weights of `count` channels of a panel as they are kept. Returns a number that is not 0 where
 * something of U may not be finite: none of its numbers is larger than 27 times the largest of nine
 * weights. */
static float take_channels(size_t depth, size_t panel_columns, size_t columns, const float* filter,
                           size_t first, size_t count, float* taps) {
  float spoiled = 0;
  for (size_t column = 0; column < columns; ++column) {
    for (size_t tap = 0; tap < TAPS; ++tap) {
      const float* from = filter + (column * TAPS + tap) * depth + first;
      float* to = taps + tap * panel_columns + column;
      for (size_t k = 0; k < count; ++k) {
        spoiled += 27 * from[k] * 0.0f;
        to[k * TAPS * panel_columns] = from[k];
      }
    }
  }
  return spoiled;
}

/* Biases of a panel, and zeros behind them. Returns how many outputs it has. */
static size_t start_panel(size_t outputs, size_t panel_columns, size_t panel, const float* bias,
                          size_t floats, float* to) {
  const size_t first = panel * panel_columns;
  const size_t columns = smaller(panel_columns, outputs - first);
  memset(to, 0, floats * sizeof(float));
  if (bias != NULL) memcpy(to, bias + first, columns * sizeof(float));
  return columns;
}

bool winograd_pack(const struct winograd_transforms* transforms, size_t depth, size_t outputs,
                   size_t panel_columns, size_t first, size_t count, const float* filter,
                   const float* bias, float* packed) {
  const size_t floats = winograd_panel_floats(transforms->filter_planes, depth, panel_columns);
  const size_t plane = winograd_plane_floats(depth, panel_columns);
  const size_t side = transforms->tile + 2;
  float spoiled = 0;
  for (size_t i = first; i < first + count; ++i) {
    float* to = packed + i * floats;
    const size_t columns = start_panel(outputs, panel_columns, i, bias, floats, to);
    float taps[AT_ONCE * TAPS * WINOGRAD_MOST_COLUMNS] = {0};
    to += panel_columns;
    for (size_t k = 0; k < depth; k += AT_ONCE) {
      const size_t channels = smaller(AT_ONCE, depth - k);
      spoiled += take_channels(depth, panel_columns, columns,
                               filter + i * panel_columns * TAPS * depth, k, channels, taps);
      for (size_t row = 0; row < side; ++row) {
        transforms->filter(taps, channels, panel_columns, row,
                           to + row * side * plane + (k + 1) * panel_columns, plane);
      }
    }
  }
  return spoiled == 0;
}

size_t winograd_kept_floats(size_t depth, size_t outputs, size_t panel_columns) {
  return divide_up(outputs, panel_columns) * winograd_kept_panel_floats(depth, panel_columns);
}

bool winograd_keep(size_t depth, size_t outputs, size_t panel_columns, size_t first, size_t count,
                   const float* filter, const float* bias, float* kept) {
  const size_t floats = winograd_kept_panel_floats(depth, panel_columns);
  float spoiled = 0;
  for (size_t i = first; i < first + count; ++i) {
    float* to = kept + i * floats;
    const size_t columns = start_panel(outputs, panel_columns, i, bias, floats, to);
    to += panel_columns;
    for (size_t k = 0; k < depth; k += AT_ONCE) {
      spoiled +=
          take_channels(depth, panel_columns, columns, filter + i * panel_columns * TAPS * depth, k,
                        smaller(AT_ONCE, depth - k), to + k * TAPS * panel_columns);
    }
  }
  return spoiled == 0;
}

const float* winograd_taps(const float* kept_panel, size_t columns) { return kept_panel + columns; }

void winograd_make_row(const struct winograd_transforms* transforms, size_t depth, size_t columns,
                       const float* kept_panel, size_t row, float* planes) {
  const size_t plane = winograd_plane_floats(depth, columns);
  const size_t side = transforms->tile + 2;
  for (size_t x = 0; x < side; ++x) memset(planes + x * plane, 0, columns * sizeof(float));
  transforms->filter(winograd_taps(kept_panel, columns), depth, columns, row, planes + columns,
                     plane);
}
