// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device_trace.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "extension/device/testing_device.h"
#include "runtime/micro/model/petrel_plan.h"

namespace petrel::extension {
namespace {

ValueTrace trace_with_plan(const petrel_plan& plan) {
  TestingDevice device;
  device.config().plan = &plan;
  device.start();
  auto host =
      Device::open(std::make_unique<FaultyLine>(device, FaultyLine::Faults(), 1), "test", {});
  EXPECT_TRUE(host.ok()) << host.status();
  if (!host.ok()) return {};
  DeviceMethod& forward = **(*host)->method("forward");
  const std::vector<int32_t> values = {1, 2, 3, 4};
  std::memcpy(forward.get_input("x")->mutable_data_ptr(), values.data(), 16);
  absl::StatusOr<ValueTrace> trace = trace_device(forward, {});
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *std::move(trace) : ValueTrace();
}

TEST(DeviceTrace, TakesWhatIsGivenForInputs) {
  const ValueTrace trace = trace_with_plan(*testing_plan());
  ASSERT_EQ(trace.values.size(), 4u);
  EXPECT_TRUE(trace.values[0].is_input);
  EXPECT_TRUE(trace.values[0].is_seen);
  EXPECT_EQ(trace.values[0].array.shape, std::vector<int64_t>{4});
}

// Of as many bytes, but of other elements, sizes or order: 32 bytes were read where 16 are.
TEST(DeviceTrace, ReadsInputsOnlyAsWhatTheyAre) {
  const petrel_plan& right = *testing_plan();
  const int32_t two[] = {2}, square[] = {2, 2};
  const uint8_t row[] = {0}, rows[] = {0, 1};
  for (const bool is_wide : {true, false}) {
    petrel_method_plan method = right.methods[0];
    std::vector<petrel_plan_tensor> tensors(method.tensors, method.tensors + method.num_tensors);
    if (is_wide) {
      tensors[0].dtype = PETREL_DTYPE_INT64;
      tensors[0].sizes = two;
      tensors[0].dim_order = row;
    } else {
      tensors[0].rank = 2;
      tensors[0].sizes = square;
      tensors[0].dim_order = rows;
    }
    method.tensors = tensors.data();
    petrel_plan plan = right;
    plan.methods = &method;
    const ValueTrace trace = trace_with_plan(plan);
    ASSERT_EQ(trace.values.size(), 4u);
    EXPECT_TRUE(trace.values[0].is_input);
    EXPECT_FALSE(trace.values[0].is_seen);
  }
}

}  // namespace
}  // namespace petrel::extension
