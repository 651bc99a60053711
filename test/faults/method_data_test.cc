// SPDX-License-Identifier: Apache-2.0
//
// What a Method gets from outside and tells: named data, external tensors, the
// tracer, other threads.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/faults/loaded.h"

namespace petrel::faults {
namespace {

using runtime::EventTracerEntry;

class MethodDataTest : public ::testing::Test {
 protected:
  QuietLog quiet_;
  Input input_;
};

// Named data of an application: one key.
class OneKeyMap final : public NamedDataMap {
 public:
  OneKeyMap(std::string key, std::string data) : key_(std::move(key)), data_(std::move(data)) {}
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    if (key != key_) return Error::NotFound;
    return FreeableBuffer(data_.data(), data_.size(), nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return 1u; }
  Result<const char*> get_key(uint32_t) const override { return key_.c_str(); }

 private:
  std::string key_;
  std::string data_;
};

Recipe delegate_recipe(const std::string& weight) {
  Recipe recipe;
  recipe.inline_payloads = {{1, 2, 3}};
  DelegateRecipe delegate;
  delegate.location = 0;
  recipe.plans[0].delegates = {delegate};
  recipe.segments.emplace_back(weight.begin(), weight.end());
  recipe.named_data = {{"weight", 1}};
  return recipe;
}

TEST_F(MethodDataTest, RefusesTwoMeaningsOfOneKey) {
  Loaded loaded(delegate_recipe("same"));
  const OneKeyMap same("weight", "same");
  EXPECT_TRUE(loaded.method(&same).ok());
  const OneKeyMap other("weight", "else");
  EXPECT_EQ(loaded.method(&other).error(), Error::InvalidExternalData);
  const OneKeyMap longer("weight", "same and more");
  EXPECT_EQ(loaded.method(&longer).error(), Error::InvalidExternalData);
  const OneKeyMap unrelated("bias", "else");
  EXPECT_TRUE(loaded.method(&unrelated).ok());
  EXPECT_EQ(live_handles(), 0);
}

TEST_F(MethodDataTest, TakesTheMeaningThatTheCallerPrefers) {
  const OneKeyMap other("weight", "else");
  Loaded external(delegate_recipe("same"), DataPrecedence::ExternalFirst);
  EXPECT_TRUE(external.method(&other).ok());
  Loaded program(delegate_recipe("same"), DataPrecedence::ProgramFirst);
  EXPECT_TRUE(program.method(&other).ok());
}

TEST_F(MethodDataTest, FindsNamedDataInAnyOrder) {
  for (const bool sorted : {true, false}) {
    Recipe recipe;
    recipe.named_data.clear();
    for (int i = 0; i < 100; ++i) {
      const int n = sorted ? i : (i * 37) % 100;
      recipe.named_data.push_back(
          {"key" + std::to_string(100 + n), static_cast<uint32_t>(recipe.segments.size())});
      recipe.segments.push_back({static_cast<uint8_t>(n)});
    }
    Loaded loaded(recipe);
    const Result<const NamedDataMap*> map = loaded.program().get_named_data_map();
    ASSERT_TRUE(map.ok());
    EXPECT_EQ((*map)->get_num_keys().get(), 100u);
    for (int i = 0; i < 100; ++i) {
      const auto data = (*map)->get_data("key" + std::to_string(100 + i));
      ASSERT_TRUE(data.ok());
      EXPECT_EQ(*static_cast<const uint8_t*>(data->data()), i);
    }
    EXPECT_EQ((*map)->get_data("key").error(), Error::NotFound);
    EXPECT_EQ((*map)->get_data("key200").error(), Error::NotFound);
    EXPECT_EQ((*map)->get_data("").error(), Error::NotFound);
    EXPECT_EQ((*map)->get_key(100).error(), Error::InvalidArgument);
  }
}

TEST_F(MethodDataTest, FindsExternalTensorsInAMapWithoutLayouts) {
  Recipe recipe;
  recipe.plans[0].values[1].extra = ExtraRecipe{"bias", fb::TensorDataLocation::EXTERNAL, {}};
  Loaded loaded(recipe);
  const std::string twelve_bytes(12, '\0');
  const OneKeyMap right("bias", twelve_bytes);
  EXPECT_TRUE(loaded.method(&right).ok());
  const OneKeyMap too_short("bias", "short");
  EXPECT_EQ(loaded.method(&too_short).error(), Error::InvalidExternalData);
  const OneKeyMap too_long("bias", twelve_bytes + "x");
  EXPECT_EQ(loaded.method(&too_long).error(), Error::InvalidExternalData);
  const OneKeyMap missing("other", twelve_bytes);
  EXPECT_EQ(loaded.method(&missing).error(), Error::InvalidExternalData);
}

// One key of any size, which counts how often its data is asked for and copied.
class CountingMap final : public NamedDataMap {
 public:
  explicit CountingMap(size_t bytes) : data_(bytes / sizeof(float), 7) {}

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    if (key != "bias") return Error::NotFound;
    ++asked;
    return FreeableBuffer(data_.data(), data_.size() * sizeof(float), nullptr);
  }
  Error load_data_into(std::string_view key, void* buffer, size_t size) const override {
    if (key != "bias" || size > data_.size() * sizeof(float)) return Error::NotFound;
    copied += size;
    std::memcpy(buffer, data_.data(), size);
    return Error::Ok;
  }
  Result<uint32_t> get_num_keys() const override { return 1u; }
  Result<const char*> get_key(uint32_t) const override { return "bias"; }

