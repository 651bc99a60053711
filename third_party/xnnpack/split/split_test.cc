// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/split/split.h"

#include <gtest/gtest.h>
#include <pthreadpool.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "third_party/xnnpack/split/flag.h"
#include "third_party/xnnpack/split/layer.h"

namespace petrel::third_party::xnnpack::split {
namespace {

float number_of(uint32_t bits) {
  float number = 0;
  std::memcpy(&number, &bits, sizeof(number));
  return number;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
// Others that are none, as processors of graphics make them; numbers in steps of bfloat16 would
// begin anew behind them.
const float kLastNaN = number_of(0x7fffffff), kLastNegativeNaN = number_of(0xffffffff);
// Of |a * b|: what three of four products leave out, and what sums in floats add to it.
constexpr double kError = 0x1p-16;

Shape linear(size_t rows, size_t depth, size_t columns) {
  Shape shape;
  shape.side = rows;
  shape.depth = depth;
  shape.columns = columns;
  return shape;
}

Shape transposed(Shape shape) {
  shape.is_transposed = true;
  return shape;
}

Shape convolution(size_t kernel, size_t stride, size_t side, size_t depth, size_t columns,
                  size_t images = 1) {
  Shape shape = linear(side, depth, columns);
  shape.kernel = kernel;
  shape.stride = stride;
  shape.images = images;
  return shape;
}

Shape bounded(Shape shape, float low, float high) {
  shape.low = low;
  shape.high = high;
  return shape;
}

std::string describe(const Shape& s) {
  std::ostringstream text;
  text << s.kernel << " x " << s.kernel << " / " << s.stride << ", " << s.images << " x " << s.side
       << ", " << s.depth << " -> " << s.columns << (s.is_transposed ? ", transposed" : "");
  return text.str();
}

// Rows that fill no tile, depths around a panel's and beyond what stays split, columns that end
// within a tile and within a panel.
const Shape kShapes[] = {
    linear(1, 32, 64),
    linear(16, 1, 1),
    linear(17, 31, 16),
    linear(33, 33, 65),
    linear(40, 200, 130),
    linear(5, 1100, 70),
    transposed(linear(20, 65, 100)),
    transposed(linear(50, 96, 400)),
    convolution(1, 1, 9, 64, 100),
    convolution(1, 2, 9, 40, 64),
    convolution(3, 1, 7, 32, 48, 3),
    convolution(3, 2, 13, 70, 66, 2),
    convolution(5, 1, 6, 45, 20),
    bounded(convolution(3, 1, 10, 64, 64), 0, 6),
    bounded(linear(20, 64, 64), -kInfinity, 0.5f),
};

bool machine_has(const std::string& flag) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string word; info >> word;) {
    if (word == flag) return true;
  }
  return false;
}

TEST(SplitTest, IsUsedWhereTheProcessorHasUnits) {
  ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  EXPECT_EQ(split_is_available(), machine_has("amx_bf16") && machine_has("amx_int8") &&
                                      machine_has("avx512_vnni") && machine_has("gfni"));
}

// Where the processor has no units, results are those of floats.
TEST(SplitTest, IsAsExactAsItSays) {
  for (const Shape& shape : kShapes) {
    for (const size_t threads : {size_t{1}, size_t{3}}) {
      SCOPED_TRACE(describe(shape));
      const pthreadpool_t pool = threads == 1 ? nullptr : pthreadpool_create(threads);
      Layer split(shape), plain(shape);
      ASSERT_TRUE(split.make(XNN_FLAG_SPLIT, pool));
      ASSERT_TRUE(plain.make(0, pool));
      split.run();
      plain.run();
      EXPECT_LT(split.worst_error(1), kError);
      EXPECT_LT(plain.worst_error(1), 0x1p-20);
      if (split_is_available() && shape.depth > 1) EXPECT_NE(split.output(), plain.output());
      pthreadpool_destroy(pool);
    }
  }
}

TEST(SplitTest, HasInfinitiesAndNaNsWhereFloatsHaveThem) {
  const Shape shape = convolution(3, 1, 8, 40, 70);
  for (const float value : {kInfinity, -kInfinity, kNaN, kLastNaN, kLastNegativeNaN,
                            std::numeric_limits<float>::max(), 0.0f}) {
    for (const bool in_weights : {false, true}) {
      SCOPED_TRACE(std::to_string(value) + (in_weights ? " weight" : " input"));
      Layer split(shape), plain(shape);
      for (Layer* layer : {&split, &plain}) {
        (in_weights ? layer->weights() : layer->input())[77] = value;
        ASSERT_TRUE(layer->make(layer == &split ? XNN_FLAG_SPLIT : 0, nullptr));
        layer->run();
      }
      for (size_t i = 0; i < plain.output().size(); ++i) {
        const float expected = plain.output()[i], found = split.output()[i];
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(found)) << i;
        } else if (std::isinf(expected)) {
          ASSERT_EQ(found, expected) << i;
        } else {
          ASSERT_NEAR(found, expected, 1e-4 * std::fabs(expected) + 1e-3) << i;
        }
      }
    }
  }
}

