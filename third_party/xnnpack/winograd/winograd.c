/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/winograd/winograd.h"

#include <stdint.h>

#include "third_party/xnnpack/winograd/filters.h"

/* Of V, for one block where blocks come first: it stays in a cache of the second level beside a
 * panel. */
#define BLOCK_FLOATS 65536u
/* Fewer tiles would read panels more often than they are worth. */
#define LEAST_BLOCK 32u
#define MOST_SIDE 9u
/* Of a last tile of rows, and of kernels that compute so many at once that it matters. */
#define FEW_ROWS 5u
#define FEW_ROWS_MATTER 12u
/* What kernels read behind the end of a row. */
#define BEHIND 32u
/* Floats between planes beside what they hold: rows at a multiple of 4 KB would share a set of
 * the first cache. */
#define BETWEEN 16u

static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t round_up(size_t a, size_t b) { return divide_up(a, b) * b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a < b ? b : a; }

static size_t most_tiles(size_t planes, size_t depth) {
  return larger(BLOCK_FLOATS / (planes * depth), LEAST_BLOCK);
}

static size_t count_panels(const struct winograd_layer* layer) {
  return divide_up(layer->outputs, layer->panel_columns);
}

/* Panels come first where V is no larger than U, unless threads would have unlike numbers of
 * them. */
static bool panels_come_first(const struct winograd_layer* layer, size_t threads) {
  const size_t panels = count_panels(layer);
  const struct winograd_transforms* t = layer->transforms;
  return t->planes * layer->tiles <= t->filter_planes * layer->outputs &&
         (panels % threads == 0 || panels >= 4 * threads);
}

/* One, unless threads would have unlike numbers of groups. */
static size_t count_tasks_of_group(const struct winograd_layer* layer, size_t threads) {
  return layer->groups % threads == 0 || layer->groups >= 4 * threads ? 1 : threads;
}

void winograd_plan(struct winograd_layer* layer, size_t images, size_t threads) {
  const size_t tile = layer->transforms->tile;
  const size_t d = layer->dilation;
  layer->tile_rows = divide_up(divide_up(layer->output_height, d), tile);
  layer->tile_columns = divide_up(divide_up(layer->output_width, d), tile);
  layer->tiles = images * d * d * layer->tile_rows * layer->tile_columns;
  if (layer->tiles == 0) return;
  layer->tasks_of_group = layer->groups == 1 ? threads : count_tasks_of_group(layer, threads);
  layer->has_panels_first = panels_come_first(layer, layer->tasks_of_group);
  if (layer->has_panels_first) {
    layer->block = layer->tiles;
    layer->part = divide_up(layer->tiles, threads);
    return;
  }
  const size_t most = most_tiles(layer->transforms->planes, layer->depth);
  const size_t blocks = round_up(divide_up(layer->tiles, most), layer->tasks_of_group);
  layer->block = divide_up(layer->tiles, blocks);
  /* One thread does not wait for the largest block. */
  if (layer->tasks_of_group == 1) layer->block = round_up(layer->block, layer->panel_rows);
}

/* From plane to plane of V, and of M. */
static size_t v_stride(const struct winograd_layer* layer) {
  return layer->block * layer->depth + BETWEEN;
}

static size_t m_stride(const struct winograd_layer* layer) {
  return layer->block * layer->panel_columns + BETWEEN;
}

static size_t v_floats(const struct winograd_layer* layer) {
  return layer->transforms->planes * v_stride(layer);
}

static size_t panel_floats(const struct winograd_layer* layer) {
  return winograd_panel_floats(layer->transforms->filter_planes, layer->depth,
                               layer->panel_columns);
}

/* V or U as a whole, of a group. */
static size_t whole_floats(const struct winograd_layer* layer) {
  if (layer->has_panels_first) return round_up(v_floats(layer), BETWEEN);
  if (layer->kept == NULL) return 0;
  return round_up(count_panels(layer) * panel_floats(layer), BETWEEN);
}

size_t winograd_shared_floats(const struct winograd_layer* layer) {
  return layer->groups == 1 ? whole_floats(layer) : 0;
}

/* Rows of planes of a filter, and U of one of them in a panel. */
static size_t filter_rows(const struct winograd_layer* layer) {
  return layer->transforms->tile + 2;
}

static size_t row_floats(const struct winograd_layer* layer) {
  return filter_rows(layer) * winograd_plane_floats(layer->depth, layer->panel_columns);
}

