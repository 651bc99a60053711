/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/phases/phases.h"

#include <stdint.h>
#include <string.h>

#include "xnnpack/math.h"

/* Columns that a tile is computed aside at once: a multiple of each kernel's. */
#define ASIDE_COLUMNS 128
/* Bytes of a block's input and of a panel's weights, which stay in the second-level cache; where a
 * panel is brought ahead, two of them do. */
#define BLOCK_BYTES 131072
#define PANEL_BYTES 262144
#define PANEL_AHEAD_BYTES 131072
#define LEAST_TILES 4
/* Pixels for which a thread is worth a block of its own: each block reads all weights. */
#define LEAST_PIXELS 24
/* Tasks that a thread has at least, if there are as many: the last one makes others wait. */
#define TASKS_OF_THREAD 4
#define LEAST_ROWS_AHEAD 5
#define FEW_TILES 4
#define LEAST_ROWS 5
/* Copying a tile that was computed aside takes as long as a row of it or two. */
#define LEAST_ROWS_OF_LINE 6

static size_t phase_count(const struct phases_layer* l) {
  return l->stride_height * l->stride_width;
}

/* The first row, or column, of the output that sees tap `tap` of a row, or column, of the
 * input. */
static size_t first_place(size_t tap, size_t padding, size_t stride) {
  return (tap + stride - padding % stride) % stride;
}

static size_t count_places(size_t first, size_t size, size_t stride) {
  return size <= first ? 0 : divide_round_up(size - first, stride);
}

static size_t count_pixels(const struct subconvolution_params* phase) {
  return phase->slice_height * phase->slice_width;
}

/* Pixels of which tiles are cut one after the other: of the phase, or of one of its lines. */
static size_t count_run(const struct phases_layer* l, const struct subconvolution_params* phase) {
  return l->goes_on ? count_pixels(phase) : phase->slice_width;
}

static size_t count_tiles(const struct phases_layer* l, const struct subconvolution_params* phase) {
  const size_t of_run = divide_round_up(count_run(l, phase), l->rows);
  return l->goes_on ? of_run : of_run * phase->slice_height;
}

static size_t count_taps(const struct subconvolution_params* phase) {
  return phase->indirection_x_stride / sizeof(void*);
}

void phases_lay_out(struct phases_layer* l) {
  struct subconvolution_params* phase = l->phases;
  for (size_t y = 0; y < l->stride_height; y++) {
    const size_t first_y = first_place(y, l->padding_top, l->stride_height);
    for (size_t x = 0; x < l->stride_width; x++, phase++) {
      const size_t first_x = first_place(x, l->padding_left, l->stride_width);
      phase->slice_height = count_places(first_y, l->output_height, l->stride_height);
      phase->slice_width = count_places(first_x, l->output_width, l->stride_width);
      phase->scaled_kernel_size = phase->indirection_x_stride * l->tile_rows;
    }
  }
}

/* Panels of equal size, so that no thread is left with a small one. */
static void cut_columns(struct phases_layer* l, size_t most) {
  const size_t whole = max(most / l->tile_columns, 1) * l->tile_columns;
  const size_t panels = divide_round_up(l->outputs, whole);
  l->panel = round_up(divide_round_up(l->outputs, panels), l->tile_columns);
  l->panels = divide_round_up(l->outputs, l->panel);
}

/* Rows of a tile. Where tiles are few, one of very few rows, which takes as long for its weights as
 * for its products, costs more than that all have less than a kernel computes at best. */
static size_t count_rows(size_t pixels, size_t tile_rows) {
  const size_t tiles = divide_round_up(pixels, tile_rows);
  const size_t last = pixels % tile_rows;
  const bool is_uneven = last != 0 && last < LEAST_ROWS && tiles <= FEW_TILES;
  return is_uneven || tiles == 1 ? divide_round_up(pixels, tiles) : tile_rows;
}

/* Whether the last tile of a line had better go on in the next one: it has few rows, and there are
 * no whole tiles enough beside which it counts little. */
static bool needs_next_line(size_t width, size_t tile_rows) {
  const size_t last = width % tile_rows;
  return last != 0 && last < LEAST_ROWS_OF_LINE && width < 2 * tile_rows;
}

