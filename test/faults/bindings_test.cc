// SPDX-License-Identifier: Apache-2.0
//
// Memory of the caller: what a program may do with it, and how long it is known.

#include <gtest/gtest.h>

#include <algorithm>

#include "extension/module/module.h"
#include "test/faults/attack.h"
#include "test/faults/loaded.h"

namespace petrel::faults {
namespace {

using extension::Module;
using runtime::EValue;

// x + c with x, or all, of the caller.
Recipe with_callers_input() {
  Recipe recipe;
  input(recipe).place.reset();
  return recipe;
}

// Value 4, a view of `self`, input or constant, with value 6 for its sizes.
void add_view(Recipe& r, int32_t self, bool is_planned = false) {
  const int32_t size = self == 1 ? 3 : 6;
  ValueRecipe view = planned_tensor({size}, 0);
  if (!is_planned) view.place.reset();
  view.dynamism = 1;
  add_value(r, view);
  add_value(r, number_value(Types::Int, size));
  add_value(r, list_value(Types::IntList, {5}));
  add_kernel_call(r, "executorch_prim::et_view", "default", {self, 6, 4});
}

// In a second execution reads the view of the first, before it makes its own:
//
//   jump to 2 unless flag;  out = view + view;  view of x;  flag = not flag
Recipe with_late_view(int32_t self = 0, bool is_planned = false) {
  Recipe r = with_callers_input();
  plan(r).chains[0].clear();
  plan(r).operators.clear();
  add_view(r, self, is_planned);
  const std::vector<InstructionRecipe> view = plan(r).chains[0];
  plan(r).chains[0].clear();
  add_value(r, number_value(Types::Bool, 0));
  add_value(r, planned_tensor(plan(r).values[4].sizes, 32));
  add_instruction(r, Arguments::JumpFalseCall, 7, 2);
  add_kernel_call(r, "aten::add", "out", {4, 4, 2, 8, 8});
  plan(r).chains[0].insert(plan(r).chains[0].end(), view.begin(), view.end());
  add_kernel_call(r, "executorch_prim::sym_not", "Scalar", {7, 7});
  return r;
}

class BindingsTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Module>> load_module(const Recipe& recipe, bool writable_inputs = false) {
    bytes_ = build(recipe);
    Module::Options options;
    options.registry = &test_registry();
    options.writable_inputs = writable_inputs;
    return Module::load(bytes_.data(), bytes_.size(), options);
  }

  QuietLog quiet_;
  Input input_;
  std::vector<uint8_t> bytes_;
};

TEST_F(BindingsTest, ProgramsDoNotWriteInputs) {
  Recipe recipe = with_callers_input();
  call(recipe).args = {0, 1, 2, 0, 0};
  Loaded loaded(recipe);
  EXPECT_EQ(loaded.method().error(), Error::InvalidProgram);
  EXPECT_NE(QuietLog::last().find("instruction 0:0, aten::add.out, writes argument 3, which is "
                                  "memory of the caller's input (value 0)"),
            std::string::npos)
      << QuietLog::last();
}

TEST_F(BindingsTest, ProgramsDoNotWriteViewsOfInputs) {
  Recipe recipe = with_callers_input();
  add_view(recipe, 0);
  add_kernel_call(recipe, "aten::add", "out", {3, 1, 2, 4, 4});
  Loaded loaded(recipe);
  EXPECT_EQ(loaded.method().error(), Error::InvalidProgram);
  EXPECT_NE(QuietLog::last().find("memory of the caller's input"), std::string::npos);
}

TEST_F(BindingsTest, DelegatesDoNotWriteInputs) {
  Recipe recipe = with_callers_input();
  add_delegate(recipe, [](DelegateRecipe&) {});
  add_instruction(recipe, Arguments::DelegateCall, 0, 0);
  plan(recipe).chains[0].back().args = {3, 0};
  Loaded loaded(recipe);
  EXPECT_EQ(loaded.method().error(), Error::InvalidProgram);
  EXPECT_NE(QuietLog::last().find("XnnpackBackend, writes argument 1"), std::string::npos);
}

TEST_F(BindingsTest, InputsAreWrittenWhereTheAppAllowsIt) {
  Recipe recipe = with_callers_input();
  call(recipe).args = {0, 1, 2, 0, 0};
  plan(recipe).outputs.clear();
  const auto module = load_module(recipe, /*writable_inputs=*/true);
  ASSERT_TRUE(module.ok());
  ASSERT_TRUE((*module)->forward({input_.tensor()}).ok()) << QuietLog::last();
  EXPECT_EQ(input_.data[5], 35);
}

TEST_F(BindingsTest, ViewsEndWithTheirExecution) {
  Loaded loaded(with_late_view());
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok) << QuietLog::last();
  EXPECT_EQ(method->execute(), Error::InvalidState);
  EXPECT_NE(QuietLog::last().find("instruction 0:1, aten::add.out"), std::string::npos);
}

