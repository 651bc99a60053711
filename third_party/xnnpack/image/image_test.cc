// SPDX-License-Identifier: Apache-2.0
//
// Against plain loops over whole numbers, whose sums are exact in any order, with a product that
// reads all pixels of a tile, as XNNPACK's kernels may.
#include "third_party/xnnpack/image/image.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr size_t kPanel = 8;

// Of a kernel of floats or of bytes: packed weights are `outputs` numbers for each element of a
// window. `params` is the tile's rows.
template <typename T>
void product(size_t rows, size_t columns, size_t depth_bytes, size_t pointer_bytes,
             const void** pointers, const void* packed, void* c, size_t c_stride,
             size_t c_column_stride, size_t offset, const void* zero, const void* params) {
  ASSERT_EQ(c_column_stride, kPanel * sizeof(T));
  const size_t tile = *static_cast<const size_t*>(params);
  std::vector<int> sums(tile * columns, 0);
  const auto* w = static_cast<const T*>(packed);
  for (size_t first = 0; first < pointer_bytes / sizeof(void*); first += tile) {
    for (size_t k = 0; k < depth_bytes / sizeof(T); ++k, w += columns) {
      for (size_t i = 0; i < tile; ++i) {
        ASSERT_NE(pointers[first + i], zero);
        const auto* row =
            reinterpret_cast<const T*>(static_cast<const char*>(pointers[first + i]) + offset);
        for (size_t n = 0; n < columns; ++n) {
          sums[i * columns + n] += static_cast<int>(row[k]) * static_cast<int>(w[n]);
        }
      }
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    auto* out = reinterpret_cast<T*>(static_cast<char*>(c) + i * c_stride);
    for (size_t n = 0; n < columns; ++n) out[n] = static_cast<T>(sums[i * columns + n]);
  }
}

class Random {
 public:
  size_t in(size_t low, size_t high) { return low + engine_() % (high - low + 1); }
  template <typename T>
  std::vector<T> numbers(size_t count) {
    std::vector<T> list(count);
    for (T& number : list) number = static_cast<T>(static_cast<int>(in(0, 16)) - 8);
    return list;
  }

 private:
  std::mt19937 engine_{11};
};

struct Case {
  image_layer layer = {};
  size_t images, threads;
  size_t padding_bottom, padding_right;

  size_t input_pixels() const { return images * layer.input_height * layer.input_width; }
  size_t output_pixels() const { return images * layer.output_height * layer.output_width; }
};

template <typename T>
Case make_case(Random* random) {
  Case c;
  image_layer& l = c.layer;
  c.images = random->in(1, 3);
  c.threads = random->in(1, 5);
  l.channels = random->in(1, 4);
  l.outputs = random->in(1, 20);
  l.kernel_height = random->in(1, 5);
  l.kernel_width = random->in(1, 8);
  l.stride_height = random->in(1, 4);
  l.stride_width = random->in(1, 4);
  l.padding_top = random->in(0, l.kernel_height);
  l.padding_left = random->in(0, l.kernel_width);
  c.padding_bottom = random->in(0, l.kernel_height);
  c.padding_right = random->in(0, l.kernel_width);
  l.input_height = random->in(l.kernel_height, 40);
  // Wide ones have bands of a single row.
  l.input_width = random->in(l.kernel_width, random->in(0, 9) == 0 ? 3000 : 60);
  l.output_height =
      (l.input_height + l.padding_top + c.padding_bottom - l.kernel_height) / l.stride_height + 1;
  l.output_width =
      (l.input_width + l.padding_left + c.padding_right - l.kernel_width) / l.stride_width + 1;
  l.is_planar = random->in(0, 1) == 0;
  l.input_stride = l.channels + random->in(0, 2);
  l.output_stride = l.outputs + random->in(0, 3);
  l.element = sizeof(T);
  l.pixel = l.channels * sizeof(T);
  l.zero = sizeof(T) == 1 ? static_cast<unsigned char>(random->in(0, 16)) : 0;
  l.product = &product<T>;
  l.tile_rows = random->in(1, IMAGE_MOST_TILE_ROWS);
  l.panel_columns = kPanel;
  return c;
}

template <typename T>
int input_at(const Case& c, size_t n, int64_t y, int64_t x, size_t channel) {
  const image_layer& l = c.layer;
  const auto* input = static_cast<const T*>(l.input);
  const auto height = static_cast<int64_t>(l.input_height);
  const auto width = static_cast<int64_t>(l.input_width);
  if (y < 0 || x < 0 || y >= height || x >= width) return static_cast<signed char>(l.zero);
  const size_t plane = l.input_height * l.input_width;
  const size_t pixel = static_cast<size_t>(y) * l.input_width + static_cast<size_t>(x);
  return static_cast<int>(l.is_planar ? input[(n * l.channels + channel) * plane + pixel]
                                      : input[(n * plane + pixel) * l.input_stride + channel]);
}

template <typename T>
T expected(const Case& c, size_t n, size_t oy, size_t ox, size_t output) {
  const image_layer& l = c.layer;
  const auto* w = static_cast<const T*>(l.packed);
  int sum = 0;
  for (size_t y = 0; y < l.kernel_height; ++y) {
    for (size_t x = 0; x < l.kernel_width; ++x) {
      const auto iy = static_cast<int64_t>(oy * l.stride_height + y - l.padding_top);
      const auto ix = static_cast<int64_t>(ox * l.stride_width + x - l.padding_left);
      for (size_t k = 0; k < l.channels; ++k, w += l.outputs) {
        sum += input_at<T>(c, n, iy, ix, k) * static_cast<int>(w[output]);
      }
    }
  }
  return static_cast<T>(sum);
}

template <typename T>
void check(Case* c, Random* random) {
  constexpr T kUntouched = 99;
  image_layer& l = c->layer;
  l.params = &l.tile_rows;
  image_plan(&l, c->images, c->threads);
  const auto input =
      random->numbers<T>(c->input_pixels() * (l.is_planar ? l.channels : l.input_stride));
  const auto packed = random->numbers<T>(l.kernel_height * l.kernel_width * l.channels * l.outputs);
  std::vector<T> output(c->output_pixels() * l.output_stride, kUntouched);
  // As large as it says, so that a sanitizer sees what is read behind it.
  const auto scratch = std::make_unique<char[]>(c->threads * l.scratch_bytes);
  l.input = input.data();
  l.packed = packed.data();
  l.output = output.data();
  l.scratch = scratch.get();
  const size_t tasks = image_tasks(&l, c->images);
  for (size_t task = tasks; task-- > 0;) image_run(&l, task % c->threads, task);
  for (size_t i = 0; i < output.size(); ++i) {
    const size_t pixel = i / l.output_stride, channel = i % l.output_stride;
    const size_t plane = l.output_height * l.output_width;
    const T want = channel >= l.outputs
                       ? kUntouched
                       : expected<T>(*c, pixel / plane, pixel % plane / l.output_width,
                                     pixel % l.output_width, channel);
    ASSERT_EQ(output[i], want) << "pixel " << pixel << ", channel " << channel;
  }
}

template <typename T>
void check_cases() {
  Random random;
  for (int i = 0; i < 100; ++i) {
    Case c = make_case<T>(&random);
    ASSERT_NO_FATAL_FAILURE(check<T>(&c, &random)) << i;
  }
}

TEST(Image, OfFloatsGivesWhatPlainLoopsGive) { check_cases<float>(); }
TEST(Image, OfBytesGivesWhatPlainLoopsGive) { check_cases<int8_t>(); }

TEST(Image, BandsStayInTheFirstCache) {
  image_layer layer = {};
  layer.channels = 3;
  layer.element = sizeof(float);
  layer.pixel = 3 * sizeof(float);
  layer.kernel_height = layer.kernel_width = 3;
  layer.stride_height = layer.stride_width = 2;
  layer.output_height = layer.output_width = 112;
  layer.tile_rows = 14;
  image_plan(&layer, 1, 1);
  EXPECT_GT(layer.band, 1u);
  EXPECT_LT(layer.scratch_bytes, size_t{40} << 10);
  EXPECT_GE(image_tasks(&layer, 1), 16u);
}

}  // namespace