/* What lies before M: V of a block, or U of a row of planes of a panel. */
static size_t first_floats(const struct winograd_layer* layer) {
  if (!layer->has_panels_first) return v_floats(layer);
  return layer->kept == NULL ? 0 : row_floats(layer);
}

/* Before what a thread has of a group as a whole. */
static size_t product_floats(const struct winograd_layer* layer) {
  const size_t m_floats = layer->transforms->planes * m_stride(layer);
  return round_up(first_floats(layer) + m_floats + BEHIND, BETWEEN);
}

size_t winograd_thread_floats(const struct winograd_layer* layer) {
  return product_floats(layer) + (layer->groups == 1 ? 0 : whole_floats(layer));
}

size_t winograd_first_tasks(const struct winograd_layer* layer) {
  if (layer->groups > 1) return 0;
  if (layer->has_panels_first) return divide_up(layer->tiles, layer->part);
  return layer->kept == NULL ? 0 : count_panels(layer) * filter_rows(layer);
}

static size_t count_blocks(const struct winograd_layer* layer) {
  return divide_up(layer->tiles, layer->block);
}

size_t winograd_tasks(const struct winograd_layer* layer) {
  if (layer->groups > 1) return layer->groups * layer->tasks_of_group;
  return layer->has_panels_first ? count_panels(layer) : count_blocks(layer);
}

/* The image of a tile, and the pixel of the output that it begins with. */
struct tile {
  size_t image, row, column;
};

static struct tile tile_at(const struct winograd_layer* layer, size_t index) {
  const size_t d = layer->dilation;
  const size_t step = layer->transforms->tile * d;
  const size_t of_plane = layer->tile_rows * layer->tile_columns;
  const size_t plane = index / of_plane;
  const size_t rest = index % of_plane;
  const struct tile tile = {plane / (d * d), plane / d % d + step * (rest / layer->tile_columns),
                            plane % d + step * (rest % layer->tile_columns)};
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
  const size_t side = layer->transforms->side;
  const size_t stride = layer->transforms->stride;
  const size_t d = layer->dilation;
  const bool has_zeros = layer->zeros != NULL;
  size_t columns[MOST_SIDE];
  for (size_t x = 0; x < side; ++x) {
    columns[x] =
        place(stride * tile.column + d * x, layer->padding_left, layer->input_width, has_zeros);
  }
  for (size_t y = 0; y < side; ++y) {
    const size_t row =
        place(stride * tile.row + d * y, layer->padding_top, layer->input_height, has_zeros);
    for (size_t x = 0; x < side; ++x) {
      const bool is_padding = row == SIZE_MAX || columns[x] == SIZE_MAX;
      *pixels++ = is_padding
                      ? layer->zeros
                      : image + (row * layer->input_width + columns[x]) * layer->input_stride;
    }
  }
}

/* How many of a tile's pixels are there: none where it lies beyond a plane that is not the largest
 * one. */
static size_t count_pixels(const struct winograd_layer* layer, size_t first, size_t size) {
  if (first >= size) return 0;
  return smaller(layer->transforms->tile, divide_up(size - first, layer->dilation));
}

static struct winograd_target target_of(const struct winograd_layer* layer, struct tile tile,
                                        size_t output, const float* bias) {
  struct winograd_target to;
  to.rows = count_pixels(layer, tile.row, layer->output_height);
  to.columns = count_pixels(layer, tile.column, layer->output_width);
  const bool is_there = to.rows != 0 && to.columns != 0;
  const size_t row = tile.image * layer->output_height + tile.row;
  const size_t pixel = is_there ? row * layer->output_width + tile.column : 0;
  to.output = layer->output + pixel * layer->output_stride + output;
  to.row_stride = layer->dilation * layer->output_width * layer->output_stride;
  to.column_stride = layer->dilation * layer->output_stride;
  to.channels = smaller(layer->panel_columns, layer->outputs - output);
  to.bias = bias;
  to.low = layer->low;
  to.high = layer->high;
  return to;
}

/* Of `left` rows, how many are computed at once. Few rows at the end would read all weights for
 * little: the last two tiles are as large as each other then. */
static size_t rows_at(const struct winograd_layer* layer, size_t left) {
  const size_t most = layer->panel_rows;
  if (most >= FEW_ROWS_MATTER && left > most && left < most + FEW_ROWS) return divide_up(left, 2);
  return smaller(most, left);
}

/* The rows of V from `row` on times U of one plane. Whole tiles of rows bring a part each of the
 * panel that comes next. */
