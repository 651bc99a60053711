// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/winograd/convolution.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>

#include "third_party/xnnpack/winograd/flag.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr size_t kAlignment = 64;
// Memory that nobody has written may hold anything.
constexpr int kUnwritten = 0xFF;

uint32_t flag_of(Way way) {
  switch (way) {
    case Way::kDirect:
      return 0;
    case Way::kWinograd:
      return XNN_FLAG_WINOGRAD;
    case Way::kWinogradEachRun:
      return XNN_FLAG_WINOGRAD | XNN_FLAG_WINOGRAD_EACH_RUN;
    case Way::kLargeTiles:
      return XNN_FLAG_WINOGRAD | XNN_FLAG_WINOGRAD_LARGE;
    case Way::kLargeTilesEachRun:
      return XNN_FLAG_WINOGRAD | XNN_FLAG_WINOGRAD_LARGE | XNN_FLAG_WINOGRAD_EACH_RUN;
  }
  return 0;
}

}  // namespace

double Plane::multiply_adds() const {
  return 9.0 * static_cast<double>(images * out_height() * out_width() * depth / groups * outputs);
}

Convolution::Convolution(const Plane& plane) : plane_(plane) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  input_.resize(plane.images * plane.height * plane.width * plane.depth +
                XNN_EXTRA_BYTES / sizeof(float));
  for (float& x : input_) x = std::max(0.0f, normal(random));
  const size_t depth = plane.depth / plane.groups;
  filter_.resize(plane.outputs * 9 * depth);
  const float scale = std::sqrt(2.0f / (9 * static_cast<float>(depth)));
  for (float& x : filter_) x = scale * normal(random);
  bias_.resize(plane.outputs);
  for (float& x : bias_) x = normal(random);
  output_.resize(plane.images * plane.out_height() * plane.out_width() * plane.outputs);
}

Convolution::~Convolution() { drop(); }

void Convolution::drop() {
  if (operator_ != nullptr) xnn_delete_operator(operator_);
  operator_ = nullptr;
  std::free(workspace_);
  workspace_ = nullptr;
}

bool Convolution::make(Way way, pthreadpool_t pool) {
  drop();
  pool_ = pool;
  if (xnn_initialize(nullptr) != xnn_status_success) return false;
  const auto pad = [](size_t size) { return static_cast<uint32_t>(size); };
  if (xnn_create_convolution2d_nhwc_f32(
          pad(plane_.top), pad(plane_.right), pad(plane_.bottom), pad(plane_.left), 3, 3,
          pad(plane_.stride), pad(plane_.stride), pad(plane_.dilation), pad(plane_.dilation),
          pad(plane_.groups), plane_.depth / plane_.groups, plane_.outputs / plane_.groups,
          plane_.depth, plane_.outputs, filter_.data(), bias_.data(), plane_.low, plane_.high,
          flag_of(way), nullptr, nullptr, &operator_) != xnn_status_success) {
    return false;
  }
  return resize(plane_.height, plane_.width);
}

bool Convolution::resize(size_t height, size_t width) {
  size_t bytes = 0, alignment = 0, out_height = 0, out_width = 0;
  if (xnn_reshape_convolution2d_nhwc_f32(operator_, plane_.images, height, width, &bytes,
                                         &alignment, &out_height, &out_width,
                                         pool_) != xnn_status_success) {
    return false;
  }
  std::free(workspace_);
  const size_t room = (bytes + kAlignment) / kAlignment * kAlignment;
  workspace_ = std::aligned_alloc(kAlignment, room);
  if (workspace_ == nullptr) return false;
  std::memset(workspace_, kUnwritten, room);
  std::fill(output_.begin(), output_.end(), std::numeric_limits<float>::quiet_NaN());
  return xnn_setup_convolution2d_nhwc_f32(operator_, workspace_, input_.data(), output_.data()) ==
         xnn_status_success;
}

void Convolution::run() { xnn_run_operator(operator_, pool_); }

double Convolution::expected(size_t image, size_t row, size_t column, size_t channel) const {
  double sum = bias_[channel];
  const size_t depth = plane_.depth / plane_.groups;
  const size_t first = channel / (plane_.outputs / plane_.groups) * depth;
  for (size_t y = 0; y < 3; ++y) {
    for (size_t x = 0; x < 3; ++x) {
      const size_t in_row =
          row * plane_.stride + y * plane_.dilation - plane_.top;  // wraps above the plane
      const size_t in_column = column * plane_.stride + x * plane_.dilation - plane_.left;
      if (in_row >= plane_.height || in_column >= plane_.width) continue;
      const float* pixel =
          input_.data() +
          ((image * plane_.height + in_row) * plane_.width + in_column) * plane_.depth + first;
      const float* weights = filter_.data() + (channel * 9 + y * 3 + x) * depth;
      for (size_t k = 0; k < depth; ++k) sum += static_cast<double>(pixel[k]) * weights[k];
    }
  }
  return sum;
}

double Convolution::worst_error(size_t every) const {
  double worst = 0;
  for (size_t i = 0; i < output_.size(); i += every) {
    const size_t pixel = i / plane_.outputs;
    const size_t row = pixel / plane_.out_width();
    const double exact = expected(row / plane_.out_height(), row % plane_.out_height(),
                                  pixel % plane_.out_width(), i % plane_.outputs);
    const double bounded = std::clamp<double>(exact, plane_.low, plane_.high);
    worst = std::max(worst, std::fabs(output_[i] - bounded));
    if (std::isnan(output_[i])) return std::numeric_limits<double>::infinity();
  }
  return worst;
}

}  // namespace petrel::third_party::xnnpack
