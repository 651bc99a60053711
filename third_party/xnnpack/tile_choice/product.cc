// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/tile_choice/product.h"

#include <algorithm>

#include "xnnpack/microparams.h"

namespace petrel::third_party::xnnpack {
namespace {

xnn_f32_minmax_params params_of(const TileBounds& bounds) {
  xnn_f32_minmax_params params;
  params.scalar.min = bounds.min;
  params.scalar.max = bounds.max;
  return params;
}

// A layer of one row has a kernel of its own.
size_t rows_at_once(const petrel_tile& tile, const TileShape& shape) {
  return shape.rows == 1 ? 1 : tile.rows;
}

}  // namespace

size_t count_tile_weights(const petrel_tile& tile, const TileShape& shape) {
  const size_t blocks = (shape.columns + tile.columns - 1) / tile.columns;
  return blocks * tile.columns * (1 + shape.inputs());
}

void run_product(const petrel_tile& tile, const TileShape& shape, const float* input,
                 const float* weights, const TileBounds& bounds, float* output, size_t advance) {
  const xnn_f32_minmax_params params = params_of(bounds);
  const petrel_tile_product product = shape.rows == 1 ? tile.product_of_row : tile.product;
  const size_t step = rows_at_once(tile, shape);
  const size_t depth = shape.depth * sizeof(float);
  for (size_t row = 0; row < shape.rows; row += step) {
    product(std::min(step, shape.rows - row), shape.columns, depth, input + row * shape.depth,
            depth, weights, output + row * advance, shape.columns * sizeof(float),
            tile.columns * sizeof(float), &params);
  }
}

void run_by_panels(const petrel_tile& tile, const TileShape& shape, const float* input,
                   const float* weights, const TileBounds& bounds, float* output, size_t advance) {
  constexpr size_t kPanelBytes = 1 << 20, kPanelBytesAhead = 1 << 17;
  const xnn_f32_minmax_params params = params_of(bounds);
  const bool is_ahead = tile.product_ahead != nullptr && shape.rows >= tile.rows;
  const size_t lines = 1 + shape.inputs();
  const size_t column = lines * sizeof(float), depth = shape.depth * sizeof(float);
  const size_t most = is_ahead ? kPanelBytesAhead : kPanelBytes;
  const size_t panel = std::max<size_t>(most / column / tile.columns, 1) * tile.columns;
  const size_t last_rows = shape.rows % tile.rows;
  const size_t tiles = shape.rows / tile.rows + (last_rows >= tile.least_rows_ahead ? 1 : 0);
  const size_t step = (tile.columns * sizeof(float) + tiles - 1) / std::max<size_t>(tiles, 1);
  for (size_t first = 0; first < shape.columns; first += panel) {
    const size_t columns = std::min(panel, shape.columns - first);
    const float* const w = weights + first * lines;
    for (size_t row = 0; row < shape.rows; row += tile.rows) {
      const size_t rows = std::min(tile.rows, shape.rows - row);
      const float* const a = input + row * shape.depth;
      float* const c = output + first + row * advance;
      const size_t c_stride = shape.columns * sizeof(float);
      const size_t block = tile.columns * sizeof(float);
      if (is_ahead && rows >= tile.least_rows_ahead) {
        tile.product_ahead(rows, columns, depth, a, depth, w, c, c_stride, block, &params,
                           petrel_bring(columns * column + row / tile.rows * lines * step, step));
      } else {
        tile.product(rows, columns, depth, a, depth, w, c, c_stride, block, &params);
      }
    }
  }
}

std::vector<const float*> find_windows(const petrel_tile& tile, const TileShape& shape,
                                       const float* input) {
  const size_t step = rows_at_once(tile, shape);
  std::vector<const float*> pointers;
  for (size_t first = 0; first < shape.rows; first += step) {
    for (size_t element = 0; element < shape.window; ++element) {
      for (size_t row = first; row < first + step; ++row) {
        pointers.push_back(input + (std::min(row, shape.rows - 1) + element) * shape.depth);
      }
    }
  }
  return pointers;
}

void run_windows(const petrel_tile& tile, const TileShape& shape,
                 const std::vector<const float*>& pointers, const float* zero, const float* weights,
                 const TileBounds& bounds, float* output, size_t advance) {
  const xnn_f32_minmax_params params = params_of(bounds);
  const petrel_tile_windows windows = shape.rows == 1 ? tile.windows_of_row : tile.windows;
  const size_t step = rows_at_once(tile, shape);
  for (size_t row = 0; row < shape.rows; row += step) {
    // Kernels read the pointers; the contract takes them as if they wrote.
    auto** const first = const_cast<const float**>(pointers.data() + row * shape.window);
    windows(std::min(step, shape.rows - row), shape.columns, shape.depth * sizeof(float),
            shape.window * step * sizeof(void*), first, weights, output + row * advance,
            shape.columns * sizeof(float), tile.columns * sizeof(float), 0, zero, &params);
  }
}

}  // namespace petrel::third_party::xnnpack
