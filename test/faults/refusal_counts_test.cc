// SPDX-License-Identifier: Apache-2.0
//
// Changes every number, offset, length and field of the golden programs, and holds what is
// said of them, when they are loaded and when they run, to a table: a check that is lost, or
// asked later than another one, moves some of them to other words.
#include "test/refusals/refusal_counts.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "runtime/core/log.h"
#include "schema/additions_generated.h"
#include "test/faults/golden.h"
#include "test/faults/recipe.h"
#include "test/faults/runner.h"
#include "test/fuzz/flatbuffer_sites.h"
#include "test/fuzz/schemas.h"

namespace petrel::faults {
namespace {

using fuzz::Site;

// Each message counts: of some calls the last one only says where it was.
class Messages final {
 public:
  Messages() : before_(runtime::set_log_hook({&keep, this})) {}
  ~Messages() { runtime::set_log_hook(before_); }

  void count(const std::string& seed, refusals::RefusalCounts* counts) {
    if (all_.empty()) counts->add(seed, "");
    for (const std::string& one : all_) counts->add(seed, one);
    all_.clear();
  }

 private:
  static void keep(void* self, runtime::LogLevel, const char* message) {
    static_cast<Messages*>(self)->all_.emplace_back(message);
  }

  std::vector<std::string> all_;
  runtime::LogHook before_;
};

uint64_t number_at(const std::vector<uint8_t>& bytes, const Site& site) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + site.position, site.width);
  return value;
}

// What the site is changed to.
std::vector<uint64_t> values_for(const Site& site, uint64_t now) {
  switch (site.kind) {
    case Site::Kind::kNumber:
      return {0,
              1,
              2,
              3,
              4,
              5,
              7,
              8,
              16,
              now + 1,
              now - 1,
              now + 2,
              now + 4,
              now * 2,
              now + 16,
              uint64_t{1} << 20,
              0x7fffffff,
              uint64_t{1} << 32,
              uint64_t{1} << 62,
              uint64_t{1} << 63,
              ~uint64_t{0}};
    case Site::Kind::kUnion:
      return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    case Site::Kind::kOffset:
      return {0, now - 4, now + 4, now + 8, now + 16, now + 1, 0x7fffffff};
    case Site::Kind::kLength:
      return {0, 1, now - 1, now + 1, now + 4, 0xffffffff};
    case Site::Kind::kField:
      return {0, 4, now + 4, 0xffff};
  }
  return {};
}

// Calls `on_change` with each changed program.
void change_each(const std::vector<uint8_t>& bytes,
                 const std::function<void(const std::vector<uint8_t>&)>& on_change) {
  const std::vector<Site> sites = fuzz::find_sites(
      {fuzz::program_schema(), 0, &fuzz::additions_schema()}, bytes.data(), bytes.size());
  std::vector<uint8_t> changed = bytes;
  for (const Site& site : sites) {
    const uint64_t now = number_at(bytes, site);
    for (const uint64_t value : values_for(site, now)) {
      std::memcpy(changed.data() + site.position, &value, site.width);
      if (changed != bytes) on_change(changed);
    }
    std::memcpy(changed.data() + site.position, &now, site.width);
  }
}

// What no golden program has: scratch memory, names, least sizes and weights that it remembers.
std::vector<uint8_t> additions() {
  namespace add = schema::additions;
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<add::ScratchPlace> scratch = {{0, 16, 0, 0, 1}};
  const std::vector<add::LeastSize> least_sizes = {{0, 0, 1}};
  const std::vector<uint32_t> named_values = {1};
  const std::vector<flatbuffers::Offset<flatbuffers::String>> names = {builder.CreateString("c")};
  const auto method =
      add::CreateMethodAdditionsDirect(builder, &scratch, &least_sizes, &named_values, &names);
  const std::vector<int32_t> sizes = {2, 3};
  const std::vector<uint8_t> order = {0, 1}, digest(32);
  const std::vector<flatbuffers::Offset<flatbuffers::String>> sources = {builder.CreateString("v")};
  const auto weight =
      add::CreateWeightDirect(builder, "w", static_cast<int8_t>(fb::ScalarType::FLOAT), &sizes,
                              &order, 24, &digest, &sources);
  const auto methods = builder.CreateVector(&method, 1);
  add::FinishAdditionsBuffer(
      builder, add::CreateAdditions(builder, 0, methods, builder.CreateVector(&weight, 1)));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

Recipe with_everything() {
  Recipe recipe;
  PlanRecipe& plan = recipe.plans[0];
  plan.arenas = {0, 256};
  plan.values[0].dynamism = 1;
  plan.values[0].place->offset = 64;
  plan.values[3].place->offset = 128;
  plan.devices = {{1, fb::DeviceType::CPU}};
  DelegateRecipe delegate;
  delegate.location = 0;
  delegate.specs = {{"option", "value"}};
  plan.delegates = {delegate};
  recipe.inline_payloads = {{1, 2, 3}};
  ValueRecipe state = planned_tensor({3}, 192);
  state.constant = 1;
  plan.values.push_back(state);
  recipe.mutable_data = {{static_cast<uint32_t>(recipe.segments.size()), {0, 0}}};
  recipe.segments.emplace_back(12);
  recipe.named_data = {{"weight", static_cast<uint32_t>(recipe.segments.size() - 1)},
                       {"petrel.program", static_cast<uint32_t>(recipe.segments.size())}};
  recipe.segments.push_back(additions());
  return recipe;
}

TEST(RefusalCounts, OfLoadingAndRunning) {
  refusals::RefusalCounts counts("test/faults/refusal_counts.txt");
  Messages messages;
  const Golden none;
  const std::vector<uint8_t> everything = build(with_everything());
  Faults faults;
  ASSERT_TRUE(run_program(everything, none, &faults).all_ok());
  messages.count("program that has everything", &counts);
  change_each(everything, [&](const std::vector<uint8_t>& changed) {
    run_program(changed, none, &faults);
    messages.count("program that has everything", &counts);
  });
  for (const std::string& name : golden_names()) {
    const Golden golden = load_golden(name);
    change_each(golden.bytes, [&](const std::vector<uint8_t>& changed) {
      Faults faults;
      run_program(changed, golden, &faults);
      messages.count("golden programs", &counts);
    });
  }
  counts.expect_as_recorded();
}

}  // namespace
}  // namespace petrel::faults