static void multiply_rows(const struct winograd_layer* layer, const float* v, size_t row,
                          size_t tiles, const float* u, size_t columns, float* m) {
  const size_t depth_bytes = layer->depth * sizeof(float);
  const size_t row_bytes = layer->panel_columns * sizeof(float);
  const size_t rows = rows_at(layer, tiles - row);
  if (layer->product_ahead == NULL || rows < layer->panel_rows) {
    layer->products[rows - 1](rows, columns, depth_bytes, v, depth_bytes, u, m, row_bytes,
                              row_bytes, layer->params);
    return;
  }
  const size_t plane = winograd_plane_floats(layer->depth, layer->panel_columns) * sizeof(float);
  const size_t step = divide_up(row_bytes, tiles / layer->panel_rows);
  const struct petrel_ahead ahead =
      petrel_bring(plane + row / layer->panel_rows * step * (layer->depth + 1), step);
  layer->product_ahead(rows, columns, depth_bytes, v, depth_bytes, u, m, row_bytes, row_bytes,
                       layer->params, ahead);
}

/* M = V U of one panel of outputs, in the planes that a row of planes of the filter is for. */
static void multiply_planes(const struct winograd_layer* layer, size_t filter_row, const float* v,
                            size_t tiles, const float* u, size_t columns, float* m) {
  const size_t plane = winograd_plane_floats(layer->depth, layer->panel_columns);
  const size_t side = layer->transforms->side;
  const size_t last = filter_rows(layer) - 1;
  const size_t end = filter_row == last ? side : filter_row + 1;
  for (size_t p = filter_row * side; p < end * side; ++p) {
    const float* of_plane = u + smaller(p % side, last) * plane;
    for (size_t row = 0; row < tiles; row += rows_at(layer, tiles - row)) {
      multiply_rows(layer, v + p * v_stride(layer) + row * layer->depth, row, tiles, of_plane,
                    columns, m + p * m_stride(layer) + row * layer->panel_columns);
    }
  }
}

/* The same in all planes. */
static void multiply(const struct winograd_layer* layer, const float* v, size_t tiles,
                     const float* u, size_t columns, float* m) {
  for (size_t row = 0; row < filter_rows(layer); ++row) {
    multiply_planes(layer, row, v, tiles, u + row * row_floats(layer), columns, m);
  }
}

/* V of `tiles` tiles from `first` on. */
static void transform_tiles(const struct winograd_layer* layer, size_t first, size_t tiles,
                            float* v) {
  const float* pixels[WINOGRAD_MOST_PLANES];
  for (size_t t = 0; t < tiles; ++t) {
    find_pixels(layer, tile_at(layer, first + t), pixels);
    layer->transforms->input(pixels, layer->depth, v + t * layer->depth, v_stride(layer));
  }
}

static const float* kept_panel(const struct winograd_layer* layer, size_t panel) {
  return layer->kept + panel * winograd_kept_panel_floats(layer->depth, layer->panel_columns);
}

static size_t columns_of(const struct winograd_layer* layer, size_t panel) {
  return smaller(layer->panel_columns, layer->outputs - panel * layer->panel_columns);
}

static void compute_directly(const struct winograd_layer* layer, struct tile tile, size_t panel,
                             const struct winograd_target* to) {
  const size_t columns = layer->panel_columns;
  const float* pixels[WINOGRAD_MOST_PLANES];
  find_pixels(layer, tile, pixels);
  if (layer->kept != NULL) {
    layer->transforms->direct(pixels, layer->depth,
                              winograd_taps(kept_panel(layer, panel), columns), 0, columns, to);
  } else {
    const float* u = layer->packed + panel * panel_floats(layer) + columns;
    layer->transforms->direct(pixels, layer->depth, u + columns,
                              winograd_plane_floats(layer->depth, columns), columns, to);
  }
}

/* M of a panel to its outputs, at `tiles` tiles from `first` on. */
static void write_outputs(const struct winograd_layer* layer, size_t first, size_t tiles,
                          size_t panel, const float* m) {
  const size_t columns = layer->panel_columns;
  const float* biases =
      layer->kept != NULL ? kept_panel(layer, panel) : layer->packed + panel * panel_floats(layer);
  for (size_t t = 0; t < tiles; ++t) {
    const struct tile tile = tile_at(layer, first + t);
    const struct winograd_target to = target_of(layer, tile, panel * columns, biases);
    if (!layer->transforms->output(m + t * columns, m_stride(layer), &to)) {
      compute_directly(layer, tile, panel, &to);
    }
  }
}

