// SPDX-License-Identifier: Apache-2.0
//
// A module while memory ends. It gets other data, at each allocation in turn: it has all of that,
// or runs as before. It loads another method: those that are loaded keep their state.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "extension/module/module.h"
#include "test/faults/attack.h"
#include "test/faults/loaded.h"

namespace {

// Allocations until one fails; none does while it is 0.
size_t until_failure = 0;

bool is_failing() { return until_failure > 0 && --until_failure == 0; }

}  // namespace

void* operator new(size_t size) {
  void* const memory = is_failing() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace petrel::faults {
namespace {

using extension::Module;
using runtime::Backend;
using runtime::BackendExecutionContext;
using runtime::BackendInitContext;
using runtime::BackendInterface;
using runtime::CompileSpec;
using runtime::DelegateHandle;
using runtime::EValue;

// The handle is the first float of "weight", in memory of the method; executing puts it into
// the last argument.
class OneWeightBackend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }
  Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer*,
                               Span<const CompileSpec>) const override {
    PETREL_ASSIGN_OR_RETURN(Span<float> kept,
                            context.get_runtime_allocator()->allocate_list<float>(1));
    PETREL_ASSIGN_OR_RETURN(const FreeableBuffer data,
                            context.get_named_data_map()->get_data("weight"));
    kept[0] = *static_cast<const float*>(data.data());
    return static_cast<DelegateHandle*>(kept.data());
  }
  Error execute(BackendExecutionContext&, DelegateHandle* handle,
                Span<EValue*> args) const override {
    args.back()->toTensor().mutable_data_ptr<float>()[0] = *static_cast<const float*>(handle);
    return Error::Ok;
  }
  void destroy(DelegateHandle* handle) const override { *static_cast<float*>(handle) = -1; }
};

Backend one_weight_backend() {
  static OneWeightBackend backend;
  return {"TestBackend", &backend};
}

// "bias", which kernels add, and "weight", which a delegate returns, of one number.
class OneNumber final : public NamedDataMap {
 public:
  explicit OneNumber(float number) : bias_{number, number, number}, weight_{number} {}

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    if (key == "bias") return FreeableBuffer(bias_, sizeof(bias_), nullptr);
    if (key == "weight") return FreeableBuffer(weight_, sizeof(weight_), nullptr);
    return Error::NotFound;
  }
  Result<uint32_t> get_num_keys() const override { return 2u; }
  Result<const char*> get_key(uint32_t index) const override {
    return index == 0 ? "bias" : "weight";
  }

 private:
  alignas(16) float bias_[3];
  alignas(16) float weight_[1];
};

Recipe two_outputs() {
  Recipe recipe;
  constant(recipe).extra = ExtraRecipe{"bias", fb::TensorDataLocation::EXTERNAL, {}};
  constant(recipe).constant = 0;
  recipe.inline_payloads = {{'w'}};
  add_delegate(recipe, [](DelegateRecipe& delegate) {
    delegate.id = "TestBackend";
    delegate.location = 0;
  });
  add_value(recipe, planned_tensor({1}, 64));
  plan(recipe).arenas[1] = 128;
  plan(recipe).outputs = {3, 4};
  add_instruction(recipe, Arguments::DelegateCall, 0, 0);
  plan(recipe).chains[0].back().args = {0, 4};
  return recipe;
}

class ReplaceMemoryTest : public ::testing::Test {
 protected:
  ReplaceMemoryTest() : registry_(test_registry().kernels(), kBackends) {}

  std::unique_ptr<Module> load() {
    Module::Options options;
    options.registry = &registry_;
    options.named_data_map = &base_;
    auto module = Module::load(bytes_.data(), bytes_.size(), options);
    EXPECT_TRUE(module.ok()) << QuietLog::last();
    return module.ok() ? std::move(*module) : nullptr;
  }

  // Both outputs for an input that begins with 0.
  std::vector<float> run(Module& module) {
    const auto outputs = module.forward({input_.tensor()});
    EXPECT_TRUE(outputs.ok()) << QuietLog::last();
    if (!outputs.ok()) return {};
    return {*(*outputs)[0].toTensor().const_data_ptr<float>(),
            *(*outputs)[1].toTensor().const_data_ptr<float>()};
  }

