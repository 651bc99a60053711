// SPDX-License-Identifier: Apache-2.0

// All tiles compute what fused multiply-adds in the order of the inputs give, to the bit, and
// touch nothing beside their rows and columns.
#include "third_party/xnnpack/tile_choice/candidates.h"

#include <gtest/gtest.h>
#include <xnnpack.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "third_party/xnnpack/tile_choice/product.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr float kUntouched = 12345;
constexpr TileBounds kBounds = {-3, 4};
constexpr size_t kMostRows = 31;
constexpr size_t kMostColumns = 100;

std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> floats(count + kTileSlack / sizeof(float));
  for (float& f : floats) f = uniform(bits);
  return floats;
}

// One layer with as many rows and columns as any shape has, and what it computes.
class Layer {
 public:
  Layer(size_t depth, size_t window)
      : depth_(depth),
        window_(window),
        inputs_(depth * std::max<size_t>(window, 1)),
        input_(random_floats((kMostRows + window) * depth, 1)),
        weights_(random_floats(kMostColumns * inputs_, 2)),
        bias_(random_floats(kMostColumns, 3)),
        zeros_(depth + kTileSlack / sizeof(float), 0) {
    for (size_t row = 0; row < kMostRows; ++row) {
      for (size_t column = 0; column < kMostColumns; ++column) {
        expected_.push_back(find_expected(row, column));
      }
    }
  }

  void check(const petrel_tile& tile, size_t rows, size_t columns) const {
    const TileShape shape = {rows, columns, depth_, window_};
    std::vector<float> storage(count_tile_weights(tile, shape) + 2 * kTileSlack);
    const size_t skip = (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64) % 64;
    float* const packed = storage.data() + skip / sizeof(float);
    pack(tile, columns, packed);
    std::vector<float> output(1 + rows * columns + 1, kUntouched);
    if (window_ == 0 && rows > 1) {
      run_by_panels(tile, shape, input_.data(), packed, kBounds, &output[1], columns);
      expect_right(tile, shape, output);
      output.assign(output.size(), kUntouched);
    }
    if (window_ == 0) {
      run_product(tile, shape, input_.data(), packed, kBounds, &output[1], columns);
    } else {
      std::vector<const float*> pointers = find_windows(tile, shape, input_.data());
      leave_image(tile, rows, &pointers);
      run_windows(tile, shape, pointers, zeros_.data(), packed, kBounds, &output[1], columns);
    }
    expect_right(tile, shape, output);
  }

 private:
  void expect_right(const petrel_tile& tile, const TileShape& shape,
                    const std::vector<float>& output) const {
    ASSERT_EQ(output.front(), kUntouched);
    ASSERT_EQ(output.back(), kUntouched);
    for (size_t row = 0; row < shape.rows; ++row) {
      for (size_t column = 0; column < shape.columns; ++column) {
        ASSERT_EQ(output[1 + row * shape.columns + column], expected_[row * kMostColumns + column])
            << tile.name << ": " << shape.rows << " x " << shape.columns << ", depth " << depth_
            << ", window " << window_ << ", at " << row << ", " << column;
      }
    }
  }

  // The first element of every other row's window lies outside the image.
  bool is_outside(size_t row, size_t element) const {
    return window_ != 0 && element == 0 && row % 2 == 1;
  }

  void leave_image(const petrel_tile& tile, size_t rows,
                   std::vector<const float*>* pointers) const {
    const size_t step = rows == 1 ? 1 : tile.rows;
    for (size_t i = 0; i < pointers->size(); ++i) {
      const size_t row = i / (step * window_) * step + i % step;
      const size_t element = i / step % window_;
      if (is_outside(std::min(row, rows - 1), element)) (*pointers)[i] = zeros_.data();
    }
  }

  float find_expected(size_t row, size_t column) const {
    float sum = bias_[column];
    for (size_t i = 0; i < inputs_; ++i) {
      const size_t element = i / depth_;
      const float in = is_outside(row, element) ? 0.0f : input_[row * depth_ + i];
      sum = std::fma(in, weights_[column * inputs_ + i], sum);
    }
    return std::clamp(sum, kBounds.min, kBounds.max);
  }

  void pack(const petrel_tile& tile, size_t columns, float* to) const {
    for (size_t first = 0; first < columns; first += tile.columns) {
      for (size_t i = 0; i <= inputs_; ++i) {
        for (size_t column = first; column < first + tile.columns; ++column, ++to) {
          if (column >= columns) continue;
          *to = i == 0 ? bias_[column] : weights_[column * inputs_ + i - 1];
        }
      }
    }
  }

  const size_t depth_, window_, inputs_;
  const std::vector<float> input_, weights_, bias_, zeros_;
  std::vector<float> expected_;
};

class CandidatesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success); }
};

TEST_F(CandidatesTest, GiveTheSameBitsAndTouchNothingElse) {
  size_t count = 0, possible = 0;
  const petrel_tile* const tiles = petrel_tiles(&count);
  for (const size_t depth : {1, 2, 5, 32}) {
    for (const size_t window : {0, 1, 9}) {
      const Layer layer(depth, window);
      for (const petrel_tile* tile = tiles; tile != tiles + count; ++tile) {
        if (!petrel_tile_is_possible(tile)) continue;
        ++possible;
        std::set<size_t> rows = {2 * tile->rows - 1, 2 * tile->rows, 2 * tile->rows + 1};
        std::set<size_t> columns = {2 * tile->columns, 2 * tile->columns + 3, 63, 65, kMostColumns};
        for (size_t r = 1; r <= tile->rows + 1; ++r) rows.insert(r);
        for (size_t c = 1; c <= tile->columns + 1; ++c) columns.insert(c);
        for (const size_t r : rows) {
          for (const size_t c : columns) {
            layer.check(*tile, r, c);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
  if (possible == 0) GTEST_SKIP() << "this processor has no candidates";
}

TEST_F(CandidatesTest, GiveTheSameBitsByPanels) {
  // More than a megabyte of weights.
  const Layer layer(3000, 0);
  size_t count = 0;
  const petrel_tile* const tiles = petrel_tiles(&count);
  for (const petrel_tile* tile = tiles; tile != tiles + count; ++tile) {
    if (!petrel_tile_is_possible(tile)) continue;
    for (const size_t rows : {tile->rows, 2 * tile->rows + 1, kMostRows}) {
      for (const size_t columns : {size_t{65}, kMostColumns}) layer.check(*tile, rows, columns);
    }
  }
}

TEST_F(CandidatesTest, HaveNamesThatFindThem) {
  size_t count = 0;
  const petrel_tile* const tiles = petrel_tiles(&count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(petrel_find_tile(tiles[i].name), &tiles[i]);
    const std::string size =
        std::to_string(tiles[i].rows) + "x" + std::to_string(tiles[i].columns) + "-";
    EXPECT_EQ(std::string(tiles[i].name).substr(0, size.size()), size);
  }
  for (const char* name : {"", "14x32", "14X32-avx512f", "14x32-avx512f "}) {
    EXPECT_EQ(petrel_find_tile(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
