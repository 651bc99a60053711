// SPDX-License-Identifier: Apache-2.0

// Windows read what the definition says, though their pointers are kept for some rows of the
// plane only. Elements are small integers, whose sums are exact in any order.
#include <gtest/gtest.h>
#include <xnnpack.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

// Of the process, as XNNPACK is started once.
size_t largest_block = 0;

void* allocate(void*, size_t size) {
  largest_block = std::max(largest_block, size);
  return std::malloc(size);
}
void* reallocate(void*, void* memory, size_t size) {
  largest_block = std::max(largest_block, size);
  return std::realloc(memory, size);
}
void release(void*, void* memory) { std::free(memory); }
void* allocate_aligned(void*, size_t alignment, size_t size) {
  largest_block = std::max(largest_block, size);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}
const xnn_allocator kAllocator = {nullptr,  &allocate,         &reallocate,
                                  &release, &allocate_aligned, &release};

enum class Window { kConvolution, kGroups, kDepthwise, kMaximum };

struct Plane {
  size_t height, width;
};

struct Shape {
  Window window;
  uint32_t height, width, stride, dilation, padding;  // of the window
  size_t channels;
};
void PrintTo(const Shape& s, std::ostream* out) {
  *out << "window " << static_cast<int>(s.window) << ", " << s.height << " x " << s.width
       << ", stride " << s.stride << ", dilation " << s.dilation << ", padding " << s.padding
       << ", channels " << s.channels;
}

constexpr size_t kBatch = 2;
constexpr size_t kOut = 6;  // channels of a convolution

std::vector<float> integers(size_t count) {
  static auto* const engine = new std::mt19937(7);
  std::uniform_int_distribution<int> any(-8, 8);
  std::vector<float> numbers(count + XNN_EXTRA_BYTES / sizeof(float));
  for (float& number : numbers) number = static_cast<float>(any(*engine));
  return numbers;
}

class Operator {
 public:
  explicit Operator(const Shape& shape) : shape_(shape) {
    constexpr float kAny = std::numeric_limits<float>::infinity();
    const uint32_t p = shape.padding;
    xnn_status status = xnn_status_success;
    if (shape.window == Window::kMaximum) {
      status = xnn_create_max_pooling2d_nhwc_f32(p, p, p, p, shape.height, shape.width,
                                                 shape.stride, shape.stride, shape.dilation,
                                                 shape.dilation, -kAny, kAny, 0, &operator_);
    } else {
      weights_ = integers(out_channels() * shape.height * shape.width * depth());
      status = xnn_create_convolution2d_nhwc_f32(
          p, p, p, p, shape.height, shape.width, shape.stride, shape.stride, shape.dilation,
          shape.dilation, groups(), depth(), out_channels() / groups(), shape.channels,
          out_channels(), weights_.data(), nullptr, -kAny, kAny, 0, nullptr, nullptr, &operator_);
    }
    EXPECT_EQ(status, xnn_status_success);
  }
  ~Operator() { xnn_delete_operator(operator_); }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  bool fits(const Plane& plane) const {
    return plane.height + 2 * shape_.padding >= (shape_.height - 1) * shape_.dilation + 1 &&
           plane.width + 2 * shape_.padding >= (shape_.width - 1) * shape_.dilation + 1;
  }