// The tensor that is made a view is then another value's, which no execution forgets: a
// planned one, or one without memory.
TEST_F(BindingsTest, ViewsAreNotMadeOfWhatIsMovedThere) {
  for (const bool is_planned : {false, true}) {
    Recipe recipe = with_late_view();
    ValueRecipe other = plan(recipe).values[4];
    if (is_planned) other.place = PlaceRecipe{1, 64};
    plan(recipe).arenas[1] = 128;
    add_value(recipe, other);
    std::vector<InstructionRecipe>& chain = plan(recipe).chains[0];
    chain[1].args = {9, 9, 2, 8, 8};
    add_instruction(recipe, Arguments::MoveCall, 9, 4);
    std::rotate(chain.begin() + 2, chain.end() - 1, chain.end());
    Loaded loaded(recipe);
    EXPECT_EQ(loaded.method().error(), Error::InvalidProgram);
    EXPECT_NE(QuietLog::last().find("makes value 4 a view, which another value is moved to"),
              std::string::npos)
        << QuietLog::last();
  }
}

// Output 3 is the caller's, and after the first execution it is value 4.
Recipe with_moved_output() {
  Recipe r;
  output(r).place.reset();
  add_value(r, planned_tensor({2, 3}, 64));
  plan(r).arenas[1] = 128;
  call(r).args = {0, 1, 2, 4, 4};
  add_instruction(r, Arguments::MoveCall, 4, 3);
  return r;
}

// Other data may have taken the place of the constant between the two.
TEST_F(BindingsTest, PlannedViewsOfConstantsEndWithTheirExecution) {
  Loaded loaded(with_late_view(1, /*is_planned=*/true));
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok) << QuietLog::last();
  EXPECT_EQ(method->execute(), Error::InvalidState);
}

// A name makes an input, or what it was moved to, an attribute.
TEST_F(BindingsTest, AttributesWithoutMemoryAreRefused) {
  for (const bool is_moved : {false, true}) {
    Recipe recipe;
    plan(recipe).values[0].place.reset();
    size_t named = 0;
    if (is_moved) {
      named = plan(recipe).values.size();
      add_value(recipe, planned_tensor({2, 3}, 64));
      plan(recipe).arenas[1] = 128;
      add_instruction(recipe, Arguments::MoveCall, 0, static_cast<int32_t>(named));
    }
    plan(recipe).values[named].extra = ExtraRecipe{"x", fb::TensorDataLocation::SEGMENT, {}};
    Loaded loaded(recipe);
    Result<Method> method = loaded.method();
    ASSERT_TRUE(method.ok()) << QuietLog::last();
    ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok) << QuietLog::last();
    EXPECT_TRUE(method->get_attribute("x").ok());
    method->unbind_inputs();
    EXPECT_EQ(method->get_attribute("x").error(), Error::InvalidState);
    EXPECT_EQ(QuietLog::last(), "\"x\" of method \"forward\" has no memory between executions");
  }
}

// A jump leads past the instruction that makes the output.
TEST_F(BindingsTest, OutputsThatAreNotMadeAreNamed) {
  for (const bool is_moved : {false, true}) {
    Recipe recipe;
    plan(recipe).chains[0].clear();
    plan(recipe).operators.clear();
    add_instruction(recipe, Arguments::JumpFalseCall, 0, 2);
    if (is_moved) {
      output(recipe).place.reset();
      add_instruction(recipe, Arguments::MoveCall, 0, 3);
    } else {
      add_view(recipe, 0);
      plan(recipe).outputs = {4};
    }
    plan(recipe).chains[0][0].first = static_cast<int32_t>(plan(recipe).values.size());
    add_value(recipe, number_value(Types::Bool, 0));
    Loaded loaded(recipe);
    Result<Method> method = loaded.method();
    ASSERT_TRUE(method.ok()) << QuietLog::last();
    ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
    EXPECT_EQ(method->execute(), Error::InvalidState);
    EXPECT_EQ(QuietLog::last(),
              "output 0 of method \"forward\" was not made: no instruction came to do it");
  }
}

TEST_F(BindingsTest, OutputsThatWereMovedToStayWhereTheyArePlanned) {
  Loaded loaded(with_moved_output());
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  const void* planned = nullptr;
  for (int i = 0; i < 3; ++i) {
    // Memory that is gone when the method runs next.
    const auto memory = std::make_unique<float[]>(6);
    ASSERT_EQ(method->set_output_data_ptr(memory.get(), 24, 0), Error::Ok);
    ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok) << QuietLog::last();
    const Tensor result = method->get_output(0).toTensor();
    if (i == 0) planned = result.const_data_ptr();
    EXPECT_EQ(result.const_data_ptr(), planned) << "execution " << i;
    EXPECT_EQ(result.const_data_ptr<float>()[5], 35);
  }
}

