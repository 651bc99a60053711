// SPDX-License-Identifier: Apache-2.0
//
// Other data for a method that is loaded: what is made anew, and that a swap which
// fails leaves no trace.
#include "runtime/executor/data_swap.h"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/log.h"
#include "test/faults/attack.h"
#include "test/faults/loaded.h"

namespace petrel::faults {
namespace {

using runtime::Backend;
using runtime::BackendExecutionContext;
using runtime::BackendInitContext;
using runtime::BackendInterface;
using runtime::CompileSpec;
using runtime::DataSwap;
using runtime::DelegateHandle;
using runtime::EValue;

// What the backend below does, by key.
struct Count {
  int made = 0;
  int destroyed = 0;
};
std::map<std::string, Count> counts;
constexpr uint64_t kHandleBytes = 1000;

// Asks for the key that its payload names, and refuses the data "bad".
class OneKeyBackend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }
  Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                               Span<const CompileSpec>) const override {
    const std::string key(static_cast<const char*>(processed->data()), processed->size());
    PETREL_RETURN_IF_ERROR(context.memory()->take("a handle", kHandleBytes));
    PETREL_ASSIGN_OR_RETURN(const FreeableBuffer data, context.get_named_data_map()->get_data(key));
    if (std::string(static_cast<const char*>(data.data()), data.size()) == "bad") {
      return Error::DelegateInvalidCompatibility;
    }
    ++counts[key].made;
    return new std::string(key);
  }
  Error execute(BackendExecutionContext&, DelegateHandle*, Span<EValue*>) const override {
    return Error::Ok;
  }
  void destroy(DelegateHandle* handle) const override {
    auto* const key = static_cast<std::string*>(handle);
    ++counts[*key].destroyed;
    delete key;
  }
};

Backend one_key_backend() {
  static OneKeyBackend* const backend = new OneKeyBackend;
  return {"TestBackend", backend};
}

// Data by key that a test changes; it stays where it is, as a map promises.
class ChangingMap final : public NamedDataMap {
 public:
  std::map<std::string, std::string, std::less<>> data;

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = data.find(key);
    if (found == data.end()) return Error::NotFound;
    kept_.push_back(found->second);
    return FreeableBuffer(kept_.back().data(), kept_.back().size(), nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(data.size()); }
  Result<const char*> get_key(uint32_t index) const override {
    return std::next(data.begin(), index)->first.c_str();
  }

 private:
  mutable std::list<std::string> kept_;
};

// Two delegates, for "first" and "second"; a bias of kernels, "bias", and a state
// whose first value is "state".
class DataSwapTest : public ::testing::Test {
 protected:
  DataSwapTest() : registry_(test_registry().kernels(), kBackends) { load(recipe()); }

  static Recipe recipe() {
    Recipe recipe;
    recipe.inline_payloads = {{'f', 'i', 'r', 's', 't'}, {'s', 'e', 'c', 'o', 'n', 'd'}};
    for (uint32_t i = 0; i < 2; ++i) {
      DelegateRecipe delegate;
      delegate.id = "TestBackend";
      delegate.location = 0;
      delegate.index = i;
      recipe.plans[0].delegates.push_back(delegate);
    }
    recipe.plans[0].values[1].extra = ExtraRecipe{"bias", fb::TensorDataLocation::EXTERNAL, {}};
    recipe.plans[0].values[1].constant = 0;
    ValueRecipe state = recipe.plans[0].values[1];
    state.extra->name = "state";
    state.place = PlaceRecipe{1, 64};
    recipe.plans[0].values.push_back(state);
    recipe.plans[0].arenas = {0, 128};
    return recipe;
  }

  // Called "view", and remade by every execution.
  static void add_view_of_bias(Recipe& recipe, std::optional<PlaceRecipe> place) {
    const auto first = static_cast<int32_t>(recipe.plans[0].values.size());
    add_value(recipe, number_value(Types::Int, 3));
    add_value(recipe, list_value(Types::IntList, {first}));
    ValueRecipe view = planned_tensor({3}, 0);
    view.place = place;
    view.dynamism = 1;
    view.extra = ExtraRecipe{"view", fb::TensorDataLocation::SEGMENT, {}};
    add_value(recipe, view);
    add_kernel_call(recipe, "executorch_prim::et_view", "default", {1, first + 1, first + 2});
  }

  void load(const Recipe& recipe) {
    method_.reset();
    counts.clear();
    loader_ = std::make_unique<AlignedLoader>(build(recipe));
    ProgramOptions options;
    options.registry = &registry_;
    options.limits.max_delegate_bytes = 4 * kHandleBytes;
    program_ = std::make_unique<Result<Program>>(Program::load(&*loader_, options));
    map_.data = {{"first", "1"},
                 {"second", "2"},
                 {"bias", floats(10)},
                 {"state", floats(1)},
                 {"view", floats(2)}};
    method_ = std::make_unique<Result<Method>>(
        (*program_)->load_method("forward", &memory_, nullptr, &map_));
    EXPECT_TRUE(method_->ok());
  }