  // Runs it with memory that no other run had, and compares.
  void check(const Plane& plane) {
    const std::vector<float> input =
        integers(kBatch * plane.height * plane.width * shape_.channels);
    size_t height = 0, width = 0, workspace_size = 0, alignment = 0;
    const bool is_maximum = shape_.window == Window::kMaximum;
    const xnn_status reshaped =
        is_maximum ? xnn_reshape_max_pooling2d_nhwc_f32(
                         operator_, kBatch, plane.height, plane.width, shape_.channels,
                         shape_.channels, shape_.channels, &height, &width, nullptr)
                   : xnn_reshape_convolution2d_nhwc_f32(operator_, kBatch, plane.height,
                                                        plane.width, &workspace_size, &alignment,
                                                        &height, &width, nullptr);
    ASSERT_EQ(reshaped, xnn_status_success);
    std::vector<float> output(kBatch * height * width * out_channels(), -1000.0f);
    std::vector<char> workspace(workspace_size + alignment);
    void* aligned = workspace.data();
    if (workspace_size > 0) {
      aligned = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(aligned) + alignment - 1) /
                                        alignment * alignment);
    }
    ASSERT_EQ(is_maximum ? xnn_setup_max_pooling2d_nhwc_f32(operator_, input.data(), output.data())
                         : xnn_setup_convolution2d_nhwc_f32(operator_, aligned, input.data(),
                                                            output.data()),
              xnn_status_success);
    ASSERT_EQ(xnn_run_operator(operator_, nullptr), xnn_status_success);
    size_t i = 0;
    for (size_t n = 0; n < kBatch; ++n) {
      const float* const image = input.data() + n * plane.height * plane.width * shape_.channels;
      for (size_t y = 0; y < height; ++y) {
        for (size_t x = 0; x < width; ++x) {
          for (size_t c = 0; c < out_channels(); ++c, ++i) {
            ASSERT_EQ(output[i], expected(image, plane, y, x, c))
                << plane.height << " x " << plane.width << ": image " << n << ", row " << y
                << ", column " << x << ", channel " << c;
          }
        }
      }
    }
  }

 private:
  uint32_t groups() const {
    return shape_.window == Window::kDepthwise ? static_cast<uint32_t>(shape_.channels)
           : shape_.window == Window::kGroups  ? 2
                                               : 1;
  }
  size_t depth() const { return shape_.channels / groups(); }
  size_t out_channels() const {
    return shape_.window == Window::kMaximum || shape_.window == Window::kDepthwise
               ? shape_.channels
               : kOut;
  }

  float expected(const float* image, const Plane& plane, size_t y, size_t x, size_t c) const {
    const bool is_maximum = shape_.window == Window::kMaximum;
    float result = is_maximum ? -std::numeric_limits<float>::infinity() : 0;
    for (size_t i = 0; i < shape_.height; ++i) {
      const size_t row = y * shape_.stride + i * shape_.dilation - shape_.padding;
      if (row >= plane.height) continue;
      for (size_t j = 0; j < shape_.width; ++j) {
        const size_t column = x * shape_.stride + j * shape_.dilation - shape_.padding;
        if (column >= plane.width) continue;
        const float* const pixel = image + (row * plane.width + column) * shape_.channels;
        if (is_maximum) {
          result = std::max(result, pixel[c]);
          continue;
        }
        const size_t first = c / (out_channels() / groups()) * depth();
        const float* const weight =
            weights_.data() + ((c * shape_.height + i) * shape_.width + j) * depth();
        for (size_t k = 0; k < depth(); ++k) result += pixel[first + k] * weight[k];
      }
    }
    return result;
  }

  const Shape shape_;
  xnn_operator_t operator_ = nullptr;
  std::vector<float> weights_;
};

class RepeatedPointersTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(xnn_initialize(&kAllocator), xnn_status_success); }
};

TEST_F(RepeatedPointersTest, ReadWhatTheDefinitionSays) {
  for (const Window window :
       {Window::kConvolution, Window::kGroups, Window::kDepthwise, Window::kMaximum}) {
    for (const auto& [height, width] : {std::pair(3u, 3u), std::pair(5u, 2u), std::pair(1u, 4u)}) {
      for (const uint32_t stride : {1u, 2u, 3u}) {
        for (const uint32_t dilation : {1u, 2u}) {
          for (const uint32_t padding : {0u, 1u, 3u}) {
            // XNNPACK refuses maxima of padding alone, and those that leave pixels out.
            const uint32_t side = std::min(height, width);
            if (window == Window::kMaximum && (padding >= side || stride > side)) continue;
            const Shape shape = {window, height, width, stride, dilation, padding, 4};
            SCOPED_TRACE(testing::PrintToString(shape));
            Operator op(shape);
            // One after another: sizes change, and pointers with them.
            for (const Plane& plane : {Plane{40, 9}, Plane{61, 14}, Plane{7, 33}, Plane{3, 5}}) {
              if (op.fits(plane)) op.check(plane);
              if (HasFatalFailure()) return;
            }
          }
        }
      }
    }
  }
}

TEST_F(RepeatedPointersTest, AreKeptForFewRows) {
  for (const Window window : {Window::kConvolution, Window::kDepthwise, Window::kMaximum}) {
    Operator op({window, 3, 3, 1, 1, 1, 2});
    largest_block = 0;
    op.check({500, 60});
    // One for each element of each window would be 500 * 60 * 3 of eight bytes and more.
    EXPECT_LT(largest_block, size_t{100'000}) << static_cast<int>(window);
    EXPECT_GT(largest_block, size_t{60 * 3 * sizeof(void*)}) << static_cast<int>(window);
  }
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
