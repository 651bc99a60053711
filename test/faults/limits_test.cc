// SPDX-License-Identifier: Apache-2.0
//
// Programs that ask for more than the app allows: each is refused before anything
// is allocated or computed, and the message names the limit.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "extension/module/module.h"
#include "test/faults/attack.h"
#include "test/faults/loaded.h"

namespace petrel::faults {
namespace {

using extension::Module;
using runtime::EValue;
using runtime::Limits;

constexpr int32_t kHuge = INT32_MAX;

// The sum of the arenas is a few bytes in 64 bits.
TEST(LimitsTest, ArenasAreAddedWithoutWrapping) {
  const QuietLog quiet;
  Recipe recipe;
  plan(recipe).arenas = {0, 64, INT64_MAX, INT64_MAX, 2};
  const std::vector<uint8_t> bytes = build(recipe);
  AlignedLoader loader(bytes);
  ProgramOptions options;
  options.registry = &test_registry();
  options.limits.max_arena_bytes = UINT64_MAX;
  EXPECT_EQ(Program::load(&loader, options).error(), Error::OutOfResources);
  EXPECT_NE(QuietLog::last().find("arena 2 of 9223372036854775807 bytes"), std::string::npos)
      << QuietLog::last();
}

// Asks for about as many of a limit as it says.
struct Case {
  const char* name;
  void (*change)(Recipe&);
  uint64_t Limits::*limit;
  uint64_t enough;
  // A message of which says how much was wanted.
  const char* words;
};

void PrintTo(const Case& row, std::ostream* out) { *out << row.name; }

const Case kCases[] = {
    {"Arenas", [](Recipe&) {}, &Limits::max_arena_bytes, 64, "max_arena_bytes, which is 63"},
    // One, and add goes over [2, 3], [3] and, named twice, [2, 3].
    {"ElementOperations", [](Recipe&) {}, &Limits::max_element_operations, 22,
     "needs 22 of max_element_operations, which is 21, of which 21 are left"},
    {"ElementOperationsOfTwo", [](Recipe& r) { plan(r).chains[0].push_back(plan(r).chains[0][0]); },
     &Limits::max_element_operations, 44,
     "needs 22 of max_element_operations, which is 43, of which 21 are left"},
    // The loops around a size of 0 run all the same.
    {"SizesAroundZero",
     [](Recipe& r) {
       for (ValueRecipe* value : {&input(r), &output(r)}) *value = planned_tensor({5, 7, 0}, 0);
       constant(r).sizes = {1};
       call(r).args = {0, 1, 2, 3, 3};
     },
     &Limits::max_element_operations, 107, "needs 107 of max_element_operations"},
    // The numbers of a list, which each call reads.
    {"Lists",
     [](Recipe& r) {
       add_value(r, list_value(Types::IntList, std::vector<int64_t>(50, 2)));
       call(r).args.push_back(4);
     },
     &Limits::max_element_operations, 72, "needs 72 of max_element_operations"},
    // All elements of a condition are read.
    {"Jumps",
     [](Recipe& r) {
       ValueRecipe condition = planned_tensor({32}, 0);
       condition.scalar_type = static_cast<int8_t>(fb::ScalarType::BOOL);
       add_value(r, condition);
       add_instruction(r, Arguments::JumpFalseCall, 4, 2);
     },
     &Limits::max_element_operations, 55, "needs 33 of max_element_operations"},
    // One by one as declared, and two by three when it is added.
    {"Moves",
     [](Recipe& r) {
       add_value(r, planned_tensor({1, 1}, 60));
       add_instruction(r, Arguments::MoveCall, 0, 4);
       std::swap(plan(r).chains[0][0], plan(r).chains[0][1]);
       plan(r).chains[0][1].args[0] = 4;
     },
     &Limits::max_element_operations, 23, "needs 22 of max_element_operations"},
    {"Instructions", [](Recipe& r) { plan(r).chains[0].push_back(plan(r).chains[0][0]); },
     &Limits::max_instructions, 2, "needs 1 of max_instructions, which is 1, of which 0 are left"},
    {"Outputs", [](Recipe& r) { output(r).place.reset(); }, &Limits::max_input_bytes, 24,
     "needs 24 of max_input_bytes, which is 23"},
};

class LimitTest : public ::testing::TestWithParam<Case> {
 protected:
  // Of loading and running.
  Error run_within(uint64_t limit, std::string* said) {
    Recipe recipe;
    GetParam().change(recipe);
    const std::vector<uint8_t> bytes = build(recipe);
    Module::Options options;
    options.registry = &test_registry();
    options.limits.*GetParam().limit = limit;
    runtime::set_log_hook({[](void* to, runtime::LogLevel, const char* message) {
                             *static_cast<std::string*>(to) += message;
                           },
                           said});
    auto module = Module::load(bytes.data(), bytes.size(), options);
    if (!module.ok()) return module.error();
    const auto meta = (*module)->method_meta("forward");
    const auto info = meta->input_tensor_meta(0);
    std::vector<int32_t> sizes(info->sizes().begin(), info->sizes().end());
    float data[6] = {};
    TensorImpl impl(ScalarType::Float, static_cast<ssize_t>(sizes.size()), sizes.data(), data);
    return (*module)->execute("forward", {EValue(Tensor(&impl))}).error();
  }