  mutable size_t asked = 0;
  mutable uint64_t copied = 0;

 private:
  std::vector<float> data_;
};

// Each of them would have a buffer of its own, and be checked and read again.
TEST_F(MethodDataTest, ExternalTensorsOfOneKeyShareItsData) {
  constexpr size_t kTensors = 1000;
  Recipe recipe;
  ValueRecipe& constant = recipe.plans[0].values[1];
  constant.extra = ExtraRecipe{"bias", fb::TensorDataLocation::EXTERNAL, {}};
  ValueRecipe state = planned_tensor({3}, 64);
  state.extra = constant.extra;
  const ValueRecipe other = constant;
  recipe.plans[0].arenas[1] = 128;
  recipe.plans[0].values.push_back(state);
  recipe.plans[0].values.resize(5 + kTensors, other);
  recipe.plans[0].chains[0][0].args[1] = 4 + kTensors;
  Loaded loaded(recipe);
  const CountingMap map(12);
  Result<Method> method = loaded.method(&map);
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  EXPECT_EQ(map.asked, 1u);
  EXPECT_EQ(map.copied, 0u);
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[5], 12);
}

// One of them is none that the data fits.
TEST_F(MethodDataTest, ExternalTensorsOfOneKeyAreEachHeldAgainstIt) {
  Recipe recipe;
  recipe.plans[0].values[1].extra = ExtraRecipe{"bias", fb::TensorDataLocation::EXTERNAL, {}};
  ValueRecipe other = recipe.plans[0].values[1];
  other.sizes = {4};
  recipe.plans[0].values.push_back(other);
  Loaded loaded(recipe);
  const CountingMap map(12);
  EXPECT_EQ(loaded.method(&map).error(), Error::InvalidExternalData);
  EXPECT_NE(QuietLog::last().find("value 4 cannot be set up"), std::string::npos)
      << QuietLog::last();
}

// Constants of the program that data from outside takes the place of.
TEST_F(MethodDataTest, ConstantsOfOneNameAreReplacedByOneBuffer) {
  Recipe recipe;
  recipe.plans[0].values[1].extra = ExtraRecipe{"bias", {}, {}};
  recipe.plans[0].values.resize(1000, recipe.plans[0].values[1]);
  Loaded loaded(recipe, DataPrecedence::ExternalFirst);
  const CountingMap map(12);
  Result<Method> method = loaded.method(&map);
  ASSERT_TRUE(method.ok()) << QuietLog::last();
  EXPECT_LE(map.asked, 2u);
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[5], 12);
  const OneKeyMap unrelated("other", "data");
  EXPECT_TRUE(loaded.method(&unrelated).ok());
}

