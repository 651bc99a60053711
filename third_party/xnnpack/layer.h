// SPDX-License-Identifier: Apache-2.0

// One XNNPACK layer whose loop order can be chosen: a fully connected layer or
// a square convolution, in float or with int8 weights and dynamically quantised
// inputs. Data is random with a fixed seed. For the loop order's test and
// benchmark only.
//
//   Layer layer({Kind::kFullyConnected, /*batch=*/128, 0, 0, 768, 3072}, pool);
//   layer.reshape(/*max_panel=*/1 << 20);
//   layer.run();
//   layer.output();
#ifndef PETREL_THIRD_PARTY_XNNPACK_LAYER_H_
#define PETREL_THIRD_PARTY_XNNPACK_LAYER_H_

#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace petrel::third_party::xnnpack {

enum class Kind {
  kFullyConnected,
  kConvolution,
  kInt8FullyConnected,
  kInt8Convolution,
};

struct Shape {
  Kind kind;
  size_t batch;   // rows of a fully connected layer
  size_t side;    // height and width of a convolution's input
  size_t kernel;  // height and width of its window, padded to keep the side
  size_t in;      // input channels
  size_t out;     // output channels
};

class Layer {
 public:
  // Creates the layer. Aborts when XNNPACK refuses: shapes come from our code.
  Layer(const Shape& shape, pthreadpool_t pool);
  ~Layer();
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // Prepares runs with panels of at most max_panel bytes of weights outermost;
  // 0 means row tiles outermost. Kernels that can bring a panel ahead do so, and have panels
  // of at most max_ahead bytes; 0 lets none do so.
  void reshape(size_t max_panel, size_t max_ahead = 0);
  void run();

  // Writable, so that a test can spoil what an earlier run left.
  std::vector<float>& output() { return output_; }
  // The same layer by the definition, in double, for one element of the output.
  double expected(size_t pixel, size_t channel) const;
  size_t pixels() const { return output_.size() / shape_.out; }
  double multiplications() const;

 private:
  bool convolution() const;
  bool int8() const;
  double input_at(size_t index, size_t batch) const;
  double weight_at(size_t index, size_t channel) const;

  const Shape shape_;
  pthreadpool_t const pool_;
  xnn_operator_t operator_ = nullptr;
  std::vector<float> input_, weights_, bias_, scales_, output_;
  std::vector<int8_t> int8_input_, int8_weights_;
  std::vector<xnn_quantization_params> quantization_;
  std::vector<char> workspace_;
};

}  // namespace petrel::third_party::xnnpack

#endif  // PETREL_THIRD_PARTY_XNNPACK_LAYER_H_
