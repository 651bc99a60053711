// SPDX-License-Identifier: Apache-2.0
#include "test/xnnpack/delegate_run.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "gtest/gtest.h"

namespace petrel::test {

using runtime::Error;
using runtime::EValue;

absl::StatusOr<Lowered> lower(const exir::Graph& graph) {
  exir::Subprogram partition;
  partition.method = graph.name();
  partition.graph = &graph;
  Lowered lowered;
  const exir::Backend* backend = backends::xnnpack::aot::xnnpack_backend();
  absl::StatusOr<exir::ResultMap> results =
      backend->preprocess_all({{partition.method, {partition}}}, lowered.store);
  if (!results.ok()) return results.status();
  const exir::Blob::Bytes bytes = (*results)[partition.method][0].payload.bytes();
  lowered.payload.assign(bytes.data(), bytes.data() + bytes.size());
  return lowered;
}

Handle::Handle(const std::vector<uint8_t>& payload, const runtime::NamedDataMap* map)
    : backend_(backends::xnnpack::xnnpack_backend().backend) {
  runtime::BackendInitContext context(nullptr, nullptr, "forward", map, {});
  runtime::FreeableBuffer processed(payload.data(), payload.size(), nullptr);
  auto handle = backend_->init(context, &processed, {});
  if (handle.ok()) {
    handle_ = *handle;
  } else {
    error_ = handle.error();
  }
}

Handle::~Handle() {
  if (handle_ != nullptr) backend_->destroy(handle_);
}

Error Handle::execute(const std::vector<CaseTensor>& inputs, std::vector<CaseTensor>* outputs) {
  // Sizes and data outlive the call; outputs may shrink but not grow.
  std::deque<CaseTensor> tensors(inputs.begin(), inputs.end());
  tensors.insert(tensors.end(), outputs->begin(), outputs->end());
  std::deque<std::vector<int64_t>> strides;
  std::deque<std::vector<uint8_t>> orders;
  std::deque<runtime::TensorImpl> impls;
  std::deque<EValue> values;
  std::vector<EValue*> args;
  for (CaseTensor& tensor : tensors) {
    strides.emplace_back(tensor.sizes.size());
    orders.emplace_back(tensor.sizes.size());
    for (size_t i = 0; i < tensor.sizes.size(); ++i) orders.back()[i] = static_cast<uint8_t>(i);
    runtime::compute_strides({tensor.sizes.data(), tensor.sizes.size()}, {}, strides.back().data());
    impls.emplace_back(runtime::ScalarType::Float, tensor.sizes.size(), tensor.sizes.data(),
                       tensor.values.data(), orders.back().data(), strides.back().data(),
                       runtime::TensorShapeDynamism::DYNAMIC_BOUND);
    values.emplace_back(runtime::Tensor(&impls.back()));
    args.push_back(&values.back());
  }
  runtime::BackendExecutionContext context(nullptr, nullptr, "forward", nullptr);
  const Error error = backend_->execute(context, handle_, {args.data(), args.size()});
  for (size_t i = 0; i < outputs->size(); ++i) {
    CaseTensor& output = tensors[inputs.size() + i];
    output.values.resize(impls[inputs.size() + i].numel());
    (*outputs)[i] = output;
  }
  return error;
}

::testing::AssertionResult is_near(const CaseTensor& actual, const CaseTensor& expected) {
  if (actual.sizes != expected.sizes || actual.values.size() != expected.values.size()) {
    return ::testing::AssertionFailure()
           << "sizes " << ::testing::PrintToString(actual.sizes) << ", expected "
           << ::testing::PrintToString(expected.sizes);
  }
  float largest = 0;
  for (const float value : expected.values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const float a = actual.values[i];
    const float b = expected.values[i];
    if (std::isnan(b) ? std::isnan(a) : a == b) continue;
    if (std::isfinite(b) && std::fabs(a - b) <= 1e-5f * largest + 1e-6f) continue;
    return ::testing::AssertionFailure() << "element " << i << " is " << a << ", expected " << b;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace petrel::test