static void cut_pixels(struct phases_layer* l, size_t height, size_t width, size_t threads) {
  const size_t pixels = height * width;
  l->goes_on = needs_next_line(width, l->tile_rows);
  l->rows = l->goes_on ? count_rows(pixels, l->tile_rows) : min(l->tile_rows, width);
  const size_t tiles =
      l->goes_on ? divide_round_up(pixels, l->rows) : height * divide_round_up(width, l->rows);
  const size_t most = max(BLOCK_BYTES / (l->rows * l->depth), LEAST_TILES);
  l->plane_blocks = divide_round_up(tiles, most);
  l->image_blocks = divide_round_up(l->images, max(most / tiles, 1));
  if (l->images >= threads) {
    l->image_blocks = min(round_up(l->image_blocks, threads), l->images);
  } else if (pixels >= threads * LEAST_PIXELS) {
    l->plane_blocks = min(round_up(l->plane_blocks, threads), tiles);
  }
  l->images_of_block = divide_round_up(l->images, l->image_blocks);
  l->image_blocks = divide_round_up(l->images, l->images_of_block);
  l->tiles_of_block = divide_round_up(tiles, l->plane_blocks);
  l->plane_blocks = divide_round_up(tiles, l->tiles_of_block);
}

void phases_plan(struct phases_layer* l, size_t threads) {
  size_t height = 1, width = 1;
  size_t column = 1;
  for (size_t i = 0; i < phase_count(l); i++) {
    height = max(height, l->phases[i].slice_height);
    width = max(width, l->phases[i].slice_width);
    column = max(column, l->phases[i].w_stride);
  }
  threads = max(threads, 1);
  cut_pixels(l, height, width, threads);
  l->brings = l->images_of_block * l->tiles_of_block <= l->most_tiles_ahead;
  cut_columns(l, (l->brings ? PANEL_AHEAD_BYTES : PANEL_BYTES) / column);
  while (threads > 1 && l->panel > l->tile_columns && phases_tasks(l) < threads * TASKS_OF_THREAD) {
    cut_columns(l, l->panel / 2);
  }
}

size_t phases_count_pointers(const struct phases_layer* l) {
  size_t count = 0;
  for (size_t i = 0; i < phase_count(l); i++) {
    count += count_tiles(l, &l->phases[i]) * l->tile_rows * count_taps(&l->phases[i]);
  }
  return count;
}

/* A pixel of the output, and the tap of the filter that meets the input there. */
struct place {
  size_t row, column;
  size_t tap_row, tap_column;
};

static const void* find_pixel(const struct phases_layer* l, const char* input,
                              const struct place* at) {
  const size_t y = at->row + l->padding_top;
  const size_t x = at->column + l->padding_left;
  if (y < at->tap_row || x < at->tap_column) return l->zero;
  const size_t row = (y - at->tap_row) / l->stride_height;
  const size_t column = (x - at->tap_column) / l->stride_width;
  if (row >= l->input_height || column >= l->input_width) return l->zero;
  return input + (row * l->input_width + column) * l->input_pixel;
}

/* All taps of one tile: `tile_rows` pointers for each. Rows that do not exist see what the last one
 * sees. Returns what lies behind. */
static const void** point_tile(const struct phases_layer* l, size_t phase, size_t tile,
                               const void** to, const char* input) {
  const struct subconvolution_params* p = &l->phases[phase];
  const size_t tap_y = phase / l->stride_width;
  const size_t tap_x = phase % l->stride_width;
  const size_t run = count_run(l, p);
  const size_t of_run = divide_round_up(run, l->rows);
  const size_t first = tile / of_run * run + tile % of_run * l->rows;
  const size_t last = tile / of_run * run + min((tile % of_run + 1) * l->rows, run) - 1;
  size_t at[PHASES_MOST_TILE_ROWS][2];
  for (size_t i = 0; i < l->tile_rows; i++) {
    const size_t pixel = min(first + i, last);
    at[i][0] = first_place(tap_y, l->padding_top, l->stride_height) +
               pixel / p->slice_width * l->stride_height;
    at[i][1] = first_place(tap_x, l->padding_left, l->stride_width) +
               pixel % p->slice_width * l->stride_width;
  }
  for (size_t y = tap_y; y < l->kernel_height; y += l->stride_height) {
    for (size_t x = tap_x; x < l->kernel_width; x += l->stride_width) {
      for (size_t i = 0; i < l->tile_rows; i++) {
        const struct place place = {at[i][0], at[i][1], y, x};
        *to++ = find_pixel(l, input, &place);
      }
    }
  }
  return to;
}

