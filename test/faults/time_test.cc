// SPDX-License-Identifier: Apache-2.0
//
// Files with many parts that have names: whoever looks for one of them must not go
// through all of them each time.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "extension/levels/levels.h"
#include "extension/module/module.h"
#include "runtime/program/program_data_map.h"
#include "schema/additions_generated.h"
#include "test/faults/attack.h"
#include "test/faults/loaded.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

using extension::Module;
namespace add = schema::additions;

// Far more than is needed, and far less than all pairs of kMany take.
constexpr double kMostSeconds = 3;
constexpr int kMany = 60'000;

double seconds_to_load_method(const Recipe& recipe) {
  const std::vector<uint8_t> bytes = build(recipe);
  const auto start = std::chrono::steady_clock::now();
  Module::Options options;
  options.registry = &test_registry();
  auto module = Module::load(bytes.data(), bytes.size(), options);
  EXPECT_TRUE(module.ok());
  if (!module.ok()) return 0;
  EXPECT_EQ((*module)->load_method("forward"), Error::Ok);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(TimeTest, ManyStates) {
  Recipe recipe;
  for (int i = 0; i < kMany; ++i) {
    ValueRecipe state = planned_tensor({1}, 0);
    state.extra = ExtraRecipe{"state" + std::to_string(i), {}, {}};
    add_value(recipe, state);
  }
  EXPECT_LT(seconds_to_load_method(recipe), kMostSeconds);
}

// Tables that have one list of texts in common: who verifies them by way of the tables goes
// through all pairs.
TEST(TimeTest, ManyTablesWithOneListOfTexts) {
  flatbuffers::FlatBufferBuilder builder;
  const auto text = builder.CreateString("a");
  const auto texts =
      builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(4 * kMany, text));
  const auto weight = add::CreateWeight(builder, text, 0, 0, 0, 0, 0, texts);
  const auto weights =
      builder.CreateVector(std::vector<flatbuffers::Offset<add::Weight>>(4 * kMany, weight));
  add::FinishAdditionsBuffer(builder, add::CreateAdditions(builder, 0, 0, weights));
  Recipe recipe;
  recipe.named_data.emplace_back("petrel.program", static_cast<uint32_t>(recipe.segments.size()));
  recipe.segments.emplace_back(builder.GetBufferPointer(),
                               builder.GetBufferPointer() + builder.GetSize());
  const std::vector<uint8_t> bytes = build(recipe);
  AlignedLoader loader(bytes);
  const QuietLog quiet;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(runtime::Program::load(&loader).error(), Error::InvalidProgram);
  EXPECT_NE(QuietLog::last().find("refers to its own parts too often: more than "),
            std::string::npos)
      << QuietLog::last();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), kMostSeconds);
}

// The backend of the tests asks for every key there is.
TEST(TimeTest, ManyKeysInAnyOrder) {
  Recipe recipe;
  for (int i = kMany; i > 0; --i) recipe.named_data.emplace_back("key" + std::to_string(i), 0);
  recipe.segments.emplace_back(16);
  add_delegate(recipe, [](DelegateRecipe& delegate) { delegate.index = 1; });
  EXPECT_LT(seconds_to_load_method(recipe), kMostSeconds);
}

// As many keys, which the program has in no order.
TEST(TimeTest, OtherDataForManyKeys) {
  std::vector<uint8_t> files[2];
  for (int file = 0; file < 2; ++file) {
    Recipe recipe;
    for (int i = 0; i < kMany; ++i) {
      const int number = 100'000 + (file == 0 ? kMany - i : i);
      recipe.named_data.emplace_back("key" + std::to_string(number), 0);
    }
    recipe.segments.emplace_back(16);
    files[file] = build(recipe);
  }
  AlignedLoader loader(files[1]);
  const auto program = runtime::Program::load(&loader);
  ASSERT_TRUE(program.ok());
  const runtime::ProgramDataMap map = program->named_data();
  Module::Options options;
  options.registry = &test_registry();
  auto module = Module::load(files[0].data(), files[0].size(), options);
  ASSERT_TRUE(module.ok());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE((*module)->replace_data(map).ok());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), kMostSeconds);
}

// Each tells how the input of another one is to be read, or asks for it.
TEST(TimeTest, ManyMethodsThatTellLevels) {
  constexpr int kMethods = 1'000;
  Recipe recipe;
  plan(recipe).name = "m";
  input(recipe).scalar_type = static_cast<int8_t>(ScalarType::Char);
  for (int i = 0; i < kMethods; ++i) {
    PlanRecipe told;
    const bool tells = i % 2 == 0;
    told.name = tells ? "m" + std::to_string(i + 1) + "_input0_scale" : "m" + std::to_string(i);
    told.values = {tells ? number_value(Types::Double, 0.5) : input(recipe)};
    (tells ? told.outputs : told.inputs) = {0};
    told.arenas = plan(recipe).arenas;
    told.chains.resize(1);
    recipe.plans.push_back(told);
  }
  const std::vector<uint8_t> bytes = build(recipe);
  AlignedLoader loader(bytes);
  const auto program = runtime::Program::load(&loader);
  ASSERT_TRUE(program.ok());
  const auto start = std::chrono::steady_clock::now();
  const extension::ProgramLevels levels(*program);
  int told = 0;
  for (uint32_t i = 0; i < program->view().num_methods(); ++i) {
    const runtime::MethodView method = program->view().method(i);
    told += levels.is_told_by(method.name()) ? 1 : 0;
    if (method.inputs().empty()) continue;
    EXPECT_TRUE(levels.input(method.name(), 0).ok());
  }
  EXPECT_EQ(told, kMethods / 2);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), kMostSeconds);
}

