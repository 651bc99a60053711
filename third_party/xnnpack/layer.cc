// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/layer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>

// Declared by loop_order.patch and read_ahead.patch.
extern "C" size_t xnn_max_weights_panel, xnn_max_panel_ahead;

namespace petrel::third_party::xnnpack {
namespace {

// Of a kernel, which reads what quantises each.
constexpr size_t kMostRows = 16;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void check(xnn_status status, const char* what) {
  if (status == xnn_status_success) return;
  std::fprintf(stderr, "%s: XNNPACK status %d\n", what, status);
  std::abort();
}

}  // namespace

bool Layer::convolution() const {
  return shape_.kind == Kind::kConvolution || shape_.kind == Kind::kInt8Convolution;
}

bool Layer::int8() const {
  return shape_.kind == Kind::kInt8FullyConnected || shape_.kind == Kind::kInt8Convolution;
}

Layer::Layer(const Shape& shape, pthreadpool_t pool) : shape_(shape), pool_(pool) {
  check(xnn_initialize(nullptr), "initialize");
  std::mt19937 random(1);
  std::uniform_real_distribution<float> real(-1, 1);
  std::uniform_int_distribution<int> byte(-127, 127);
  const size_t window = convolution() ? shape.kernel * shape.kernel : 1;
  const size_t pixels = shape.batch * (convolution() ? shape.side * shape.side : 1);
  const size_t inputs = pixels * shape.in;
  const size_t weights = shape.out * window * shape.in;
  bias_.resize(shape.out);
  for (float& x : bias_) x = real(random);
  output_.resize(pixels * shape.out);
  if (int8()) {
    int8_input_.resize(inputs + XNN_EXTRA_BYTES);
    for (int8_t& x : int8_input_) x = static_cast<int8_t>(byte(random));
    int8_weights_.resize(weights);
    for (int8_t& x : int8_weights_) x = static_cast<int8_t>(byte(random));
    scales_.resize(shape.out);
    for (float& x : scales_) x = 0.01f + 0.001f * std::fabs(real(random));
    quantization_.resize(shape.batch + kMostRows);
    for (auto& q : quantization_) {
      q = {byte(random) / 16, 0.01f + 0.001f * std::fabs(real(random))};
    }
    // A tile with rows to spare computes its last row again with these.
    std::fill(quantization_.begin() + shape.batch, quantization_.end(),
              quantization_[shape.batch - 1]);
  } else {
    input_.resize(inputs + XNN_EXTRA_BYTES / sizeof(float));
    for (float& x : input_) x = real(random);
    weights_.resize(weights);
    for (float& x : weights_) x = real(random);
  }

  const uint32_t kernel = static_cast<uint32_t>(shape.kernel);
  const uint32_t pad = (kernel - 1) / 2;
  xnn_status status = xnn_status_invalid_parameter;
  switch (shape.kind) {
    case Kind::kFullyConnected:
      status = xnn_create_fully_connected_nc_f32(shape.in, shape.out, shape.in, shape.out,
                                                 weights_.data(), bias_.data(), -kInfinity,
                                                 kInfinity, 0, nullptr, nullptr, &operator_);
      break;
    case Kind::kInt8FullyConnected:
      status = xnn_create_fully_connected_nc_qd8_f32_qc8w(
          shape.in, shape.out, shape.in, shape.out, scales_.data(), int8_weights_.data(),
          bias_.data(), -kInfinity, kInfinity, 0, nullptr, nullptr, &operator_);
      break;
    case Kind::kConvolution:
      status = xnn_create_convolution2d_nhwc_f32(pad, pad, pad, pad, kernel, kernel, 1, 1, 1, 1, 1,
                                                 shape.in, shape.out, shape.in, shape.out,
                                                 weights_.data(), bias_.data(), -kInfinity,
                                                 kInfinity, 0, nullptr, nullptr, &operator_);
      break;
    case Kind::kInt8Convolution:
      status = xnn_create_convolution2d_nhwc_qd8_f32_qc8w(
          pad, pad, pad, pad, kernel, kernel, 1, 1, 1, 1, 1, shape.in, shape.out, shape.in,
          shape.out, scales_.data(), int8_weights_.data(), bias_.data(), -kInfinity, kInfinity, 0,
          nullptr, nullptr, &operator_);
      break;
  }
  check(status, "create");
}

Layer::~Layer() { xnn_delete_operator(operator_); }

void Layer::reshape(size_t max_panel, size_t max_ahead) {
  const size_t usual = xnn_max_weights_panel, usual_ahead = xnn_max_panel_ahead;
  xnn_max_weights_panel = max_panel;
  xnn_max_panel_ahead = max_ahead;
  size_t bytes = 0, alignment = 0, height = 0, width = 0;
  switch (shape_.kind) {
    case Kind::kFullyConnected:
      check(xnn_reshape_fully_connected_nc_f32(operator_, shape_.batch, pool_), "reshape");
      break;
    case Kind::kInt8FullyConnected:
      check(xnn_reshape_fully_connected_nc_qd8_f32_qc8w(operator_, shape_.batch, pool_), "reshape");
      break;
    case Kind::kConvolution:
      check(xnn_reshape_convolution2d_nhwc_f32(operator_, shape_.batch, shape_.side, shape_.side,
                                               &bytes, &alignment, &height, &width, pool_),
            "reshape");
      break;
    case Kind::kInt8Convolution:
      check(xnn_reshape_convolution2d_nhwc_qd8_f32_qc8w(operator_, shape_.batch, shape_.side,
                                                        shape_.side, &bytes, &alignment, &height,
                                                        &width, pool_),
            "reshape");
      break;
  }
  xnn_max_weights_panel = usual;
  xnn_max_panel_ahead = usual_ahead;

  workspace_.resize(bytes + alignment);
  void* workspace = workspace_.data();
  if (bytes != 0) {
    size_t space = workspace_.size();
    workspace = std::align(alignment, bytes, workspace, space);
  }
  switch (shape_.kind) {
    case Kind::kFullyConnected:
      check(xnn_setup_fully_connected_nc_f32(operator_, input_.data(), output_.data()), "setup");
      break;
    case Kind::kInt8FullyConnected:
      check(xnn_setup_fully_connected_nc_qd8_f32_qc8w(operator_, int8_input_.data(), output_.data(),
                                                      quantization_.data()),
            "setup");
      break;
    case Kind::kConvolution:
      check(xnn_setup_convolution2d_nhwc_f32(operator_, workspace, input_.data(), output_.data()),
            "setup");
      break;
    case Kind::kInt8Convolution:
      check(xnn_setup_convolution2d_nhwc_qd8_f32_qc8w(operator_, workspace, int8_input_.data(),
                                                      output_.data(), quantization_.data()),
            "setup");
      break;
  }
}

void Layer::run() { check(xnn_run_operator(operator_, pool_), "run"); }

double Layer::multiplications() const {
  const size_t window = convolution() ? shape_.kernel * shape_.kernel : 1;
  return static_cast<double>(output_.size()) * window * shape_.in;
}

double Layer::input_at(size_t index, size_t batch) const {
  if (!int8()) return input_[index];
  const xnn_quantization_params& q = quantization_[batch];
  return (int8_input_[index] - q.zero_point) * static_cast<double>(q.scale);
}

double Layer::weight_at(size_t index, size_t channel) const {
  if (!int8()) return weights_[index];
  return int8_weights_[index] * static_cast<double>(scales_[channel]);
}

double Layer::expected(size_t pixel, size_t channel) const {
  double sum = bias_[channel];
  if (!convolution()) {
    for (size_t c = 0; c < shape_.in; ++c) {
      sum += input_at(pixel * shape_.in + c, pixel) * weight_at(channel * shape_.in + c, channel);
    }
    return sum;
  }
  const size_t side = shape_.side, kernel = shape_.kernel;
  const size_t pad = (kernel - 1) / 2;
  const size_t batch = pixel / (side * side);
  const size_t y = pixel / side % side, x = pixel % side;
  for (size_t ky = 0; ky < kernel; ++ky) {
    for (size_t kx = 0; kx < kernel; ++kx) {
      // Unsigned wrap-around puts what lies before the image past its end.
      const size_t iy = y + ky - pad, ix = x + kx - pad;
      if (iy >= side || ix >= side) continue;
      for (size_t c = 0; c < shape_.in; ++c) {
        const size_t input = ((batch * side + iy) * side + ix) * shape_.in + c;
        const size_t weight = ((channel * kernel + ky) * kernel + kx) * shape_.in + c;
        sum += input_at(input, batch) * weight_at(weight, channel);
      }
    }
  }
  return sum;
}

}  // namespace petrel::third_party::xnnpack
