// SPDX-License-Identifier: Apache-2.0
//
// What a method of a device takes for its inputs, and how long it is driven.
#include "extension/device/device_method.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "extension/device/testing_device.h"

namespace petrel::extension {
namespace {

using runtime::ScalarType;
using runtime::Tensor;
using runtime::TensorImpl;

std::unique_ptr<Device> opened(TestingDevice& device) {
  auto host = Device::open(std::make_unique<FaultyLine>(device, FaultyLine::Faults(), 1), "test");
  EXPECT_TRUE(host.ok()) << host.status();
  return host.ok() ? std::move(*host) : nullptr;
}

// Of the testing model, with another input: of 16 bytes, too.
class OtherInput {
 public:
  OtherInput() {
    method_.inputs = &input_;
    metadata_.methods = &method_;
  }
  petrel_tensor_info& input() { return input_; }
  petrel_method_info& method() { return method_; }
  const petrel_model_metadata* metadata() const { return &metadata_; }

 private:
  petrel_model_metadata metadata_ = *testing_metadata();
  petrel_method_info method_ = metadata_.methods[0];
  petrel_tensor_info input_ = method_.inputs[0];
};

std::string set(Device& host, ScalarType type, std::vector<int32_t> sizes,
                std::vector<uint8_t> order = {}, bool has_data = true) {
  std::vector<int64_t> data(16);
  TensorImpl impl(type, static_cast<ssize_t>(sizes.size()), sizes.data(),
                  has_data ? data.data() : nullptr, order.empty() ? nullptr : order.data());
  const absl::Status status = (*host.method("forward"))->set_input("x", Tensor(&impl));
  return status.ok() ? "" : status.ToString();
}

TEST(DeviceMethod, TakesInputsOfItsTypeAndSizes) {
  TestingDevice device;
  const auto host = opened(device);
  EXPECT_EQ(set(*host, ScalarType::Int, {4}), "");
  EXPECT_EQ(set(*host, ScalarType::Float, {4}),
            "INVALID_ARGUMENT: input 0 'x' is float32, must be int32 in the model's dim order");
  EXPECT_EQ(set(*host, ScalarType::Int, {3}), "INVALID_ARGUMENT: 'x' has sizes [3], must be [4]");
  EXPECT_EQ(set(*host, ScalarType::Int, {4, 1}),
            "INVALID_ARGUMENT: 'x' has sizes [4,1], must be [4]");
  EXPECT_EQ(set(*host, ScalarType::Int, {4}, {}, /*has_data=*/false),
            "INVALID_ARGUMENT: input 0 'x' has no data");
}

TEST(DeviceMethod, TakesInputsOfItsDimOrder) {
  const int32_t square[] = {2, 2};
  const uint8_t columns[] = {1, 0};
  OtherInput model;
  model.input().rank = 2;
  model.input().sizes = square;
  model.input().dim_order = columns;
  TestingDevice device(model.metadata());
  const auto host = opened(device);
  EXPECT_EQ(set(*host, ScalarType::Int, {2, 2}, {1, 0}), "");
  const std::string words =
      "INVALID_ARGUMENT: input 0 'x' is int32, must be int32 in the model's dim order";
  EXPECT_EQ(set(*host, ScalarType::Int, {2, 2}), words);
  EXPECT_EQ(set(*host, ScalarType::Int, {2, 2}, {0, 1}), words);
}

TEST(DeviceMethod, TakesSizesBetweenTheLeastAndTheMost) {
  const int32_t least[] = {2};
  OtherInput model;
  model.input().least_sizes = least;
  TestingDevice device(model.metadata());
  const auto host = opened(device);
  for (const int32_t size : {2, 3, 4}) EXPECT_EQ(set(*host, ScalarType::Int, {size}), "");
  for (const int32_t size : {0, 1, 5}) {
    EXPECT_EQ(set(*host, ScalarType::Int, {size}),
              "INVALID_ARGUMENT: 'x' has sizes [" + std::to_string(size) + "], must be [2..4]");
  }
}

TEST(DeviceMethod, StepsNeedAPlan) {
  TestingDevice device;
  device.config().plan = nullptr;
  device.start();
  const auto host = opened(device);
  const auto nothing = [](uint32_t) { return absl::OkStatus(); };
  EXPECT_EQ((*host->method("forward"))->execute_steps(nothing).ToString(),
            "UNIMPLEMENTED: test: the firmware has no plan of its model, so its steps cannot be "
            "driven; generate it with --device-rpc");
}

// The second step again and again.
int32_t run_endlessly(void*, const void* const*, void* const*, uint32_t* next) {
  *next = 1;
  return PETREL_MODEL_OK;
}

TEST(DeviceMethod, StepsThatDoNotEndAreGivenUp) {
  petrel_method_plan method = testing_plan()->methods[0];
  method.run_step = run_endlessly;
  petrel_plan plan = *testing_plan();
  plan.methods = &method;
  TestingDevice device;
  device.config().plan = &plan;
  device.start();
  SessionOptions options;
  options.max_steps = 100;
  const auto host =
      Device::open(std::make_unique<FaultyLine>(device, FaultyLine::Faults(), 1), "test", options);
  ASSERT_TRUE(host.ok()) << host.status();
  uint32_t steps = 0;
  const absl::Status status = (*(*host)->method("forward"))->execute_steps([&](uint32_t) {
    return ++steps > 100 ? absl::InternalError("for ever") : absl::OkStatus();
  });
  EXPECT_EQ(status.ToString(),
            "RESOURCE_EXHAUSTED: method 'forward' does not end within 100 steps");
}

}  // namespace
}  // namespace petrel::extension
