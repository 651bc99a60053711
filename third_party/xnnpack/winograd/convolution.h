// SPDX-License-Identifier: Apache-2.0
//
// A convolution of 3 x 3 as an operator of XNNPACK, direct or by Winograd's algorithm, with
// random data of a fixed seed. For the test and the benchmark only.
//
//   Convolution layer({.images = 1, .height = 56, .width = 56, .depth = 64, .outputs = 64});
//   layer.make(Way::kWinograd, pool);
//   layer.run();
//   layer.output()
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_CONVOLUTION_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_CONVOLUTION_H_

#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstddef>
#include <limits>
#include <vector>

namespace petrel::third_party::xnnpack {

struct Plane {
  size_t images = 1;
  size_t height = 0;
  size_t width = 0;
  size_t depth = 0;                                 // channels of all groups
  size_t outputs = 0;                               // the same
  size_t top = 1, right = 1, bottom = 1, left = 1;  // padding
  size_t stride = 1;
  size_t dilation = 1;
  size_t groups = 1;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  size_t window() const { return 2 * dilation + 1; }
  size_t out_height() const { return (height + top + bottom - window()) / stride + 1; }
  size_t out_width() const { return (width + left + right - window()) / stride + 1; }
  double multiply_adds() const;
};

enum class Way { kDirect, kWinograd, kWinogradEachRun, kLargeTiles, kLargeTilesEachRun };

class Convolution {
 public:
  // The input is like that of a layer behind a relu, the filter like a trained one.
  explicit Convolution(const Plane& plane);
  ~Convolution();
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;

  // May be changed before make().
  std::vector<float>& input() { return input_; }
  std::vector<float>& filter() { return filter_; }

  // False when XNNPACK refuses.
  bool make(Way way, pthreadpool_t pool);
  // Gives the operator another size, no larger than the plane's, with inputs that are its first
  // ones. The outputs are the first ones, too, and those before are dropped.
  bool resize(size_t height, size_t width);
  void run();
  const std::vector<float>& output() const { return output_; }

  // By the definition and in double, before the bounds.
  double expected(size_t image, size_t row, size_t column, size_t channel) const;
  // The largest distance of any output from that, over `every`-th outputs.
  double worst_error(size_t every) const;

 private:
  void drop();

  const Plane plane_;
  pthreadpool_t pool_ = nullptr;
  xnn_operator_t operator_ = nullptr;
  std::vector<float> input_, filter_, bias_, output_;
  void* workspace_ = nullptr;
};

}  // namespace petrel::third_party::xnnpack

#endif  // PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_CONVOLUTION_H_
