// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/json_mutator.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "gtest/gtest.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t*, size_t size, size_t) { return size; }

namespace petrel::fuzz {
namespace {

constexpr char kText[] =
    R"({"nodes": [{"name": "a\"b", "inputs": [1, -2.5e3, "x"]}, {"name": "y", "none": null}],)"
    R"( "flag": true, "empty": {}, "list": []})";

TEST(JsonMutator, ChangesWholeParts) {
  std::set<std::string> seen;
  std::set<size_t> members;
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    const std::string changed = change_json(kText, seed);
    if (changed.empty()) continue;
    const auto json = nlohmann::json::parse(changed, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << changed;
    if (json.is_object()) members.insert(json.size());
    seen.insert(changed);
  }
  // All its names, values and groups, in many ways.
  EXPECT_GT(seen.size(), 200u);
  EXPECT_EQ(members.count(3), 1u);  // one is gone
}

TEST(JsonMutator, LeavesWhatStandsBetweenTexts) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    std::string text = "{\"a\": 1}\x1e{\"b\": [2, 3]}";
    const size_t before = text.size();
    text.resize(4096);
    text.resize(mutate_json(reinterpret_cast<uint8_t*>(text.data()), before, text.size(), seed));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\x1e'), 1) << text;
  }
}

TEST(JsonMutator, TakesAnyText) {
  for (const char* text : {"", "\"", "{", "]]]", "\"a\\", "-", "{\"a\":", ",,:", "tru", "\x1e"}) {
    for (unsigned seed = 1; seed <= 50; ++seed) change_json(text, seed);
  }
  EXPECT_EQ(change_json("", 1), "");
  EXPECT_EQ(change_json("{", 1), "");
}

}  // namespace
}  // namespace petrel::fuzz