void phases_point(struct phases_layer* l, const void** pointers, const char* input) {
  for (size_t i = 0; i < phase_count(l); i++) {
    l->phases[i].indirection_buffer = pointers;
    const size_t tiles = count_tiles(l, &l->phases[i]);
    for (size_t tile = 0; tile < tiles; tile++) {
      pointers = point_tile(l, i, tile, pointers, input);
    }
  }
}

size_t phases_tasks(const struct phases_layer* l) {
  return l->plane_blocks * l->image_blocks * l->groups * phase_count(l) * l->panels;
}

/* What all tiles of a task have in common. */
struct task {
  const struct phases_layer* layer;
  const struct subconvolution_params* phase;
  size_t first_column, columns;
  const char* weights; /* of the first column */
  const char* input;   /* of the group, here and below */
  size_t input_offset;
  char* output;                     /* the first pixel of the phase */
  size_t input_image, output_image; /* bytes from image to image */
  size_t in_line, from_line; /* bytes from pixel to pixel of the phase, and from line to line */
  struct petrel_ahead ahead; /* of the first tile */
  size_t lines_ahead;        /* bytes further that the next tile brings */
};

/* A tile and some of its columns. */
struct piece {
  size_t image, tile, rows;
  size_t line, pixel; /* of the phase, where it begins */
  size_t first;       /* the same, counted over all lines */
  size_t done;        /* tiles of the task before it */
  size_t column, columns;
};

static struct petrel_ahead part_of_next_panel(const struct task* t, const struct piece* p) {
  const size_t step = petrel_step(t->ahead);
  return petrel_bring(petrel_offset(t->ahead) + p->done * t->lines_ahead, step);
}

static void multiply(const struct task* t, const struct piece* p, void* to, size_t row_stride) {
  const struct phases_layer* l = t->layer;
  const void* w = t->weights + (p->column - t->first_column) * t->phase->w_stride;
  const size_t image = p->image * t->input_image;
  const size_t column_stride = l->tile_columns * sizeof(float);
  const bool brings = l->brings && p->rows >= LEAST_ROWS_AHEAD;
  if (l->is_product) {
    const char* a = t->input + image + p->first * l->input_pixel;
    if (brings) {
      l->gemm_ahead(p->rows, p->columns, l->depth, (const float*)a, l->input_pixel, w, to,
                    row_stride, column_stride, &l->params, part_of_next_panel(t, p));
    } else {
      l->gemm(p->rows, p->columns, l->depth, a, l->input_pixel, w, to, row_stride, column_stride,
              &l->params);
    }
    return;
  }
  const size_t pointer_bytes = t->phase->scaled_kernel_size;
  const void** a = t->phase->indirection_buffer + p->tile * (pointer_bytes / sizeof(void*));
  const size_t offset = t->input_offset + image;
  if (brings) {
    l->igemm_ahead(p->rows, p->columns, l->depth, pointer_bytes, (const float**)a, w, to,
                   row_stride, column_stride, offset, l->zero, &l->params,
                   part_of_next_panel(t, p));
  } else {
    l->igemm(p->rows, p->columns, l->depth, pointer_bytes, a, w, to, row_stride, column_stride,
             offset, l->zero, &l->params);
  }
}

static char* find_output(const struct task* t, const struct piece* p) {
  return t->output + p->image * t->output_image + p->line * t->from_line + p->pixel * t->in_line +
         p->column * sizeof(float);
}

/* Calls for a few floats would take as long as computing them. */
static void copy_row(float* to, const float* from, size_t columns) {
  for (; columns >= 16; columns -= 16, to += 16, from += 16) memcpy(to, from, 16 * sizeof(float));
  for (size_t i = 0; i < columns; i++) to[i] = from[i];
}

