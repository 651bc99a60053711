// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/split/layer.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace petrel::third_party::xnnpack::split {

double Shape::multiply_adds() const {
  return static_cast<double>(rows() * taps() * depth * columns);
}

Layer::Layer(const Shape& shape) : shape_(shape) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto fill = [&](std::vector<float>& list, size_t count) {
    list.resize(count);
    for (float& x : list) x = normal(random);
  };
  const size_t pixels = shape.kernel == 0 ? shape.side : shape.images * shape.side * shape.side;
  fill(input_, pixels * shape.depth + XNN_EXTRA_BYTES / sizeof(float));
  fill(weights_, shape.columns * shape.taps() * shape.depth);
  fill(bias_, shape.columns);
  output_.resize(shape.rows() * shape.columns);
}

Layer::~Layer() { drop(); }

void Layer::drop() {
  if (operator_ != nullptr) xnn_delete_operator(operator_);
  operator_ = nullptr;
}

bool Layer::make_linear(uint32_t flags) {
  if (shape_.is_transposed) flags |= XNN_FLAG_TRANSPOSE_WEIGHTS;
  return xnn_create_fully_connected_nc_f32(shape_.depth, shape_.columns, shape_.depth,
                                           shape_.columns, weights_.data(), bias_.data(),
                                           shape_.low, shape_.high, flags, nullptr, nullptr,
                                           &operator_) == xnn_status_success &&
         xnn_reshape_fully_connected_nc_f32(operator_, shape_.rows(), pool_) ==
             xnn_status_success &&
         xnn_setup_fully_connected_nc_f32(operator_, input_.data(), output_.data()) ==
             xnn_status_success;
}

bool Layer::make_convolution(uint32_t flags) {
  const auto size = static_cast<uint32_t>(shape_.kernel);
  const auto stride = static_cast<uint32_t>(shape_.stride);
  const uint32_t pad = size / 2;
  size_t bytes = 0, alignment = 0, height = 0, width = 0;
  return xnn_create_convolution2d_nhwc_f32(
             pad, pad, pad, pad, size, size, stride, stride, 1, 1, 1, shape_.depth, shape_.columns,
             shape_.depth, shape_.columns, weights_.data(), bias_.data(), shape_.low, shape_.high,
             flags, nullptr, nullptr, &operator_) == xnn_status_success &&
         xnn_reshape_convolution2d_nhwc_f32(operator_, shape_.images, shape_.side, shape_.side,
                                            &bytes, &alignment, &height, &width,
                                            pool_) == xnn_status_success &&
         bytes == 0 && height == shape_.out_side() && width == shape_.out_side() &&
         xnn_setup_convolution2d_nhwc_f32(operator_, nullptr, input_.data(), output_.data()) ==
             xnn_status_success;
}

bool Layer::make(uint32_t flags, pthreadpool_t pool) {
  drop();
  pool_ = pool;
  std::fill(output_.begin(), output_.end(), std::numeric_limits<float>::quiet_NaN());
  if (xnn_initialize(nullptr) != xnn_status_success) return false;
  return shape_.kernel == 0 ? make_linear(flags) : make_convolution(flags);
}

void Layer::run() { xnn_run_operator(operator_, pool_); }

double Layer::worst_error(size_t every) const {
  double worst = 0;
  for (size_t i = 0; i < output_.size(); i += every) {
    const size_t row = i / shape_.columns, column = i % shape_.columns;
    const size_t x = row % shape_.out_side(), rest = row / shape_.out_side();
    const size_t y = rest % shape_.out_side(), image = rest / shape_.out_side();
    double sum = bias_[column], all = std::fabs(bias_[column]);
    for (size_t tap = 0; tap < shape_.taps(); ++tap) {
      size_t from = row;
      if (shape_.kernel != 0) {
        const size_t in_y = y * shape_.stride + tap / shape_.kernel - shape_.kernel / 2;
        const size_t in_x = x * shape_.stride + tap % shape_.kernel - shape_.kernel / 2;
        if (in_y >= shape_.side || in_x >= shape_.side) continue;  // wraps above
        from = (image * shape_.side + in_y) * shape_.side + in_x;
      }
      for (size_t k = 0; k < shape_.depth; ++k) {
        const size_t place = shape_.is_transposed
                                 ? k * shape_.columns + column
                                 : (column * shape_.taps() + tap) * shape_.depth + k;
        const double product =
            static_cast<double>(input_[from * shape_.depth + k]) * weights_[place];
        sum += product;
        all += std::fabs(product);
      }
    }
    sum = std::clamp<double>(sum, shape_.low, shape_.high);
    const double error = std::fabs(output_[i] - sum) / all;
    if (!(error <= worst)) worst = std::isnan(error) ? INFINITY : error;
  }
  return worst;
}

}  // namespace petrel::third_party::xnnpack::split