TEST_F(BindingsTest, ViewsOfOutputsEndWhereTheseGetOtherMemory) {
  Recipe recipe = with_callers_input();
  output(recipe).place.reset();
  add_view(recipe, 3);
  plan(recipe).values[4].extra = ExtraRecipe{"view", fb::TensorDataLocation::SEGMENT, {}};
  plan(recipe).outputs = {3, 4};
  Loaded loaded(recipe);
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  auto gone = std::make_unique<float[]>(6);
  ASSERT_EQ(method->set_output_data_ptr(gone.get(), 24, 0), Error::Ok);
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok) << QuietLog::last();
  ASSERT_TRUE(method->get_attribute("view").ok());
  EXPECT_EQ(method->get_output(1).toTensor().const_data_ptr<float>()[5], 35);
  // Bindings that fail change nothing.
  const auto memory = std::make_unique<float[]>(6);
  EXPECT_EQ(method->set_output_data_ptr(memory.get(), 23, 0), Error::InvalidArgument);
  ASSERT_TRUE(method->get_attribute("view").ok());
  ASSERT_EQ(method->set_output_data_ptr(memory.get(), 24, 0), Error::Ok);
  gone.reset();
  EXPECT_EQ(method->get_attribute("view").error(), Error::InvalidState);
  EXPECT_EQ(method->get_output(1).toTensor().const_data_ptr(), nullptr);
  ASSERT_EQ(method->execute(), Error::Ok) << QuietLog::last();
  EXPECT_EQ(method->get_attribute("view")->const_data_ptr(), memory.get());
}

TEST_F(BindingsTest, OutputsAreNotBoundBetweenSteps) {
  Recipe recipe;
  output(recipe).place.reset();
  Loaded loaded(recipe);
  Result<Method> method = loaded.method();
  float memory[6] = {};
  ASSERT_EQ(method->set_output_data_ptr(memory, sizeof(memory), 0), Error::Ok);
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->step(), Error::Ok);
  EXPECT_EQ(method->set_output_data_ptr(memory, sizeof(memory), 0), Error::InvalidState);
  EXPECT_EQ(QuietLog::last(), "output 0 cannot be set while the method is being stepped through");
}

TEST_F(BindingsTest, UnboundInputsAreNamed) {
  Loaded loaded(with_callers_input());
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method->points_at_inputs());
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  // Bindings last until they are replaced or forgotten.
  input_.data[0] = 7;
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[0], 17);
  method->unbind_inputs();
  EXPECT_EQ(method->get_input(0).toTensor().const_data_ptr(), nullptr);
  EXPECT_EQ(method->execute(), Error::InvalidArgument);
  EXPECT_EQ(QuietLog::last(), "input 0 of method \"forward\" has not been set");
}

TEST_F(BindingsTest, UnboundOutputsAreNamed) {
  Recipe recipe;
  output(recipe).place.reset();
  Loaded loaded(recipe);
  Result<Method> method = loaded.method();
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  EXPECT_EQ(method->execute(), Error::InvalidState);
  EXPECT_EQ(QuietLog::last(), "output 0 of method \"forward\" has been given no memory");
}

TEST_F(BindingsTest, ModulesForgetInputs) {
  const auto module = load_module(with_late_view());
  ASSERT_TRUE(module.ok());
  {
    const auto gone = std::make_unique<Input>();
    ASSERT_TRUE((*module)->forward({gone->tensor()}).ok());
  }
  EXPECT_EQ((*module)->get_input("forward", 0).toTensor().const_data_ptr(), nullptr);
  EXPECT_EQ((*module)->forward({input_.tensor()}).error(), Error::InvalidState);
  EXPECT_EQ((*module)->get_input("forward", 0).toTensor().const_data_ptr(), nullptr);
}

// An output that is the input, one that is a view of it, one that is a view of
// planned memory.
TEST_F(BindingsTest, OutputsOutliveTheInputsTheyLieIn) {
  Recipe recipe = with_callers_input();
  add_view(recipe, 0);
  ValueRecipe view = plan(recipe).values[4];
  add_value(recipe, view);
  add_kernel_call(recipe, "executorch_prim::et_view", "default", {3, 6, 7});
  plan(recipe).outputs = {0, 4, 7};
  const auto module = load_module(recipe);
  ASSERT_TRUE(module.ok());
  auto gone = std::make_unique<Input>();
  const auto outputs = (*module)->forward({gone->tensor()});
  ASSERT_TRUE(outputs.ok()) << QuietLog::last();
  for (float& x : gone->data) x = -1;
  gone.reset();
  const float expected[] = {5, 5, 35};
  for (size_t i = 0; i < 3; ++i) {
    const Tensor tensor = (*outputs)[i].toTensor();
    ASSERT_EQ(tensor.numel(), 6u);
    ASSERT_NE(tensor.const_data_ptr(), nullptr);
    EXPECT_EQ(tensor.const_data_ptr<float>()[5], expected[i]) << i;
  }
  // They may be inputs again.
  const auto next = (*module)->forward({(*outputs)[0]});
  ASSERT_TRUE(next.ok()) << QuietLog::last();
  EXPECT_EQ((*next)[1].toTensor().const_data_ptr<float>()[5], 5);
}

