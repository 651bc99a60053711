// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/weight_routes.h"

#include <string>

#include "exir/backend/named_blob_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

Constant weight(const std::string& fqn, std::vector<uint8_t> bytes,
                Constant::Kind kind = Constant::Kind::kParameter) {
  Constant constant;
  constant.fqn = fqn;
  constant.kind = kind;
  constant.type = TensorType::contiguous(ScalarType::kByte, {static_cast<int64_t>(bytes.size())});
  constant.data = Blob::owned(std::move(bytes));
  return constant;
}

std::string key_of(NamedBlobStore& store, const Constant& constant, const std::string& form = "") {
  auto key = store.add_weight(constant, constant.data, 16, form, constant.type);
  EXPECT_TRUE(key.ok()) << key.status();
  return key.value_or("?");
}

WeightRoutes two_files() {
  WeightRoutes routes;
  routes.rules = {{"enc.*", "enc.ptd"}, {"*lora*", "lora.ptd"}};
  return routes;
}

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
  EXPECT_EQ(routes.rule_of("enc.lora.a"), 0u);
  EXPECT_EQ(routes.rule_of("dec.lora.a"), 1u);
  EXPECT_EQ(routes.rule_of("dec.weight"), std::nullopt);
  // What was made of a weight follows it, whatever it is called after.
  EXPECT_EQ(routes.rule_of("dec.weight@enc.bn"), std::nullopt);
  EXPECT_EQ(routes.rule_of("enc.weight@bn"), 0u);
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

TEST(WeightKeys, AreDigestsAndTheFileOfARule) {
  NamedBlobStore store(two_files());
  const std::string plain = key_of(store, weight("w", {1, 2}));
  EXPECT_EQ(plain, to_hex(sha256_of({1, 2})));
  // Equal bytes in two files are two keys, so that each file is whole.
  EXPECT_EQ(key_of(store, weight("enc.w", {1, 2})), plain + "@enc.ptd");
  EXPECT_EQ(key_of(store, weight("enc.v", {1, 2})), plain + "@enc.ptd");
  EXPECT_EQ(store.destinations().at("").entries.size(), 1u);
  EXPECT_EQ(store.destinations().at("enc.ptd").entries.size(), 1u);
}

TEST(WeightKeys, MayBeNamesWithTheirForm) {
  WeightRoutes routes = two_files();
  routes.keys = WeightKeys::kName;
  routes.default_file = "rest.ptd";
  NamedBlobStore store(routes);
  EXPECT_EQ(key_of(store, weight("w", {1, 2})), "w");
  EXPECT_EQ(key_of(store, weight("w", {2, 1}), "10"), "w#10");
  EXPECT_EQ(key_of(store, weight("enc.w", {1, 2})), "enc.w");
  EXPECT_EQ(store.destinations().at("rest.ptd").entries.size(), 2u);
  // What is no weight of the model cannot be exchanged.
  const Constant literal = weight("l", {9}, Constant::Kind::kLiteral);
  EXPECT_EQ(key_of(store, literal), to_hex(sha256_of({9})));
  EXPECT_EQ(store.destinations().at("").entries.size(), 1u);
  EXPECT_EQ(store.weights().size(), 3u);
  EXPECT_EQ(store.weights().at("w#10").fqn, "w");
  EXPECT_EQ(store.weights().at("w#10").destination, "rest.ptd");
}

TEST(WeightKeys, OfOneNameMustBeOneWeight) {
  WeightRoutes routes;
  routes.keys = WeightKeys::kName;
  NamedBlobStore store(routes);
  key_of(store, weight("w", {1, 2}));
  const Constant other = weight("w", {1, 3});
  const auto added = store.add_weight(other, other.data, 16, "");
  EXPECT_EQ(added.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(added.status().message()), HasSubstr("'w'"));
  EXPECT_EQ(store.note_inline_weight(other).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(store.note_inline_weight(weight("w", {1, 2})).ok());
}

TEST(WeightRoutes, ARuleWithoutWeightsIsNamed) {
  NamedBlobStore store(two_files());
  key_of(store, weight("enc.w", {1}));
  EXPECT_THAT(std::string(store.check_all_rules_matched().message()), HasSubstr("'*lora*'"));
  key_of(store, weight("x.lora", {1}));
  EXPECT_TRUE(store.check_all_rules_matched().ok());
}

}  // namespace
}  // namespace petrel::exir
