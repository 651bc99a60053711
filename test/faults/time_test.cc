// SPDX-License-Identifier: Apache-2.0
//
// Files with many parts that have names: whoever looks for one of them must not go
// through all of them each time.

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "extension/module/module.h"
#include "test/faults/attack.h"
#include "test/faults/test_kernels.h"

namespace petrel::faults {
namespace {

using extension::Module;

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

// The backend of the tests asks for every key there is.
TEST(TimeTest, ManyKeysInAnyOrder) {
  Recipe recipe;
  for (int i = kMany; i > 0; --i) recipe.named_data.emplace_back("key" + std::to_string(i), 0);
  recipe.segments.emplace_back(16);
  add_delegate(recipe, [](DelegateRecipe& delegate) { delegate.index = 1; });
  EXPECT_LT(seconds_to_load_method(recipe), kMostSeconds);
}

}  // namespace
}  // namespace petrel::faults
