// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/weight_routes.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exir/backend/weight_case.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

TEST(WeightRoutes, GlobsMatchWholeNames) {
  EXPECT_TRUE(matches_glob("*", "a.b.c"));
  EXPECT_TRUE(matches_glob("enc.*", "enc.0.weight"));
  EXPECT_FALSE(matches_glob("enc", "enc.0.weight"));
  EXPECT_TRUE(matches_glob("layer.?.bias", "layer.3.bias"));
  EXPECT_FALSE(matches_glob("layer.?.bias", "layer.13.bias"));
  EXPECT_TRUE(matches_glob("layer.[0-4].*", "layer.3.bias"));
}

TEST(WeightRoutes, TheFirstRuleThatMatchesCounts) {
  const WeightRoutes routes = two_files();
  EXPECT_EQ(routes.rule_of(weight("enc.lora.a", {1})), 0u);
  EXPECT_EQ(routes.rule_of(weight("dec.lora.a", {1})), 1u);
  EXPECT_EQ(routes.rule_of(weight("dec.weight", {1})), std::nullopt);
  // What was made of a weight follows it, whatever it is called after.
  EXPECT_EQ(routes.rule_of(weight("dec.weight@enc.bn", {1})), std::nullopt);
  EXPECT_EQ(routes.rule_of(weight("enc.weight@bn", {1})), 0u);
}

TEST(WeightRoutes, RefusesEmptyGlobsAndFilesWithFolders) {
  for (const WeightRule& rule :
       {WeightRule{"", "a.ptd"}, WeightRule{"*", ""}, WeightRule{"*", "../a"},
        WeightRule{"*", "/a"}, WeightRule{"*", ".."}}) {
    WeightRoutes routes;
    routes.rules = {rule};
    EXPECT_EQ(routes.check().code(), absl::StatusCode::kInvalidArgument)
        << rule.glob << "=" << rule.file;
  }
}

TEST(WeightRoutes, OnlyWeightsFollowRules) {
  WeightRoutes routes = two_files();
  routes.default_file = "rest.ptd";
  const Constant plain = weight("enc.w", {1});
  const Constant literal = weight("enc.l", {1}, Constant::Kind::kLiteral);
  const Constant state = weight("enc.s", {1}, Constant::Kind::kMutableBuffer);
  EXPECT_EQ(routes.file_for_kernel(plain), "enc.ptd");
  EXPECT_EQ(routes.file_for_kernel(weight("w", {1})), "rest.ptd");
  EXPECT_EQ(routes.file_for_kernel(literal), "");
  EXPECT_EQ(routes.file_for_kernel(state), "");
  EXPECT_EQ(routes.file_for_state(state), "enc.ptd");
  EXPECT_EQ(routes.file_for_state(weight("s", {1}, Constant::Kind::kMutableBuffer)), "");
  EXPECT_EQ(routes.file_for_state(plain), "");
  EXPECT_EQ(routes.file_for_backend(plain), "enc.ptd");
  EXPECT_EQ(routes.file_for_backend(literal), "rest.ptd");
  routes.keys = WeightKeys::kName;
  EXPECT_EQ(routes.file_for_backend(plain), "enc.ptd");
  EXPECT_EQ(routes.file_for_backend(literal), "");
}

TEST(WeightRoutes, StateOfZerosNeedsARuleOfItsOwn) {
  WeightRoutes routes;
  routes.rules = {{"cache", "cache.ptd"}, {"*", "all.ptd"}};
  const auto state = [](const char* name, std::vector<uint8_t> bytes) {
    return weight(name, std::move(bytes), Constant::Kind::kMutableBuffer);
  };
  EXPECT_EQ(routes.file_for_state(state("cache", {0, 0})), "cache.ptd");
  EXPECT_EQ(routes.file_for_state(state("other", {0, 0})), "");
  EXPECT_EQ(routes.file_for_state(state("other", {0, 1})), "all.ptd");
}

TEST(WeightRoutes, KeysAreDigestsInWhateverFile) {
  const WeightRoutes routes = two_files();
  const Constant plain = weight("w", {1, 2});
  const std::string digest = to_hex(sha256_of({1, 2}));
  EXPECT_EQ(routes.key_for_backend(plain, plain.data, ""), digest);
  EXPECT_EQ(routes.key_for_backend(plain, plain.data, "10"), digest);
  EXPECT_EQ(routes.key_for_backend(weight("enc.w", {1, 2}), plain.data, ""), digest);
}

TEST(WeightRoutes, KeysMayBeNamesWithTheirForm) {
  WeightRoutes routes;
  routes.keys = WeightKeys::kName;
  const Constant plain = weight("w", {1, 2});
  EXPECT_EQ(routes.key_for_backend(plain, plain.data, ""), "w");
  EXPECT_EQ(routes.key_for_backend(plain, plain.data, "10"), "w#10");
  // A literal does not have a name in the model.
  const Constant literal = weight("l", {9}, Constant::Kind::kLiteral);
  EXPECT_EQ(routes.key_for_backend(literal, literal.data, "10"), to_hex(sha256_of({9})));
}

}  // namespace
}  // namespace petrel::exir
