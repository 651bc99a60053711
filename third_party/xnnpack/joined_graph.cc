// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/joined_graph.h"

#include <cstdio>
#include <cstdlib>
#include <limits>

namespace petrel::third_party::xnnpack {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint32_t kMaxExternals = 64;

void check(xnn_status status) {
  if (status == xnn_status_success) return;
  std::fprintf(stderr, "XNNPACK refuses the graph: status %d\n", static_cast<int>(status));
  std::abort();
}

}  // namespace

JoinedGraph::JoinedGraph(Placing placing, pthreadpool_t pool) : placing_(placing), pool_(pool) {
  check(xnn_initialize(nullptr));
  check(xnn_create_subgraph(kMaxExternals, 0, &subgraph_));
}

JoinedGraph::~JoinedGraph() {
  if (runtime_ != nullptr) xnn_delete_runtime(runtime_);
  if (subgraph_ != nullptr) xnn_delete_subgraph(subgraph_);
}

Id JoinedGraph::input(size_t channels) {
  const size_t dims[] = {1, kSide, kSide, channels};
  Id id = 0;
  check(xnn_define_tensor_value(subgraph_, xnn_datatype_fp32, 4, dims, nullptr, 0,
                                XNN_VALUE_FLAG_EXTERNAL_INPUT, &id));
  channels_.resize(kMaxExternals);
  channels_[id] = channels;
  return id;
}

// Outputs take the ids behind the input's, in the order in which values are made.
Id JoinedGraph::define(size_t channels) {
  const size_t dims[] = {1, kSide, kSide, channels};
  const auto external = static_cast<uint32_t>(outputs_.size() + 1);
  const bool is_output = placing_ == Placing::kCopies;
  Id id = 0;
  check(xnn_define_tensor_value(subgraph_, xnn_datatype_fp32, 4, dims, nullptr,
                                is_output ? external : XNN_INVALID_VALUE_ID,
                                is_output ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT : 0, &id));
  if (is_output) outputs_.push_back({external, id, {}});
  if (channels_.size() <= id) channels_.resize(id + 1);
  channels_[id] = channels;
  return id;
}

Id JoinedGraph::constant(const std::vector<size_t>& dims, float range) {
  size_t count = 1;
  for (const size_t dim : dims) count *= dim;
  auto data = std::make_unique<std::vector<float>>(count + XNN_EXTRA_BYTES / sizeof(float));
  std::uniform_real_distribution<float> numbers(-range, range);
  for (float& number : *data) number = numbers(random_);
  Id id = 0;
  check(xnn_define_tensor_value(subgraph_, xnn_datatype_fp32, dims.size(), dims.data(),
                                data->data(), XNN_INVALID_VALUE_ID, 0, &id));
  constants_.push_back(std::move(data));
  return id;
}

Id JoinedGraph::convolution(Id x, size_t size, size_t channels) {
  const size_t in = channels_[x];
  const auto edge = static_cast<uint32_t>(size / 2), window = static_cast<uint32_t>(size);
  const Id filter = constant({channels, size, size, in}, 0.5f / static_cast<float>(size));
  const Id bias = constant({channels}, 1);
  const Id out = define(channels);
  check(xnn_define_convolution_2d(subgraph_, edge, edge, edge, edge, window, window, 1, 1, 1, 1, 1,
                                  in, channels, 0, kInfinity, x, filter, bias, out, 0));
  return out;
}

Id JoinedGraph::depthwise(Id x) {
  const size_t channels = channels_[x];
  const Id filter = constant({1, 3, 3, channels}, 0.5f);
  const Id bias = constant({channels}, 1);
  const Id out = define(channels);
  check(xnn_define_depthwise_convolution_2d(subgraph_, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 1, channels,
                                            -kInfinity, kInfinity, x, filter, bias, out, 0));
  return out;
}

Id JoinedGraph::scale(Id x) {
  const size_t channels = channels_[x];
  const Id filter = constant({1, 1, 1, channels}, 1);
  const Id bias = constant({channels}, 1);
  const Id out = define(channels);
  check(xnn_define_depthwise_convolution_2d(subgraph_, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, channels, 0,
                                            kInfinity, x, filter, bias, out, 0));
  return out;
}

Id JoinedGraph::max_pool(Id x) {
  const Id out = define(channels_[x]);
  check(xnn_define_max_pooling_2d(subgraph_, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1, -kInfinity, kInfinity, x,
                                  out, 0));
  return out;
}

Id JoinedGraph::average_pool(Id x) {
  const Id out = define(channels_[x]);
  check(xnn_define_average_pooling_2d(subgraph_, 1, 1, 1, 1, 3, 3, 1, 1, -kInfinity, kInfinity, x,
                                      out, 0));
  return out;
}

Id JoinedGraph::join(const std::vector<Id>& parts) {
  size_t channels = 0;
  for (const Id part : parts) channels += channels_[part];
  const Id out = define(channels);
  if (parts.size() == 2) {
    check(xnn_define_concatenate2(subgraph_, 3, parts[0], parts[1], out, 0));
  } else {
    check(xnn_define_concatenate3(subgraph_, 3, parts[0], parts[1], parts.at(2), out, 0));
  }
  return out;
}

Id JoinedGraph::cut(Id x, size_t first, size_t channels) {
  const size_t offsets[] = {0, 0, 0, first}, sizes[] = {0, 0, 0, channels};
  const Id out = define(channels);
  check(xnn_define_static_slice(subgraph_, 4, offsets, sizes, x, out, 0));
  return out;
}

Id JoinedGraph::negate(Id x) {
  const Id out = define(channels_[x]);
  check(xnn_define_unary(subgraph_, xnn_unary_negate, nullptr, x, out, 0));
  return out;
}

void JoinedGraph::finish(Id output) {
  const size_t dims[] = {1, kSide, kSide, channels_[output]};
  const auto external = static_cast<uint32_t>(outputs_.size() + 1);
  Id id = 0;
  check(xnn_define_tensor_value(subgraph_, xnn_datatype_fp32, 4, dims, nullptr, external,
                                XNN_VALUE_FLAG_EXTERNAL_OUTPUT, &id));
  check(xnn_define_copy(subgraph_, output, id, 0));
  channels_.resize(id + 1);
  channels_[id] = channels_[output];
  outputs_.push_back({external, id, {}});
  check(xnn_create_runtime_v2(subgraph_, pool_, 0, &runtime_));
  xnn_delete_subgraph(subgraph_);
  subgraph_ = nullptr;
}

void JoinedGraph::reshape(size_t batch, size_t height, size_t width) {
  const size_t pixels = batch * height * width;
  const size_t dims[] = {batch, height, width, channels_[0]};
  check(xnn_reshape_external_value(runtime_, 0, 4, dims));
  check(xnn_reshape_runtime(runtime_));
  input_.resize(pixels * channels_[0] + XNN_EXTRA_BYTES / sizeof(float));
  std::mt19937 random(static_cast<uint32_t>(pixels));
  std::uniform_real_distribution<float> numbers(-1, 1);
  for (float& number : input_) number = numbers(random);
  std::vector<xnn_external_value> ends = {{0, input_.data()}};
  for (Output& output : outputs_) {
    output.data.assign(pixels * channels_[output.value] + XNN_EXTRA_BYTES / sizeof(float), 0);
    ends.push_back({output.external_id, output.data.data()});
  }
  check(xnn_setup_runtime_v2(runtime_, ends.size(), ends.data()));
}

void JoinedGraph::run() { check(xnn_invoke_runtime(runtime_)); }

}  // namespace petrel::third_party::xnnpack