/* A tile that goes on in the next line. */
static void run_aside(const struct task* t, struct piece p) {
  float aside[PHASES_MOST_TILE_ROWS * ASIDE_COLUMNS];
  const size_t end = p.column + p.columns;
  for (; p.column < end; p.column += p.columns) {
    p.columns = min(end - p.column, ASIDE_COLUMNS);
    multiply(t, &p, aside, ASIDE_COLUMNS * sizeof(float));
    struct piece row = p;
    for (size_t i = 0; i < p.rows; i++) {
      copy_row((float*)find_output(t, &row), aside + i * ASIDE_COLUMNS, p.columns);
      if (++row.pixel == t->phase->slice_width) {
        row.pixel = 0;
        row.line++;
      }
    }
  }
}

static void run_tile(const struct task* t, const struct piece* p) {
  const size_t width = t->phase->slice_width;
  if (width == 1) {
    multiply(t, p, find_output(t, p), t->from_line);
  } else if (p->pixel + p->rows <= width || t->from_line == width * t->in_line) {
    multiply(t, p, find_output(t, p), t->in_line);
  } else {
    run_aside(t, *p);
  }
}

/* The tiles of some images from `first` on, before `end`. */
static void run_tiles(const struct task* t, size_t first_image, size_t end_image, size_t first,
                      size_t end) {
  const struct phases_layer* l = t->layer;
  const size_t width = t->phase->slice_width;
  const size_t run = count_run(l, t->phase);
  const size_t of_run = divide_round_up(run, l->rows);
  struct piece p = {.column = t->first_column, .columns = t->columns};
  for (p.image = first_image; p.image < end_image; p.image++) {
    size_t in_run = first % of_run * l->rows;
    p.first = first / of_run * run + in_run;
    p.line = p.first / width;
    p.pixel = p.first % width;
    for (p.tile = first; p.tile < end; p.tile++, p.done++) {
      p.rows = min(l->rows, run - in_run);
      run_tile(t, &p);
      in_run = in_run + p.rows == run ? 0 : in_run + p.rows;
      p.first += p.rows;
      for (p.pixel += p.rows; p.pixel >= width; p.pixel -= width) p.line++;
    }
  }
}

static struct task find_task(const struct phases_layer* l, size_t phase, size_t group,
                             size_t panel) {
  const struct subconvolution_params* at = &l->phases[phase];
  const size_t y = first_place(phase / l->stride_width, l->padding_top, l->stride_height);
  const size_t x = first_place(phase % l->stride_width, l->padding_left, l->stride_width);
  const size_t column = panel * l->panel;
  const struct task t = {
      .layer = l,
      .phase = at,
      .first_column = column,
      .columns = min(l->panel, l->outputs - column),
      .weights = (const char*)at->weights + group * l->weights_group + column * at->w_stride,
      .input = l->input + group * l->depth,
      .input_offset = l->input_offset + group * l->depth,
      .output = l->output + (y * l->output_width + x) * l->output_pixel +
                group * l->outputs * sizeof(float),
      .input_image = l->input_height * l->input_width * l->input_pixel,
      .output_image = l->output_height * l->output_width * l->output_pixel,
      .in_line = l->stride_width * l->output_pixel,
      .from_line = l->stride_height * l->output_width * l->output_pixel,
  };
  return t;
}

/* Has `tiles` tiles bring the next panel between them. */
static void bring_ahead(struct task* t, size_t tiles) {
  const struct phases_layer* l = t->layer;
  const size_t step = divide_round_up(l->tile_columns * sizeof(float), tiles);
  t->lines_ahead = t->phase->w_stride / sizeof(float) * step;
  t->ahead = petrel_bring(l->panel * t->phase->w_stride, step);
}

void phases_run(const struct phases_layer* l, size_t task) {
  const size_t panel = task % l->panels;
  task /= l->panels;
  const size_t phase = task % phase_count(l);
  task /= phase_count(l);
  const size_t group = task % l->groups;
  const size_t block = task / l->groups;

  const size_t first = block % l->plane_blocks * l->tiles_of_block;
  const size_t all = count_tiles(l, &l->phases[phase]);
  const size_t end = min(first + l->tiles_of_block, all);
  const size_t first_image = block / l->plane_blocks * l->images_of_block;
  const size_t end_image = min(first_image + l->images_of_block, l->images);
  if (end <= first) return; /* as where a phase has no pixels */
  struct task t = find_task(l, phase, group, panel);
  if (l->brings) bring_ahead(&t, (end_image - first_image) * (end - first));
  run_tiles(&t, first_image, end_image, first, end);
}
