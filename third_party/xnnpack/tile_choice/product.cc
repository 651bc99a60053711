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
                 const std::vector<const float*>& pointers, const float* zero,
                 const float* weights, const TileBounds& bounds, float* output, size_t advance) {
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
