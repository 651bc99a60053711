// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "extension/device/testing_device.h"
#include "runtime/micro/model/petrel_plan.h"

namespace petrel::extension {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<ValueTrace> try_plan(const petrel_plan& plan) {
  TestingDevice device;
  device.config().plan = &plan;
  device.start();
  auto host =
      Device::open(std::make_unique<FaultyLine>(device, FaultyLine::Faults(), 1), "test", {});
  if (!host.ok()) return host.status();
  DeviceMethod& forward = **(*host)->method("forward");
  const std::vector<int32_t> values = {1, 2, 3, 4};
  std::memcpy(forward.get_input("x")->mutable_data_ptr(), values.data(), 16);
  return trace_device(forward, {});
}

ValueTrace trace_with_plan(const petrel_plan& plan) {
  absl::StatusOr<ValueTrace> trace = try_plan(plan);
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

// The first two steps by turns.
int32_t run_endlessly(void* context, const void* const* inputs, void* const* outputs,
                      uint32_t* next) {
  const int32_t status = testing_plan()->methods[0].run_step(context, inputs, outputs, next);
  if (*next == 3) *next = 1;
  return status;
}

TEST(DeviceTrace, HasNoMoreValuesThanCanBeCompared) {
  petrel_method_plan method = testing_plan()->methods[0];
  method.run_step = run_endlessly;
  petrel_plan plan = *testing_plan();
  plan.methods = &method;
  EXPECT_THAT(std::string(try_plan(plan).status().message()),
              HasSubstr("test: method 'forward' computes more than can be compared, which is "
                        "20000 values of 1000000 inputs"));
}

// What each of them is made from takes as much as their product.
TEST(DeviceTrace, HasNoMoreInputsThanCanBeCompared) {
  petrel_method_plan method = testing_plan()->methods[0];
  std::vector<petrel_plan_tensor> tensors(method.tensors, method.tensors + method.num_tensors);
  std::vector<petrel_plan_step> steps(method.steps, method.steps + method.num_steps);
  constexpr uint16_t kRead = 1100, kWritten = 1000;
  std::vector<uint16_t> read, written;
  for (uint16_t i = 0; i < kRead + kWritten; ++i) {
    std::vector<uint16_t>& list = i < kRead ? read : written;
    list.push_back(static_cast<uint16_t>(tensors.size()));
    tensors.push_back(tensors[1]);
    tensors.back().written_by = i < kRead ? 0 : 1;
  }
  method.tensors = tensors.data();
  method.num_tensors = static_cast<uint32_t>(tensors.size());
  method.steps = steps.data();
  steps[1].reads = read.data();
  steps[1].num_reads = kRead;
  steps[1].writes = written.data();
  steps[1].num_writes = kWritten;
  petrel_plan plan = *testing_plan();
  plan.methods = &method;
  EXPECT_THAT(std::string(try_plan(plan).status().message()),
              HasSubstr("computes more than can be compared"));
  // The same tensor, however often, is one.
  std::fill(read.begin(), read.end(), uint16_t{0});
  const ValueTrace trace = trace_with_plan(plan);
  ASSERT_GT(trace.values.size(), size_t{kWritten});
  EXPECT_EQ(trace.values[trace.values.size() - 5].inputs, std::vector<size_t>{0});
}

TraceValue value_here(const std::string& op, std::vector<int64_t> shape, bool is_input = false) {
  TraceValue value;
  value.op = op;
  value.array.shape = std::move(shape);
  value.is_input = is_input;
  return value;
}

// Values of other operators, of inputs, of another rank or too large are none of the step's.
TEST(DeviceTrace, ValuesHaveTheSizesThatTheyHaveHere) {
  const int32_t least[] = {1};
  petrel_model_metadata model = *testing_metadata();
  petrel_method_info method = model.methods[0];
  petrel_tensor_info input = method.inputs[0];
  input.least_sizes = least;
  method.inputs = &input;
  model.methods = &method;
  TestingDevice device(&model);
  auto host =
      Device::open(std::make_unique<FaultyLine>(device, FaultyLine::Faults(), 1), "test", {});
  ASSERT_TRUE(host.ok()) << host.status();
  ValueTrace here;
  const std::string mul = "aten::mul.out";
  here.values = {value_here("aten::sub.out", {1}), value_here(mul, {1}, /*is_input=*/true),
                 value_here(mul, {2, 2}), value_here(mul, {5}), value_here(mul, {3})};
  const auto trace = trace_device(**(*host)->method("forward"), here);
  ASSERT_TRUE(trace.ok()) << trace.status();
  ASSERT_EQ(trace->values.size(), 4u);
  EXPECT_EQ(trace->values[1].op, mul);
  EXPECT_EQ(trace->values[1].array.shape, std::vector<int64_t>{3});
}

}  // namespace
}  // namespace petrel::extension