// What packed weights mean, on every processor.
struct Packed {
  Packed(size_t taps, size_t depth, size_t columns) : call() {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    for (auto* list : {&a, &weights, &biases}) {
      list->resize(list == &a         ? taps * depth * kRows
                   : list == &weights ? taps * depth * columns
                                      : columns);
      for (float& x : *list) x = normal(random);
    }
    const size_t panels = (columns + SPLIT_COLUMNS - 1) / SPLIT_COLUMNS;
    packed.resize(panels * split_panel_floats(taps, depth));
    for (size_t panel = 0; panel < panels; ++panel) {
      const size_t first = panel * SPLIT_COLUMNS;
      split_pack_panel(taps, depth, std::min<size_t>(columns - first, SPLIT_COLUMNS), taps * depth,
                       1, weights.data() + first * taps * depth, biases.data() + first,
                       packed.data() + panel * split_panel_floats(taps, depth));
    }
    c.resize(kRows * columns);
    for (size_t tap = 0; tap < taps; ++tap) {
      for (size_t row = 0; row < kRows; ++row) {
        pointers.push_back(a.data() + (row * taps + tap) * depth);
      }
    }
    call.rows = kRows;
    call.columns = columns;
    call.taps = taps;
    call.depth = depth;
    call.a = pointers.data();
    call.a_step = kRows;
    call.packed = packed.data();
    call.c = c.data();
    call.row_stride = columns * sizeof(float);
    call.panel_stride = SPLIT_COLUMNS * sizeof(float);
    call.low = -kInfinity;
    call.high = kInfinity;
  }
  static constexpr size_t kRows = 3;
  std::vector<float> a, weights, biases, packed, c;
  std::vector<const float*> pointers;
  split_call call;
};

TEST(SplitTest, PackedWeightsHaveSeventeenBits) {
  for (const size_t depth : {1, 16, 17, 31, 32, 33, 100}) {
    for (const size_t columns : {1, 16, 63, 64, 65, 130}) {
      const size_t taps = depth % 3 + 1;
      Packed p(taps, depth, columns);
      split_multiply_plain(&p.call, 0, columns);
      for (size_t i = 0; i < p.c.size(); ++i) {
        const size_t row = i / columns, column = i % columns;
        double sum = p.biases[column], all = std::fabs(p.biases[column]);
        for (size_t k = 0; k < taps * depth; ++k) {
          const double product = static_cast<double>(p.a[row * taps * depth + k]) *
                                 p.weights[column * taps * depth + k];
          sum += product;
          all += std::fabs(product);
        }
        ASSERT_LT(std::fabs(p.c[i] - sum), 0x1p-17 * all) << depth << " " << columns << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack::split