  static std::string floats(float element) {
    const float three[] = {element, element, element};
    return {reinterpret_cast<const char*>(three), sizeof(three)};
  }

  Error swap(const std::vector<std::string_view>& changed) {
    DataSwap swap(&**method_, nullptr);
    PETREL_RETURN_IF_ERROR(swap.prepare({changed.data(), changed.size()}));
    swap.commit();
    return Error::Ok;
  }

  // The last element of the sum of 0 .. 5 and the bias.
  float run() {
    Input input;
    EXPECT_EQ((*method_)->set_input(input.tensor(), 0), Error::Ok);
    EXPECT_EQ((*method_)->execute(), Error::Ok);
    return (*method_)->get_output(0).toTensor().const_data_ptr<float>()[5];
  }

  float attribute(const char* name) {
    return (*method_)->get_attribute(name)->const_data_ptr<float>()[2];
  }

  static constexpr runtime::BackendLibrary kBackends[] = {&one_key_backend};
  QuietLog quiet_;
  runtime::Registry registry_;
  std::unique_ptr<AlignedLoader> loader_;
  std::unique_ptr<Result<Program>> program_;
  ChangingMap map_;
  BlockAllocator allocator_{nullptr};
  alignas(16) uint8_t arena_[128] = {};
  Span<uint8_t> span_{arena_, sizeof(arena_)};
  HierarchicalAllocator planned_{{&span_, 1}};
  MemoryManager memory_{&allocator_, &planned_};
  std::unique_ptr<Result<Method>> method_;
};

TEST_F(DataSwapTest, MakesOnlyWhatAsksForTheKeyAnew) {
  EXPECT_EQ(run(), 15);
  map_.data["second"] = "3";
  ASSERT_EQ(swap({"second"}), Error::Ok);
  EXPECT_EQ(counts["first"].made, 1);
  EXPECT_EQ(counts["second"].made, 2);
  EXPECT_EQ(counts["second"].destroyed, 1);
  map_.data["bias"] = floats(20);
  ASSERT_EQ(swap({"bias"}), Error::Ok);
  EXPECT_EQ(run(), 25);
  EXPECT_EQ(attribute("bias"), 20);
  EXPECT_EQ(counts["first"].made + counts["second"].made, 3);
  ASSERT_EQ(swap({"another"}), Error::Ok);
  EXPECT_EQ(counts["first"].made + counts["second"].made, 3);
  method_.reset();
  EXPECT_EQ(counts["first"].destroyed, 1);
  EXPECT_EQ(counts["second"].destroyed, 2);
}

TEST_F(DataSwapTest, LeavesStateAloneUnlessItsFirstValueChanges) {
  ASSERT_EQ(attribute("state"), 1);
  (*method_)->get_attribute("state")->mutable_data_ptr<float>()[2] = 5;
  map_.data["bias"] = floats(20);
  ASSERT_EQ(swap({"bias"}), Error::Ok);
  EXPECT_EQ(attribute("state"), 5);
  map_.data["state"] = floats(7);
  ASSERT_EQ(swap({"state"}), Error::Ok);
  EXPECT_EQ(attribute("state"), 7);
}

TEST_F(DataSwapTest, GivesDataToAllTensorsOfItsKey) {
  Recipe twice = recipe();
  for (size_t i = 0; i < 2; ++i) {
    ValueRecipe value = twice.plans[0].values[1];
    if (i > 0) value.place = PlaceRecipe{1, 80};
    twice.plans[0].values.push_back(value);
  }
  load(twice);
  const auto* const copied = reinterpret_cast<const float*>(arena_ + 80);
  EXPECT_EQ(run(), 15);
  EXPECT_EQ(copied[2], 10);
  map_.data["bias"] = floats(20);
  const std::string_view changed[] = {"bias"};
  DataSwap swap(&**method_, nullptr);
  ASSERT_EQ(swap.prepare(changed), Error::Ok) << QuietLog::last();
  EXPECT_EQ(swap.num_tensors(), 3u);
  EXPECT_EQ(run(), 15);
  swap.commit();
  EXPECT_EQ(run(), 25);
  EXPECT_EQ(copied[2], 20);
}

// The state has become the bias, which the program may not write, nor may a swap by way of it.
TEST_F(DataSwapTest, OfAStateThatWasMovedLeavesWhatWasMovedAlone) {
  Recipe moved = recipe();
  add_instruction(moved, fb::InstructionArguments::MoveCall, 1,
                  static_cast<int32_t>(moved.plans[0].values.size()) - 1);
  load(moved);
  EXPECT_EQ(run(), 15);
  map_.data["state"] = floats(7);
  ASSERT_EQ(swap({"state"}), Error::Ok);
  EXPECT_EQ(attribute("bias"), 10);
  EXPECT_EQ(run(), 15);
}