  QuietLog quiet_;
};

TEST_P(LimitTest, IsNamedWhenItIsReached) {
  std::string said;
  EXPECT_EQ(run_within(GetParam().enough, &said), Error::Ok) << said;
  EXPECT_EQ(run_within(GetParam().enough - 1, &said), Error::OutOfResources);
  EXPECT_NE(said.find(GetParam().words), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(All, LimitTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(LimitsTest, PayloadsThatDelegatesShareAreForEachOfThem) {
  QuietLog quiet;
  for (const size_t count : {size_t{1}, size_t{40}}) {
    Recipe recipe;
    recipe.segments.emplace_back(4096);
    for (size_t i = 0; i < count; ++i) {
      add_delegate(recipe, [](DelegateRecipe& delegate) { delegate.index = 1; });
    }
    for (const uint64_t limit : {uint64_t{0}, uint64_t{1} << 20}) {
      const std::vector<uint8_t> bytes = build(recipe);
      Module::Options options;
      options.registry = &test_registry();
      options.limits.max_delegate_bytes = limit;
      auto module = Module::load(bytes.data(), bytes.size(), options);
      ASSERT_TRUE(module.ok());
      const bool is_enough = count == 1 || limit != 0;
      EXPECT_EQ((*module)->load_method("forward"), is_enough ? Error::Ok : Error::OutOfResources);
    }
  }
}

// Without names there is no telling what loading another method writes, so all is kept.
TEST(LimitsTest, StateThatIsKeptWhenAnotherMethodIsLoadedCountsAsArenas) {
  QuietLog quiet;
  Recipe recipe;
  plan(recipe).arenas = {0, 64, 4096};
  recipe.plans.push_back(plan(recipe));
  recipe.plans.back().name = "other";
  const std::vector<uint8_t> bytes = build(recipe);
  for (const uint64_t limit : {64 + 2 * 4096, 64 + 2 * 4096 - 1}) {
    Module::Options options;
    options.registry = &test_registry();
    options.limits.max_arena_bytes = limit;
    auto module = Module::load(bytes.data(), bytes.size(), options);
    ASSERT_TRUE(module.ok());
    ASSERT_EQ((*module)->load_method("forward"), Error::Ok);
    const bool is_enough = limit == 64 + 2 * 4096;
    EXPECT_EQ((*module)->load_method("other"), is_enough ? Error::Ok : Error::OutOfResources);
    if (is_enough) continue;
    EXPECT_NE(QuietLog::last().find("the state of methods that are loaded already needs 4096 of "
                                    "max_arena_bytes"),
              std::string::npos)
        << QuietLog::last();
    (*module)->unload_method("forward");
    EXPECT_EQ((*module)->load_method("other"), Error::Ok);
  }
}

// The error of a call of add whose second argument is a list, which it refuses.
Error error_with_list(uint64_t element_operations, void (*change)(Recipe&)) {
  QuietLog quiet;
  Recipe recipe;
  change(recipe);
  call(recipe).args[1] = static_cast<int32_t>(plan(recipe).values.size()) - 1;
  const std::vector<uint8_t> bytes = build(recipe);
  Module::Options options;
  options.registry = &test_registry();
  options.limits.max_element_operations = element_operations;
  auto module = Module::load(bytes.data(), bytes.size(), options);
  if (!module.ok()) return module.error();
  Input input;
  return (*module)->execute("forward", {EValue(input.tensor())}).error();
}

TEST(LimitsTest, EachDelegateOfManyPays) {
  QuietLog quiet;
  Recipe recipe;
  for (int i = 0; i < 100; ++i) {
    recipe.segments.emplace_back(16);
    add_delegate(recipe, [&](DelegateRecipe& delegate) {
      delegate.index = static_cast<uint32_t>(recipe.segments.size() - 1);
    });
  }
  const std::vector<uint8_t> bytes = build(recipe);
  for (const uint64_t limit : {36 * (16 << 10), 36 * (16 << 10) - 1}) {
    Module::Options options;
    options.registry = &test_registry();
    options.limits.max_delegate_bytes = limit;
    auto module = Module::load(bytes.data(), bytes.size(), options);
    ASSERT_TRUE(module.ok());
    EXPECT_EQ((*module)->load_method("forward"),
              limit == 36 * (16 << 10) ? Error::Ok : Error::OutOfResources);
  }
}

TEST(LimitsTest, CountEntriesOfListsThatTheCallerGives) {
  const auto many_times_the_input = [](Recipe& r) {
    input(r).place.reset();
    input(r).dynamism = 1;
    add_value(r, list_value(Types::TensorList, std::vector<int64_t>(100, 0)));
  };
  EXPECT_EQ(error_with_list(500, many_times_the_input), Error::OutOfResources);
  EXPECT_EQ(error_with_list(1000, many_times_the_input), Error::InvalidProgram);
}

TEST(LimitsTest, CountEntriesOfListsThatAreBeyondNumbers) {
  EXPECT_EQ(error_with_list((uint64_t{1} << 63) - 2,
                            [](Recipe& r) {
                              add_value(r, planned_tensor({kHuge, kHuge, 0}, 0));
                              add_value(r, list_value(Types::TensorList, {4, 4, 4}));
                            }),
            Error::OutOfResources);
}

TEST(LimitsTest, HugeShapesWithoutElementsAreTooMuchByDefault) {
  QuietLog quiet;
  Recipe recipe;
  for (ValueRecipe* value : {&input(recipe), &output(recipe)}) {
    *value = planned_tensor({kHuge, kHuge, 0}, 0);
  }
  constant(recipe).sizes = {1};
  const Report report = run(recipe);
  ASSERT_EQ(report.load, Error::Ok);
  EXPECT_EQ(report.methods[0], Error::OutOfResources) << QuietLog::last();
}

}  // namespace
}  // namespace petrel::faults