// So many states of a mebibyte at one place, with one first value.
Recipe with_states(int count) {
  Recipe recipe;
  ValueRecipe state = planned_tensor({1 << 18}, 0);
  recipe.plans[0].arenas[1] = 1 << 20;
  recipe.plans[0].values.resize(recipe.plans[0].values.size() + static_cast<size_t>(count), state);
  return recipe;
}

// A gibibyte, and 256 times the file.
TEST_F(MethodDataTest, FirstValuesOfStatesArePaidFor) {
  ProgramOptions options;
  options.registry = &test_registry();
  for (const int count : {1'200, 1'400}) {
    Recipe recipe = with_states(count);
    for (size_t i = 4; i < recipe.plans[0].values.size(); ++i) {
      recipe.plans[0].values[i].constant = 1;
    }
    recipe.segments.emplace_back(1 << 20);
    recipe.mutable_data = {{1, {0, 0}}};
    AlignedLoader loader(build(recipe));
    EXPECT_EQ(Program::load(&loader, options).error(),
              count == 1'200 ? Error::Ok : Error::InvalidProgram)
        << QuietLog::last();
  }
  EXPECT_NE(QuietLog::last().find("initial values up to it have more than 13"), std::string::npos)
      << QuietLog::last();
}

TEST_F(MethodDataTest, StatesThatAreCopiesOfOneKeyArePaidFor) {
  Recipe recipe = with_states(1'200);
  for (size_t i = 4; i < recipe.plans[0].values.size(); ++i) {
    recipe.plans[0].values[i].extra = ExtraRecipe{"bias", fb::TensorDataLocation::EXTERNAL, {}};
  }
  AlignedLoader loader(build(recipe));
  ProgramOptions options;
  options.registry = &test_registry();
  const Result<Program> program = Program::load(&loader, options);
  ASSERT_TRUE(program.ok()) << QuietLog::last();
  std::vector<uint8_t> arena((1 << 20) + 16);
  Span<uint8_t> span(arena.data() + (16 - reinterpret_cast<uintptr_t>(arena.data()) % 16) % 16,
                     1 << 20);
  HierarchicalAllocator planned({&span, 1});
  BlockAllocator allocator(nullptr);
  MemoryManager memory(&allocator, &planned);
  const CountingMap map(1 << 20);
  EXPECT_EQ(program->load_method("forward", &memory, nullptr, &map).error(), Error::InvalidProgram);
  EXPECT_EQ(map.asked, 1u);
  EXPECT_EQ(map.copied, 1u << 20);
  EXPECT_NE(QuietLog::last().find("value 1"), std::string::npos) << QuietLog::last();
}

// The same with a layout: data that is not as the program wants it, whatever it
// says of itself.
class LayoutMap final : public NamedDataMap {
 public:
  LayoutMap(ScalarType type, std::vector<int32_t> sizes, std::vector<uint8_t> order, size_t floats)
      : type_(type), sizes_(std::move(sizes)), order_(std::move(order)), data_(floats) {}
  Result<FreeableBuffer> get_data(std::string_view) const override {
    return FreeableBuffer(data_.data(), data_.size() * sizeof(float), nullptr);
  }
  Result<const runtime::TensorLayout> get_tensor_layout(std::string_view) const override {
    return runtime::TensorLayout::create({sizes_.data(), sizes_.size()},
                                         {order_.data(), order_.size()}, type_);
  }
  Result<uint32_t> get_num_keys() const override { return 1u; }
  Result<const char*> get_key(uint32_t) const override { return "bias"; }

 private:
  const ScalarType type_;
  const std::vector<int32_t> sizes_;
  const std::vector<uint8_t> order_;
  const std::vector<float> data_;
};

TEST_F(MethodDataTest, RefusesExternalTensorsOfAnotherLayout) {
  Recipe recipe;
  ValueRecipe& value = recipe.plans[0].values[1];
  value.sizes = {2, 3};
  value.dim_order = {0, 1};
  value.extra = ExtraRecipe{"bias", fb::TensorDataLocation::EXTERNAL, {}};
  Loaded loaded(recipe);
  const auto error_of = [&](const LayoutMap& map) { return loaded.method(&map).error(); };
  EXPECT_EQ(error_of({ScalarType::Float, {2, 3}, {0, 1}, 6}), Error::Ok) << QuietLog::last();
  EXPECT_EQ(error_of({ScalarType::Float, {2, 3}, {0, 1}, 7}), Error::Ok);
  EXPECT_EQ(error_of({ScalarType::Int, {2, 3}, {0, 1}, 6}), Error::InvalidExternalData);
  EXPECT_EQ(error_of({ScalarType::Float, {3, 2}, {0, 1}, 6}), Error::InvalidExternalData);
  EXPECT_EQ(error_of({ScalarType::Float, {2, 3}, {1, 0}, 6}), Error::InvalidExternalData);
  EXPECT_EQ(error_of({ScalarType::Float, {2, 3}, {0, 1}, 5}), Error::InvalidExternalData);
}

class CountingTracer final : public EventTracer {
 public:
  void create_event_block(const char* name) override { blocks.emplace_back(name); }
  EventTracerEntry start_profiling(const char* name, uint32_t, uint32_t) override {
    events.emplace_back(name);
    ++open;
    return {};
  }
  void end_profiling(EventTracerEntry) override { --open; }
  EventTracerEntry start_profiling_delegate(const char*, uint32_t) override { return {}; }
  void end_profiling_delegate(EventTracerEntry, const void*, size_t) override {}

  std::vector<std::string> blocks;
  std::vector<std::string> events;
  int open = 0;
};

TEST_F(MethodDataTest, TellsTheTracer) {
  Loaded loaded{Recipe()};
  CountingTracer tracer;
  Result<Method> method = loaded.method(nullptr, &tracer);
  ASSERT_EQ(method->set_input(input_.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(tracer.blocks, (std::vector<std::string>{"load", "execute"}));
  EXPECT_EQ(tracer.events, (std::vector<std::string>{"method", "aten::add.out"}));
  EXPECT_EQ(tracer.open, 0);
}

TEST_F(MethodDataTest, LoadsAndRunsOneProgramInManyThreads) {
  Recipe recipe;
  AlignedLoader loader(build(recipe));
  ProgramOptions options;
  options.registry = &test_registry();
  const Result<Program> program = Program::load(&loader, options);
  ASSERT_TRUE(program.ok());
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        BlockAllocator allocator(nullptr);
        alignas(16) uint8_t arena[64] = {};
        Span<uint8_t> spans[] = {arena};
        HierarchicalAllocator planned{spans};
        MemoryManager memory(&allocator, &planned);
        Result<Method> method = program->load_method("forward", &memory);
        Input input;
        if (method.ok() && method->set_input(input.tensor(), 0) == Error::Ok &&
            method->execute() == Error::Ok) {
          good[t] += method->get_output(0).toTensor().const_data_ptr<float>()[5] == 35;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : good) EXPECT_EQ(count, 50);
}

TEST_F(MethodDataTest, MovesWithoutLosingDelegates) {
  Loaded loaded(delegate_recipe("data"));
  {
    Result<Method> method = loaded.method();
    ASSERT_TRUE(method.ok());
    EXPECT_EQ(live_handles(), 1);
    const Method moved = std::move(*method);
    EXPECT_EQ(live_handles(), 1);
  }
  EXPECT_EQ(live_handles(), 0);
}

}  // namespace
}  // namespace petrel::faults
