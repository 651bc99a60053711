// SPDX-License-Identifier: Apache-2.0
#include "test/refusals/json_damage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace petrel::refusals {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Not;

std::vector<std::string> damaged(JsonDamage* damage, const std::string& text) {
  std::vector<std::string> all;
  damage->each(text, [&](const std::string& changed) { all.push_back(changed); });
  return all;
}

TEST(JsonDamage, ChangesOneThing) {
  JsonDamage damage;
  const std::string text = R"({"a": {"as_int": 3}, "b": [true, "x\"y"], "as_thing": 4})";
  const std::vector<std::string> all = damaged(&damage, text);
  for (const char* changed : {
           R"({"a": {"as_int": 9223372036854775807}, "b": [true, "x\"y"], "as_thing": 4})",
           R"({"a": {"as_thing": 3}, "b": [true, "x\"y"], "as_thing": 4})",
           R"({"a": {}, "b": [true, "x\"y"], "as_thing": 4})",
           R"({ "b": [true, "x\"y"], "as_thing": 4})",
           R"({"a": {"as_int": 3}, "b": [false, "x\"y"], "as_thing": 4})",
           R"({"a": {"as_int": 3}, "b": [true, "x\"y"],"b": [true, "x\"y"], "as_thing": 4})",
           R"({"a": {"as_int": 3}, "b": [ "x\"y"], "as_thing": 4})",
           R"({"a": {"as_int": 3}, "b": null, "as_thing": 4})",
           R"({"a": {"as_int": 3}, "b": [true, "x\"y"]})",
       }) {
    EXPECT_THAT(all, Contains(changed));
  }
  EXPECT_THAT(all, Each(Not(text)));
}

TEST(JsonDamage, ChangesWhatHasOnePlaceOnce) {
  JsonDamage damage;
  const std::string calls = R"([{"target": "f", "arg": 1}, {"target": "f", "arg": 2},)"
                            R"( {"target": "g", "arg": 3}])";
  const std::vector<std::string> all = damaged(&damage, calls);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = calls;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_THAT(all, Contains(with("1", "-1")));
  EXPECT_THAT(all, Not(Contains(with("2", "-1"))));
  EXPECT_THAT(all, Contains(with("3", "-1")));
  EXPECT_TRUE(damaged(&damage, calls).empty());
}

}  // namespace
}  // namespace petrel::refusals
