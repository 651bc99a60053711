// SPDX-License-Identifier: Apache-2.0

// A product or a convolution in tiles of 32 columns with AVX-512: by the kernels of fourteen
// rows or by XNNPACK's of seven. Data is random with a fixed seed, but for a few inputs
// that are infinite or not a number. For the test and the benchmark of these kernels only.
//
//   TileProduct p({/*rows=*/50, /*depth=*/96, /*columns=*/24, /*window=*/0});
//   p.run(Kernel::kFourteen);
//   p.output();
#ifndef PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_TILE_PRODUCT_H_
#define PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_TILE_PRODUCT_H_

#include <cstddef>
#include <vector>

namespace petrel::third_party::xnnpack {

// kHalves: of fourteen rows, with weights in blocks of 16 columns.
enum class Kernel { kSeven, kFourteen, kFourteenAhead, kHalves };

struct TileLayer {
  size_t rows;
  size_t depth;
  size_t columns;
  size_t window;  // elements of a convolution's window; 0 for a product
  bool is_finite = true;
  size_t between = 0;         // floats behind those of a row that belong to none
  size_t block_columns = 32;  // 16 for kHalves
};

class TileProduct {
 public:
  // False when the machine lacks AVX-512: nothing may be run then.
  static bool is_possible();

  explicit TileProduct(const TileLayer& layer);
  TileProduct(const TileProduct&) = delete;
  TileProduct& operator=(const TileProduct&) = delete;

  void run(Kernel kernel);
  // Elements that must stay as they are have kUntouched.
  const std::vector<float>& output() const { return output_; }
  void clear();
  // By fused multiply-adds in order of the depth, which is exact to the bit.
  float expected(size_t row, size_t column) const;

  static constexpr float kUntouched = 12345;
  // Floats from one row of the output to the next, more than it has columns.
  size_t stride() const { return layer_.columns + 3; }

 private:
  size_t row_stride() const { return layer_.depth + layer_.between; }
  size_t steps() const { return (layer_.window == 0 ? 1 : layer_.window) * layer_.depth; }
  // Of an element of a window at a row; null where it lies outside.
  const float* pixel(size_t row, size_t element) const;
  void find_pointers(size_t rows, std::vector<const float*>* pointers) const;
  void run_tile(Kernel kernel, size_t row, size_t rows);

  const TileLayer layer_;
  std::vector<float> input_, storage_, zeros_, output_;
  const float* weights_ = nullptr;  // in storage_, aligned
  std::vector<const float*> by_seven_, by_fourteen_;
};

}  // namespace petrel::third_party::xnnpack

#endif  // PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_TILE_PRODUCT_H_