// Input 0 of at most so many floats, which is the output, too, and input 1, which is copied.
Recipe with_returned_input(int32_t most) {
  Recipe recipe;
  plan(recipe).chains[0].clear();
  plan(recipe).operators.clear();
  plan(recipe).arenas[1] = int64_t{4} * most;
  input(recipe) = planned_tensor({most}, 0);
  input(recipe).dynamism = 1;
  add_value(recipe, input(recipe));
  input(recipe).place.reset();
  plan(recipe).inputs = {0, 4};
  plan(recipe).outputs = {0};
  return recipe;
}

struct Floats {
  explicit Floats(int32_t count) : sizes{count}, data(static_cast<size_t>(count), 1) {}
  Tensor tensor() { return Tensor(&impl); }

  int32_t sizes[1];
  std::vector<float> data;
  TensorImpl impl{ScalarType::Float, 1, sizes, data.data()};
};

// What was returned of the input keeps its sizes while the input gets others.
TEST_F(BindingsTest, ReturnedInputsHaveSizesOfTheirOwn) {
  for (const int32_t first : {1, 1000}) {
    const auto module = load_module(with_returned_input(1000));
    ASSERT_TRUE(module.ok()) << QuietLog::last();
    Floats before(first), second(1), after(1001 - first);
    const auto outputs = (*module)->execute("forward", {before.tensor(), second.tensor()});
    ASSERT_TRUE(outputs.ok()) << QuietLog::last();
    const Tensor returned = (*outputs)[0].toTensor();
    // The second call gives input 0 its sizes, and then fails.
    EXPECT_FALSE((*module)->execute("forward", {after.tensor(), EValue(int64_t{1})}).ok());
    EXPECT_EQ(returned.size(0), first);
    EXPECT_TRUE(returned.impl()->is_consistent());
    const auto next = (*module)->execute("forward", {after.tensor(), returned});
    ASSERT_TRUE(next.ok()) << QuietLog::last();
    EXPECT_EQ((*module)->get_input("forward", 1).toTensor().size(0), first);
  }
}

// Lists that the app shares between its tensors.
TEST_F(BindingsTest, InputsHaveTheBytesOfTheirSizes) {
  Loaded loaded(with_returned_input(50));
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  Floats small(1);
  small.sizes[0] = 50;
  for (const size_t index : {size_t{0}, size_t{1}}) {
    EXPECT_EQ(method->set_input(small.tensor(), index), Error::InvalidArgument);
    EXPECT_NE(QuietLog::last().find("has impossible sizes"), std::string::npos) << QuietLog::last();
  }
}

// A byte of the file names an input as an output once more, and each is copied.
TEST_F(BindingsTest, OutputsThatAreOneInputArePaidFor) {
  Recipe recipe = with_callers_input();
  plan(recipe).outputs = std::vector<int32_t>(20, 0);
  bytes_ = build(recipe);
  Module::Options options;
  options.registry = &test_registry();
  for (const size_t most : {size_t{20}, size_t{19}}) {
    options.limits.max_input_bytes = most * input_.tensor().nbytes();
    const auto module = Module::load(bytes_.data(), bytes_.size(), options);
    ASSERT_TRUE(module.ok()) << QuietLog::last();
    EXPECT_EQ((*module)->forward({input_.tensor()}).error(),
              most == 20 ? Error::Ok : Error::OutOfResources);
  }
  EXPECT_NE(QuietLog::last().find("max_input_bytes"), std::string::npos) << QuietLog::last();
}

// An output that the program does not plan lies in memory of the Module, where the
// next one will go.
TEST_F(BindingsTest, UnplannedOutputsMayBeInputs) {
  Recipe recipe = with_callers_input();
  output(recipe).place.reset();
  const auto module = load_module(recipe);
  ASSERT_TRUE(module.ok());
  const auto first = (*module)->forward({input_.tensor()});
  ASSERT_TRUE(first.ok());
  const auto second = (*module)->forward({(*first)[0]});
  ASSERT_TRUE(second.ok()) << QuietLog::last();
  EXPECT_EQ((*second)[0].toTensor().const_data_ptr<float>()[5], 65);
}

}  // namespace
}  // namespace petrel::faults
