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
#include "test/faults/golden.h"
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
      return {0,       1,       2,          3,          4,          5,
              7,       8,       16,         now + 1,    now - 1,    now + 2,
              now + 4, now * 2, now + 16,   uint64_t{1} << 20,      0x7fffffff,
              uint64_t{1} << 32, uint64_t{1} << 62, uint64_t{1} << 63, ~uint64_t{0}};
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
  const std::vector<Site> sites =
      fuzz::find_sites({fuzz::program_schema(), 0, &fuzz::additions_schema()}, bytes.data(),
                       bytes.size());
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

TEST(RefusalCounts, OfGoldenPrograms) {
  refusals::RefusalCounts counts("test/faults/refusal_counts.txt");
  Messages messages;
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
