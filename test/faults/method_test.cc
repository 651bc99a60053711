// SPDX-License-Identifier: Apache-2.0
//
// What Program and Method answer to a caller: right use, and wrong use.

#include <gtest/gtest.h>

#include <cmath>

#include "test/faults/loaded.h"

namespace petrel::faults {
namespace {

using runtime::EValue;
using runtime::MethodMeta;
using runtime::Tag;

class MethodTest : public ::testing::Test {
 protected:
  QuietLog quiet_;
  Input input_;
};

TEST_F(MethodTest, ComputesItsOutput) {
  Loaded loaded{Recipe()};
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  const Tensor out = method->get_output(0).toTensor();
  // x + [10, 20, 30]
  const float expected[] = {10, 21, 32, 13, 24, 35};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(out.const_data_ptr<float>()[i], expected[i]);
}

TEST_F(MethodTest, DescribesItself) {
  Loaded loaded{Recipe()};
  EXPECT_EQ(loaded.program().num_methods(), 1u);
  EXPECT_STREQ(loaded.program().get_method_name(0).get(), "forward");
  EXPECT_EQ(loaded.program().get_method_name(1).error(), Error::InvalidArgument);
  const Result<MethodMeta> meta = loaded.program().method_meta("forward");
  ASSERT_TRUE(meta.ok());
  EXPECT_STREQ(meta->name(), "forward");
  EXPECT_EQ(meta->num_inputs(), 1u);
  EXPECT_EQ(meta->input_tag(0).get(), Tag::Tensor);
  EXPECT_EQ(meta->input_tensor_meta(0)->nbytes(), 24u);
  EXPECT_TRUE(meta->input_tensor_meta(0)->is_memory_planned());
  EXPECT_EQ(meta->input_tensor_meta(1).error(), Error::InvalidArgument);
  EXPECT_EQ(meta->num_outputs(), 1u);
  EXPECT_EQ(meta->output_tensor_meta(0)->sizes().size(), 2u);
  EXPECT_EQ(meta->num_memory_planned_buffers(), 1u);
  EXPECT_EQ(meta->memory_planned_buffer_size(0).get(), 64);
  EXPECT_EQ(meta->memory_planned_buffer_size(1).error(), Error::InvalidArgument);
  EXPECT_EQ(meta->num_instructions(), 1u);
  EXPECT_EQ(meta->num_backends(), 0u);
  EXPECT_FALSE(meta->uses_backend("XnnpackBackend"));
  EXPECT_EQ(meta->num_attributes(), 0u);
}

TEST_F(MethodTest, NamesTheMethodsThereAreWhenOneIsMissing) {
  Loaded loaded{Recipe()};
  EXPECT_EQ(loaded.program().load_method("backward", loaded.memory()).error(), Error::NotFound);
  EXPECT_EQ(QuietLog::last(), "the program has no method \"backward\", but \"forward\"");
  EXPECT_EQ(loaded.program().load_method("", loaded.memory()).error(), Error::NotFound);
  EXPECT_EQ(loaded.program().load_method("forward", nullptr).error(), Error::InvalidArgument);
}

TEST_F(MethodTest, NeedsPlannedMemory) {
  Loaded loaded{Recipe()};
  BlockAllocator allocator(nullptr);
  MemoryManager none(&allocator);
  EXPECT_EQ(loaded.program().load_method("forward", &none).error(), Error::InvalidArgument);
  alignas(16) uint8_t small[32];
  Span<uint8_t> spans[] = {small};
  HierarchicalAllocator arenas{spans};
  MemoryManager too_small(&allocator, &arenas);
  EXPECT_EQ(loaded.program().load_method("forward", &too_small).error(),
            Error::MemoryAllocationFailed);
  alignas(16) uint8_t large[128];
  spans[0] = Span<uint8_t>(large + 1, 64);
  MemoryManager misaligned(&allocator, &arenas);
  EXPECT_EQ(loaded.program().load_method("forward", &misaligned).error(), Error::InvalidArgument);
}

TEST_F(MethodTest, RefusesWrongInputs) {
  Loaded loaded{Recipe()};
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(method->execute(), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "input 0 of method \"forward\" has not been set");
  EXPECT_EQ(method->set_input(input_.tensor(), 1), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "input 1 of method \"forward\" cannot be set, there are 1");
  EXPECT_EQ(method->set_input(EValue(int64_t{1}), 0), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "input 0 is Int, must be Tensor");

  int32_t sizes[] = {2, 3};
  int64_t integers[6] = {};
  TensorImpl wrong_type(ScalarType::Long, 2, sizes, integers);
  EXPECT_EQ(method->set_input(Tensor(&wrong_type), 0), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "input 0 is int64, must be float32");
  TensorImpl wrong_rank(ScalarType::Float, 1, sizes, input_.data);
  EXPECT_EQ(method->set_input(Tensor(&wrong_rank), 0), Error::InvalidArgument);
  int32_t other_sizes[] = {2, 2};
  TensorImpl wrong_sizes(ScalarType::Float, 2, other_sizes, input_.data);
  EXPECT_EQ(method->set_input(Tensor(&wrong_sizes), 0), Error::NotSupported);
  uint8_t order[] = {1, 0};
  TensorImpl wrong_order(ScalarType::Float, 2, sizes, input_.data, order);
  EXPECT_EQ(method->set_input(Tensor(&wrong_order), 0), Error::InvalidArgument);
  TensorImpl no_data(ScalarType::Float, 2, sizes);
  EXPECT_EQ(method->set_input(Tensor(&no_data), 0), Error::InvalidArgument);
  int32_t huge[] = {INT32_MAX, INT32_MAX};
  TensorImpl overflow(ScalarType::Float, 2, huge, input_.data);
  EXPECT_EQ(method->set_input(Tensor(&overflow), 0), Error::InvalidArgument);
  EXPECT_EQ(method->execute(), Error::InvalidArgument);

  const EValue two[] = {input_.tensor(), input_.tensor()};
  EXPECT_EQ(method->set_inputs(two), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "2 inputs were given, method \"forward\" has 1");
  EXPECT_EQ(method->set_inputs({}), Error::InvalidArgument);
  EXPECT_EQ(method->set_inputs({two, 1}), Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
}

TEST_F(MethodTest, RefusesImpossibleScalars) {
  Recipe recipe;
  recipe.plans[0].values[0] = planned_tensor({}, 0);
  Loaded loaded{recipe};
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  int32_t sizes[] = {-1};
  TensorImpl impossible(ScalarType::Float, 1, sizes, input_.data);
  EXPECT_EQ(method->set_input(Tensor(&impossible), 0), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "input 0 has impossible sizes, dim order or type");
}

// A constant and a number as input and output.
TEST_F(MethodTest, BindsNothingToConstantsAndNumbers) {
  Recipe recipe;
  recipe.plans[0].inputs = {0, 1};
  recipe.plans[0].outputs = {1, 2};
  Loaded loaded{recipe};
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  int32_t sizes[] = {3};
  TensorImpl three(ScalarType::Float, 1, sizes, input_.data);
  EXPECT_EQ(method->set_input(Tensor(&three), 1), Error::InvalidState);
  EXPECT_EQ(QuietLog::last(), "input 1 is a constant of the program and cannot be set");
  float out[8];
  EXPECT_EQ(method->set_output_data_ptr(out, sizeof(out), 0), Error::InvalidState);
  EXPECT_EQ(QuietLog::last(), "output 0 lies in memory of the program");
  EXPECT_EQ(method->set_output_data_ptr(out, sizeof(out), 1), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "output 1 is Int, not a tensor");
  EValue values[2];
  EXPECT_EQ(method->get_inputs(values, 1), Error::InvalidArgument);
  EXPECT_EQ(method->get_inputs(values, 2), Error::Ok);
}

TEST_F(MethodTest, CopiesPlannedInputsAndAliasesOthers) {
  Loaded planned{Recipe()};
  Result<Method> method = planned.method();
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  input_.data[0] = 1000;
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[0], 10);

  Recipe recipe;
  recipe.plans[0].values[0].place.reset();
  Loaded unplanned(recipe);
  Result<Method> other = unplanned.method();
  ASSERT_EQ(other->set_input(input_.tensor(), 0), Error::Ok);
  input_.data[0] = 2000;
  ASSERT_EQ(other->execute(), Error::Ok);
  EXPECT_EQ(other->get_output(0).toTensor().const_data_ptr<float>()[0], 2010);
  // Misaligned memory could only be copied, and here it is not.
  alignas(8) uint8_t bytes[32];
  TensorImpl misaligned(ScalarType::Float, 2, input_.sizes, bytes + 2);
  EXPECT_EQ(other->set_input(Tensor(&misaligned), 0), Error::InvalidArgument);
}

TEST_F(MethodTest, WritesOutputsWhereTheCallerSays) {
  Recipe recipe;
  recipe.plans[0].values[3].place.reset();
  Loaded loaded(recipe);
  Result<Method> method = loaded.method();
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidState);
  float out[6];
  EXPECT_EQ(method->set_output_data_ptr(out, 23, 0), Error::InvalidArgument);
  EXPECT_EQ(method->set_output_data_ptr(nullptr, 24, 0), Error::InvalidArgument);
  EXPECT_EQ(method->set_output_data_ptr(out, 24, 1), Error::InvalidArgument);
  EXPECT_EQ(method->set_output_data_ptr(out, 24, 0), Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(out[5], 35);

  Loaded planned{Recipe()};
  Result<Method> other = planned.method();
  EXPECT_EQ(other->set_output_data_ptr(out, 24, 0), Error::InvalidState);
}

TEST_F(MethodTest, ResizesWithinItsBound) {
  Recipe recipe;
  for (const size_t i : {0, 3}) {
    recipe.plans[0].values[i].sizes = {4, 3};
    recipe.plans[0].values[i].dynamism = 1;
  }
  recipe.plans[0].values[3].place->offset = 48;
  recipe.plans[0].arenas[1] = 96;
  Loaded loaded(recipe);
  Result<Method> method = loaded.method();
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().size(0), 2);
  int32_t sizes[] = {4, 3};
  float data[15] = {};
  TensorImpl at_bound(ScalarType::Float, 2, sizes, data);
  EXPECT_EQ(method->set_input(Tensor(&at_bound), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().size(0), 4);
  sizes[0] = 5;
  TensorImpl above(ScalarType::Float, 2, sizes, data);
  EXPECT_EQ(method->set_input(Tensor(&above), 0), Error::NotSupported);
}

TEST_F(MethodTest, TakesOnlyTheNumbersItWasMadeWith) {
  Recipe recipe;
  PlanRecipe& plan = recipe.plans[0];
  plan.values.push_back(number_value(fb::KernelTypes::Double, 0.5));
  plan.values.push_back(number_value(fb::KernelTypes::Bool, 1));
  plan.values.push_back(number_value(fb::KernelTypes::String, 0));
  plan.values.back().text = "mode";
  plan.values.push_back(number_value(fb::KernelTypes::Null, 0));
  plan.inputs = {0, 2, 4, 5, 6, 7};
  Loaded loaded(recipe);
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(method->set_input(EValue(int64_t{2}), 1), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(EValue(int64_t{1}), 1), Error::Ok);
  EXPECT_EQ(method->set_input(EValue(0.51), 2), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(EValue(std::nan("")), 2), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(EValue(0.50001), 2), Error::Ok);
  EXPECT_EQ(method->set_input(EValue(false), 3), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(EValue(true), 3), Error::Ok);
  EXPECT_EQ(method->set_input(EValue(std::string_view("other")), 4), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(EValue(std::string_view("mode")), 4), Error::Ok);
  EXPECT_EQ(method->set_input(EValue(), 5), Error::Ok);
  EXPECT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
}

TEST_F(MethodTest, AnswersOutOfRangeWithNone) {
  Loaded loaded{Recipe()};
  Result<Method> method = loaded.method();
  EXPECT_TRUE(method->get_output(1).isNone());
  EXPECT_TRUE(method->get_input(1).isNone());
  EValue values[2];
  EXPECT_EQ(method->get_outputs(values, 0), Error::InvalidArgument);
  EXPECT_EQ(method->get_outputs(values, 2), Error::Ok);
  EXPECT_TRUE(values[0].isTensor());
  EXPECT_TRUE(values[1].isNone());
  EXPECT_EQ(method->get_inputs(values, 1), Error::Ok);
}

TEST_F(MethodTest, StepsThroughInstructions) {
  Loaded loaded{Recipe()};
  Result<Method> method = loaded.method();
  EXPECT_EQ(method->step(), Error::InvalidArgument);
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  EXPECT_EQ(method->reset_execution(), Error::InvalidState);
  EXPECT_EQ(method->step(), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidState);
  EXPECT_EQ(method->set_input(input_.tensor(), 0), Error::InvalidState);
  EXPECT_EQ(method->reset_execution(), Error::InvalidState);
  EXPECT_EQ(method->step(), Error::EndOfMethod);
  EXPECT_EQ(method->step(), Error::EndOfMethod);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[0], 10);
  EXPECT_EQ(method->reset_execution(), Error::Ok);
  EXPECT_EQ(method->execute(), Error::Ok);
}

// A counter that a failed execution leaves in the middle starts anew.
TEST_F(MethodTest, RunsAgainAfterAnError) {
  Recipe recipe;
  PlanRecipe& plan = recipe.plans[0];
  plan.values.push_back(number_value(fb::KernelTypes::Int, 0));  // 4
  plan.operators.push_back({"executorch_prim::add", "Scalar"});
  InstructionRecipe count;
  count.first = 1;
  count.args = {4, 2, 4};
  plan.chains[0].insert(plan.chains[0].begin(), count);
  plan.outputs = {4};
  plan.values[3].place.reset();
  Loaded loaded(recipe);
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok());
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(method->execute(), Error::InvalidState);
    EXPECT_EQ(method->get_output(0).toInt(), 0);
  }
}

TEST_F(MethodTest, KeepsStateBetweenExecutionsAndStartsWithTheInitialOne) {
  Recipe recipe;
  recipe.segments.emplace_back(24);
  const float initial[] = {1, 1, 1, 2, 2, 2};
  std::memcpy(recipe.segments[1].data(), initial, sizeof(initial));
  recipe.mutable_data = {{1, {0, 0}}};
  recipe.plans[0].values[3].constant = 1;
  // state = state + c
  recipe.plans[0].chains[0][0].args = {3, 1, 2, 3, 3};
  Loaded loaded(recipe);
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok());
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[5], 62);
}

}  // namespace
}  // namespace petrel::faults