static void make_row(const struct winograd_layer* layer, size_t panel, size_t row, float* u) {
  winograd_make_row(layer->transforms, layer->depth, layer->panel_columns, kept_panel(layer, panel),
                    row, u);
}

void winograd_first(const struct winograd_layer* layer, size_t task) {
  if (layer->has_panels_first) {
    const size_t first = task * layer->part;
    transform_tiles(layer, first, smaller(layer->part, layer->tiles - first),
                    layer->shared + first * layer->depth);
  } else {
    /* U is in memory as a whole, without its biases, which nobody reads there. */
    const size_t panel = task / filter_rows(layer);
    const size_t row = task % filter_rows(layer);
    make_row(layer, panel, row,
             layer->shared + panel * panel_floats(layer) + layer->panel_columns +
                 row * row_floats(layer));
  }
}

/* A row of planes after the other, whose U stays in a cache until it is multiplied. */
static void make_and_multiply(const struct winograd_layer* layer, size_t panel, float* u,
                              float* m) {
  for (size_t row = 0; row < filter_rows(layer); ++row) {
    make_row(layer, panel, row, u);
    multiply_planes(layer, row, layer->shared, layer->tiles, u, columns_of(layer, panel), m);
  }
}

static void run_panel(const struct winograd_layer* layer, size_t panel, float* scratch) {
  float* m = scratch + first_floats(layer);
  if (layer->kept != NULL) {
    make_and_multiply(layer, panel, scratch, m);
  } else {
    multiply(layer, layer->shared, layer->tiles,
             layer->packed + panel * panel_floats(layer) + layer->panel_columns,
             columns_of(layer, panel), m);
  }
  write_outputs(layer, 0, layer->tiles, panel, m);
}

/* `packed` are the panels of U. */
static void run_block(const struct winograd_layer* layer, const float* packed, size_t block,
                      float* v) {
  const size_t first = block * layer->block;
  const size_t tiles = smaller(layer->block, layer->tiles - first);
  float* m = v + first_floats(layer);
  transform_tiles(layer, first, tiles, v);
  for (size_t panel = 0; panel < count_panels(layer); ++panel) {
    multiply(layer, v, tiles, packed + panel * panel_floats(layer) + layer->panel_columns,
             columns_of(layer, panel), m);
    write_outputs(layer, first, tiles, panel, m);
  }
}

static struct winograd_layer group_of(const struct winograd_layer* layer, size_t group) {
  struct winograd_layer one = *layer;
  const size_t panels = group * count_panels(layer);
  one.input += group * layer->depth;
  one.output += group * layer->outputs;
  if (layer->kept != NULL) {
    one.kept += panels * winograd_kept_panel_floats(layer->depth, layer->panel_columns);
  } else {
    one.packed += panels * panel_floats(layer);
  }
  return one;
}

/* All panels of a group, without their biases, which nobody reads there. */
static void make_filter(const struct winograd_layer* group, float* u) {
  for (size_t panel = 0; panel < count_panels(group); ++panel) {
    float* rows = u + panel * panel_floats(group) + group->panel_columns;
    for (size_t row = 0; row < filter_rows(group); ++row) {
      make_row(group, panel, row, rows + row * row_floats(group));
    }
  }
}

/* Each `tasks_of_group`-th panel or block of a group. */
static void run_group(const struct winograd_layer* layer, size_t task, float* scratch) {
  struct winograd_layer group = group_of(layer, task / layer->tasks_of_group);
  const size_t first = task % layer->tasks_of_group;
  float* whole = scratch + product_floats(layer);
  if (group.has_panels_first) {
    transform_tiles(&group, 0, group.tiles, whole);
    group.shared = whole;
    for (size_t panel = first; panel < count_panels(&group); panel += group.tasks_of_group) {
      run_panel(&group, panel, scratch);
    }
    return;
  }
  if (group.kept != NULL) make_filter(&group, whole);
  for (size_t block = first; block < count_blocks(&group); block += group.tasks_of_group) {
    run_block(&group, group.kept != NULL ? whole : group.packed, block, scratch);
  }
}

void winograd_run(const struct winograd_layer* layer, size_t thread, size_t task) {
  float* scratch = layer->scratch + thread * winograd_thread_floats(layer);
  if (layer->groups > 1) {
    run_group(layer, task, scratch);
  } else if (layer->has_panels_first) {
    run_panel(layer, task, scratch);
  } else {
    run_block(layer, layer->kept != NULL ? layer->shared : layer->packed, task, scratch);
  }
}