// Memory of the data is given back, as that of files which were read.
TEST_F(DataSwapTest, EndsViewsOfTheDataThatGoes) {
  Recipe views = recipe();
  add_view_of_bias(views, std::nullopt);
  load(views);
  EXPECT_EQ(run(), 15);
  EXPECT_EQ(attribute("view"), 10);
  map_.data["bias"] = floats(20);
  ASSERT_EQ(swap({"bias"}), Error::Ok);
  EXPECT_EQ((*method_)->get_attribute("view").error(), Error::InvalidState);
  EXPECT_EQ(run(), 25);
  EXPECT_EQ(attribute("view"), 20);
}

// A state that an execution made a view of the bias, which nobody may write.
TEST_F(DataSwapTest, OfAStateThatIsAViewIsWrittenWhereItIsPlanned) {
  Recipe views = recipe();
  add_view_of_bias(views, PlaceRecipe{1, 80});
  views.plans[0].values.back().extra->location = fb::TensorDataLocation::EXTERNAL;
  load(views);
  EXPECT_EQ(run(), 15);
  map_.data["view"] = floats(7);
  ASSERT_EQ(swap({"view"}), Error::Ok);
  EXPECT_EQ(attribute("bias"), 10);
  EXPECT_EQ(attribute("view"), 7);
  EXPECT_EQ((*method_)->get_attribute("view")->const_data_ptr<float>(),
            reinterpret_cast<const float*>(arena_ + 80));
  EXPECT_EQ(run(), 15);
}

// It has its first value whole, whatever sizes it had when the swap was prepared and when it
// is committed.
TEST_F(DataSwapTest, OfAStateOfOtherSizesGivesItThoseThatAreDeclared) {
  Recipe varies = recipe();
  varies.plans[0].values.back().dynamism = 1;
  load(varies);
  const auto resize = [&](int32_t size) {
    return (*method_)->get_attribute("state")->impl()->resize(Span<const int32_t>(&size, 1));
  };
  for (const auto& [before, after] : {std::make_pair(1, 3), std::make_pair(3, 1)}) {
    ASSERT_EQ(resize(before), Error::Ok);
    map_.data["state"] = floats(static_cast<float>(before));
    DataSwap swap(&**method_, nullptr);
    const std::string_view changed[] = {"state"};
    ASSERT_EQ(swap.prepare(changed), Error::Ok) << QuietLog::last();
    ASSERT_EQ(resize(after), Error::Ok);
    swap.commit();
    EXPECT_EQ((*method_)->get_attribute("state")->numel(), 3u);
    EXPECT_EQ(attribute("state"), static_cast<float>(before));
  }
}

TEST_F(DataSwapTest, ChangesNothingWhenItFails) {
  map_.data["bias"] = floats(20);
  map_.data["state"] = floats(20);
  map_.data["first"] = "4";
  map_.data["second"] = "bad";
  EXPECT_EQ(swap({"bias", "first", "second", "state"}), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(counts["first"].made, 2);
  EXPECT_EQ(counts["first"].destroyed, 1);
  EXPECT_EQ(counts["second"].destroyed, 0);
  EXPECT_EQ(run(), 15);
  EXPECT_EQ(attribute("state"), 1);
  // Too short, and missing.
  map_.data["bias"] = "short";
  EXPECT_EQ(swap({"bias"}), Error::InvalidExternalData);
  map_.data.erase("bias");
  EXPECT_EQ(swap({"bias"}), Error::InvalidExternalData);
  map_.data.erase("first");
  std::string messages;
  runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                           *static_cast<std::string*>(context) += std::string(text) + "\n";
                         },
                         &messages});
  EXPECT_EQ(swap({"first"}), Error::NotFound);
  runtime::set_log_hook(runtime::LogHook{});
  // The backend says nothing of it.
  EXPECT_NE(messages.find("the data that the program was given has no key \"first\""),
            std::string::npos)
      << messages;
  EXPECT_EQ(run(), 15);
}

TEST_F(DataSwapTest, GivesBackWhatTheOldDelegateTookOfTheLimit) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(swap({"first", "second"}), Error::Ok) << i;
    ASSERT_EQ(swap({"first"}), Error::Ok) << i;
  }
  EXPECT_EQ(counts["first"].made, 41);
  EXPECT_EQ(counts["first"].destroyed, 40);
}

TEST_F(DataSwapTest, WaitsForTheEndOfAMethodThatIsSteppedThrough) {
  Input input;
  ASSERT_EQ((*method_)->set_input(input.tensor(), 0), Error::Ok);
  ASSERT_EQ((*method_)->step(), Error::Ok);
  EXPECT_EQ(swap({"first"}), Error::InvalidState);
  ASSERT_EQ((*method_)->step(), Error::EndOfMethod);
  ASSERT_EQ((*method_)->reset_execution(), Error::Ok);
  EXPECT_EQ(swap({"first"}), Error::Ok);
}

}  // namespace
}  // namespace petrel::faults