// Refuses to make the method for what is gone through, and says so at once.
void expect_too_much_to_compare(const Recipe& recipe) {
  const QuietLog quiet;
  Loaded loaded(recipe);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(loaded.method().error(), Error::OutOfResources);
  EXPECT_NE(QuietLog::last().find("too many arguments to compare"), std::string::npos)
      << QuietLog::last();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), kMostSeconds);
}

// A list of so many outputs that all pairs would take minutes.
TEST(TimeTest, ManyOutputsOfOneCall) {
  Recipe recipe;
  add_value(recipe, planned_tensor({0}, 0));
  add_value(recipe, list_value(Types::TensorList, std::vector<int64_t>(kMany, 4)));
  add_kernel_call(recipe, "aten::view_copy", "out", {5, 5});
  expect_too_much_to_compare(recipe);
}

// Calls whose many arguments may each be one of many values.
TEST(TimeTest, ManyArgumentsThatAreMoved) {
  constexpr int kMoved = 31, kArguments = 8'000, kCalls = 1'000;
  Recipe recipe;
  for (int32_t i = 4; i < 4 + kMoved; ++i) {
    add_value(recipe, planned_tensor({2, 3}, 0));
    if (i > 4) add_instruction(recipe, Arguments::MoveCall, i, 4);
  }
  add_value(recipe, list_value(Types::TensorList, std::vector<int64_t>(kArguments, 5)));
  add_kernel_call(recipe, "aten::view_copy", "out", {4 + kMoved, 3, 3});
  const InstructionRecipe call = plan(recipe).chains[0].back();
  for (int i = 1; i < kCalls; ++i) plan(recipe).chains[0].push_back(call);
  expect_too_much_to_compare(recipe);
}

// A list without any tensor is gone through each time that an argument names it.
TEST(TimeTest, ManyArgumentsThatAreOneListOfNothing) {
  constexpr int kArguments = 50'000, kCalls = 20'000;
  Recipe recipe;
  add_value(recipe,
            list_value(Types::OptionalTensorList, std::vector<int64_t>(2 * kMany, int64_t{-1})));
  Recipe of_calls = recipe, of_delegate = recipe;
  add_kernel_call(of_calls, "aten::add", "out", {4, 4, 4, 3, 3});
  const InstructionRecipe call = plan(of_calls).chains[0].back();
  for (int i = 1; i < kCalls; ++i) plan(of_calls).chains[0].push_back(call);
  expect_too_much_to_compare(of_calls);
  add_delegate(of_delegate, [](DelegateRecipe&) {});
  add_instruction(of_delegate, Arguments::DelegateCall, 0, 0);
  plan(of_delegate).chains[0].back().args.assign(kArguments, 4);
  plan(of_delegate).chains[0].back().args.push_back(3);
  expect_too_much_to_compare(of_delegate);
}

// Each tensor that a call returns is held against all its arguments.
TEST(TimeTest, ManyArgumentsThatAreNumbers) {
  constexpr int kNumbers = 2'000'000, kReturned = 2'500;
  Recipe recipe;
  add_value(recipe, planned_tensor({0}, 0));
  add_value(recipe, list_value(Types::TensorList, std::vector<int64_t>(kReturned, 4)));
  std::vector<int32_t> args(kNumbers, 2);
  args.push_back(5);
  add_kernel_call(recipe, "aten::view_copy", "out", args);
  expect_too_much_to_compare(recipe);
}

// Each of many calls writes what may be one of 32 values.
TEST(TimeTest, ManyCallsThatWriteWhatIsMoved) {
  constexpr int kMoved = 31, kCalls = 200'000;
  Recipe recipe;
  for (int32_t i = 4; i < 4 + kMoved; ++i) {
    add_value(recipe, planned_tensor({2, 3}, 0));
    if (i > 4) add_instruction(recipe, Arguments::MoveCall, i, 4);
  }
  add_kernel_call(recipe, "aten::view_copy", "out", {4});
  const InstructionRecipe call = plan(recipe).chains[0].back();
  for (int i = 1; i < kCalls; ++i) plan(recipe).chains[0].push_back(call);
  expect_too_much_to_compare(recipe);
}

// Each call asks for the least size of every dim of every input.
TEST(TimeTest, ManyLeastSizes) {
  constexpr uint32_t kInputs = 16'000, kRank = 12;
  Recipe recipe;
  std::vector<add::LeastSize> rows;
  plan(recipe).inputs.clear();
  for (uint32_t i = 0; i < kInputs; ++i) {
    plan(recipe).inputs.push_back(static_cast<int32_t>(plan(recipe).values.size()));
    ValueRecipe value = planned_tensor(std::vector<int32_t>(kRank, 1), 0);
    value.dynamism = 1;
    add_value(recipe, value);
    for (uint32_t dim = 0; dim < kRank; ++dim) rows.emplace_back(i, dim, 1);
  }
  flatbuffers::FlatBufferBuilder b;
  const auto least = b.CreateVectorOfStructs(rows);
  const auto methods = b.CreateVector({add::CreateMethodAdditions(b, 0, least)});
  add::FinishAdditionsBuffer(b, add::CreateAdditions(b, 0, methods));
  recipe.named_data.emplace_back("petrel.program", static_cast<uint32_t>(recipe.segments.size()));
  recipe.segments.emplace_back(b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize());
  Loaded loaded(recipe);
  Result<Method> method = loaded.method();
  ASSERT_TRUE(method.ok());
  int32_t sizes[kRank];
  std::fill_n(sizes, kRank, 1);
  float number = 0;
  TensorImpl impl(ScalarType::Float, kRank, sizes, &number);
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < kInputs; ++i) {
    ASSERT_EQ(method->set_input(runtime::EValue(Tensor(&impl)), i), Error::Ok);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), kMostSeconds);
}

}  // namespace
}  // namespace petrel::faults
