// SPDX-License-Identifier: Apache-2.0
//
// One product, or the windows of one convolution, in a tile: its kernel is called for one tile of
// rows after the other, as XNNPACK does. Nothing is allocated here; whoever calls has the data.
//
//   const TileShape shape = {/*rows=*/50, /*columns=*/40, /*depth=*/64, /*window=*/0};
//   run_product(*tile, shape, input, weights, bounds, output, /*advance=*/40);
//
// Weights lie as the tile reads them: for each block of its columns the bias, and then the weights
// of each input. They are at a multiple of 64 bytes, with kTileSlack bytes behind them.
#ifndef PETREL_THIRD_PARTY_XNNPACK_TILE_CHOICE_PRODUCT_H_
#define PETREL_THIRD_PARTY_XNNPACK_TILE_CHOICE_PRODUCT_H_

#include <cstddef>
#include <vector>

#include "third_party/xnnpack/tile_choice/candidates.h"

namespace petrel::third_party::xnnpack {

inline constexpr size_t kTileSlack = 1024;  // bytes

struct TileShape {
  size_t rows;
  size_t columns;
  size_t depth;   // inputs of one element of a window
  size_t window;  // elements of a convolution's window; 0 for a product

  size_t inputs() const { return (window == 0 ? 1 : window) * depth; }
};

struct TileBounds {
  float min, max;
};

// Floats of the weights of a shape.
size_t count_tile_weights(const petrel_tile& tile, const TileShape& shape);

// Row r of the input begins `depth` floats behind the one before it. Row r of the output begins at
// output + r * shape.columns within a tile of rows, and tiles lie `advance` floats a row apart: 0
// puts them on one another, which saves memory where nobody reads them.
void run_product(const petrel_tile& tile, const TileShape& shape, const float* input,
                 const float* weights, const TileBounds& bounds, float* output, size_t advance);

// The same for weights that the caches nearby do not hold, as XNNPACK does it (loop_order.patch and
// read_ahead.patch): panels of blocks, all rows of one before the next. Tiles that can bring the
// next panel while they compute do so.
void run_by_panels(const petrel_tile& tile, const TileShape& shape, const float* input,
                   const float* weights, const TileBounds& bounds, float* output, size_t advance);

// As XNNPACK's indirection buffer has them: for each tile of rows, for each element of the window,
// a pointer for each row. Element e of row r begins at input + (r + e) * depth, and those of the
// last row stand for rows that are not there.
std::vector<const float*> find_windows(const petrel_tile& tile, const TileShape& shape,
                                       const float* input);

// A pointer that is `zero` is read where it points to; so are all others.
void run_windows(const petrel_tile& tile, const TileShape& shape,
                 const std::vector<const float*>& pointers, const float* zero, const float* weights,
                 const TileBounds& bounds, float* output, size_t advance);

}  // namespace petrel::third_party::xnnpack

#endif  // PETREL_THIRD_PARTY_XNNPACK_TILE_CHOICE_PRODUCT_H_
