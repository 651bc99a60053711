// SPDX-License-Identifier: Apache-2.0
//
// A linear layer or a convolution as an operator of XNNPACK, in floats or split ones, with random
// data of a fixed seed. For the test and the benchmark only.
//
//   Layer layer({.kernel = 3, .stride = 2, .side = 14, .depth = 64, .columns = 100});
//   layer.make(XNN_FLAG_SPLIT, pool);
//   layer.run();
//   layer.worst_error(1)
#ifndef PETREL_THIRD_PARTY_XNNPACK_SPLIT_LAYER_H_
#define PETREL_THIRD_PARTY_XNNPACK_SPLIT_LAYER_H_

#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace petrel::third_party::xnnpack::split {

struct Shape {
  size_t kernel = 0;  // height and width of a window, padded to keep the side; 0: linear
  size_t stride = 1;
  size_t side = 1;  // of the input; rows of a linear layer
  size_t depth = 0;
  size_t columns = 0;
  bool is_transposed = false;  // weights of a linear layer: [depth, columns]
  size_t images = 1;           // of a convolution
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  size_t taps() const { return kernel == 0 ? 1 : kernel * kernel; }
  size_t out_side() const { return kernel == 0 ? side : (side + stride - 1) / stride; }
  size_t rows() const { return kernel == 0 ? side : images * out_side() * out_side(); }
  double multiply_adds() const;
};

class Layer {
 public:
  explicit Layer(const Shape& shape);
  ~Layer();
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // May be changed before make().
  std::vector<float>& input() { return input_; }
  std::vector<float>& weights() { return weights_; }

  // False when XNNPACK refuses.
  bool make(uint32_t flags, pthreadpool_t pool);
  void run();
  const std::vector<float>& output() const { return output_; }

  // The largest distance of every `every`-th output from a sum in double, as a part of the sum
  // of what the products are without their signs.
  double worst_error(size_t every) const;

 private:
  bool make_linear(uint32_t flags);
  bool make_convolution(uint32_t flags);
  void drop();

  const Shape shape_;
  pthreadpool_t pool_ = nullptr;
  xnn_operator_t operator_ = nullptr;
  std::vector<float> input_, weights_, bias_, output_;
};

}  // namespace petrel::third_party::xnnpack::split

#endif  // PETREL_THIRD_PARTY_XNNPACK_SPLIT_LAYER_H_