  // False where memory ended.
  static bool replace(Module& module, const NamedDataMap& map, size_t failing) {
    until_failure = failing;
    bool is_replaced = false;
    try {
      is_replaced = module.replace_data(map).ok();
    } catch (const std::bad_alloc&) {
    }
    until_failure = 0;
    return is_replaced;
  }

  static constexpr runtime::BackendLibrary kBackends[] = {&one_weight_backend};
  const runtime::Registry registry_;
  const std::vector<uint8_t> bytes_ = build(two_outputs());
  const OneNumber base_{1};
  QuietLog quiet_;
  Input input_;
};

TEST_F(ReplaceMemoryTest, DataIsReplacedWholeOrNotAtAll) {
  const std::vector<float> before = {1, 1}, between = {2, 2}, after = {3, 3};
  size_t failing = 1;
  for (bool is_replaced = false; !is_replaced; ++failing) {
    SCOPED_TRACE(failing);
    const auto module = load();
    ASSERT_NE(module, nullptr);
    ASSERT_EQ(run(*module), before);
    const OneNumber first(2), second(3);
    // What is replaced may be the app's first data, or data that replaced it.
    ASSERT_TRUE(replace(*module, first, 0));
    ASSERT_EQ(run(*module), between);
    is_replaced = replace(*module, second, failing);
    EXPECT_EQ(run(*module), is_replaced ? after : between);
    const auto bias = module->get_data("bias");
    ASSERT_TRUE(bias.ok());
    EXPECT_EQ(*static_cast<const float*>(bias->data()), is_replaced ? 3 : 2);
    ASSERT_TRUE(replace(*module, second, 0) && replace(*module, base_, 0));
    EXPECT_EQ(run(*module), before);
  }
  EXPECT_GT(failing, 20u);
}

// Has no memory for any delegate.
class NoMemoryBackend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }
  Result<DelegateHandle*> init(BackendInitContext&, FreeableBuffer*,
                               Span<const CompileSpec>) const override {
    throw std::bad_alloc();
  }
  Error execute(BackendExecutionContext&, DelegateHandle*, Span<EValue*>) const override {
    return Error::Internal;
  }
  void destroy(DelegateHandle*) const override {}
};

Backend no_memory_backend() {
  static NoMemoryBackend backend;
  return {"TestBackend", &backend};
}

// "forward" returns a state that is 7 at first, in an arena that it has in common with "other",
// which has a delegate as well.
Recipe one_state() {
  Recipe recipe;
  ValueRecipe state = planned_tensor({1}, 0);
  state.place->memory_id = 2;
  state.constant = 1;
  add_value(recipe, state);
  const float seven = 7;
  std::vector<uint8_t> first_value(sizeof(seven));
  std::memcpy(first_value.data(), &seven, sizeof(seven));
  recipe.mutable_data = {{static_cast<uint32_t>(recipe.segments.size()), {0, 0}}};
  recipe.segments.push_back(first_value);
  plan(recipe).arenas = {0, 64, 64};
  plan(recipe).outputs = {3, 4};
  recipe.plans.push_back(plan(recipe));
  recipe.plans.back().name = "other";
  recipe.inline_payloads = {{'w'}};
  DelegateRecipe delegate;
  delegate.id = "TestBackend";
  delegate.location = 0;
  recipe.plans.back().delegates.push_back(delegate);
  return recipe;
}

TEST(LoadMemoryTest, StateSurvivesAnExceptionWhileAnotherMethodIsLoaded) {
  const QuietLog quiet;
  static constexpr runtime::BackendLibrary kBackends[] = {&no_memory_backend};
  const runtime::Registry registry(test_registry().kernels(), kBackends);
  const std::vector<uint8_t> bytes = build(one_state());
  Module::Options options;
  options.registry = &registry;
  const auto module = Module::load(bytes.data(), bytes.size(), options);
  ASSERT_TRUE(module.ok()) << QuietLog::last();
  Input input;
  const auto state = [&] {
    const auto outputs = (*module)->forward({input.tensor()});
    EXPECT_TRUE(outputs.ok()) << QuietLog::last();
    return outputs.ok() ? (*outputs)[1].toTensor().mutable_data_ptr<float>() : nullptr;
  };
  ASSERT_NE(state(), nullptr);
  EXPECT_EQ(*state(), 7);
  *state() = 9;
  EXPECT_THROW(static_cast<void>((*module)->load_method("other")), std::bad_alloc);
  EXPECT_EQ(*state(), 9);
}

}  // namespace
}  // namespace petrel::faults
