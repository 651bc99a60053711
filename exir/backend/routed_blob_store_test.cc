// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/routed_blob_store.h"

#include <string>
#include <utility>
#include <vector>

#include "exir/backend/weight_case.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

std::string key_of(RoutedBlobStore& store, const Constant& constant, const std::string& form = "") {
  auto key = store.add_weight(constant, constant.data, 16, form, constant.type);
  EXPECT_TRUE(key.ok()) << key.status();
  return key.value_or("?");
}

TEST(RoutedBlobStore, CallsAWeightByContentAndSendsItByRule) {
  RoutedBlobStore store(two_files());
  const std::string plain = key_of(store, weight("w", {1, 2}));
  EXPECT_EQ(plain, to_hex(sha256_of({1, 2})));
  EXPECT_EQ(key_of(store, weight("enc.w", {3, 4, 5})), to_hex(sha256_of({3, 4, 5})));
  EXPECT_EQ(store.blobs().destinations().at("").entries.size(), 1u);
  EXPECT_EQ(store.blobs().destinations().at("enc.ptd").entries.size(), 1u);
  EXPECT_TRUE(store.elsewhere().empty());
}

// A key that says what the bytes are, and nothing of a file, is the same in programs
// that are exported apart; so it lies in one file, the first that asked.
TEST(RoutedBlobStore, KeepsEqualBytesInTheFirstFileThatAsked) {
  RoutedBlobStore store(two_files());
  const std::string key = key_of(store, weight("w.lora", {1, 2}));
  EXPECT_EQ(key_of(store, weight("enc.w", {1, 2})), key);
  EXPECT_EQ(key_of(store, weight("enc.v", {1, 2})), key);
  EXPECT_EQ(key_of(store, weight("w", {1, 2})), key);
  ASSERT_EQ(store.blobs().destinations().size(), 1u);
  EXPECT_EQ(store.blobs().destinations().at("lora.ptd").entries.size(), 1u);
  const std::vector<WeightsElsewhere> elsewhere = store.elsewhere();
  ASSERT_EQ(elsewhere.size(), 2u);
  EXPECT_EQ(elsewhere[0].wanted, "");
  EXPECT_EQ(elsewhere[1].wanted, "enc.ptd");
  EXPECT_EQ(elsewhere[1].lie_in, "lora.ptd");
  EXPECT_EQ(elsewhere[1].weights, 1u);
  EXPECT_EQ(elsewhere[1].bytes, 2u);
  EXPECT_TRUE(store.check_all_rules_matched().ok());
}

TEST(RoutedBlobStore, CallsAWeightByNameAndForm) {
  WeightRoutes routes = two_files();
  routes.keys = WeightKeys::kName;
  routes.default_file = "rest.ptd";
  RoutedBlobStore store(routes);
  EXPECT_EQ(key_of(store, weight("w", {1, 2})), "w");
  EXPECT_EQ(key_of(store, weight("w", {2, 1}), "10"), "w#10");
  EXPECT_EQ(key_of(store, weight("enc.w", {1, 2})), "enc.w");
  EXPECT_EQ(store.blobs().destinations().at("rest.ptd").entries.size(), 2u);
  // What is not a weight of the model cannot be exchanged.
  const Constant literal = weight("l", {9}, Constant::Kind::kLiteral);
  EXPECT_EQ(key_of(store, literal), to_hex(sha256_of({9})));
  EXPECT_EQ(store.blobs().destinations().at("").entries.size(), 1u);
  EXPECT_EQ(store.ledger().weights().size(), 3u);
  EXPECT_EQ(store.ledger().weights().at("w#10").sources, std::vector<std::string>{"w"});
  EXPECT_EQ(store.ledger().weights().at("w#10").destination, "rest.ptd");
}

TEST(RoutedBlobStore, RefusesTwoWeightsOfOneName) {
  WeightRoutes routes;
  routes.keys = WeightKeys::kName;
  RoutedBlobStore store(routes);
  key_of(store, weight("w", {1, 2}));
  const Constant other = weight("w", {1, 3});
  const auto added = store.add_weight(other, other.data, 16, "");
  EXPECT_EQ(added.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(added.status().message()), HasSubstr("'w'"));
  EXPECT_EQ(store.note_inline_weight(other).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(store.note_inline_weight(weight("w", {1, 2})).ok());
}

TEST(RoutedBlobStore, PutsWhatIsMadeOfSeveralWeightsWhereTheyGo) {
  WeightRoutes routes = two_files();
  routes.keys = WeightKeys::kName;
  RoutedBlobStore store(routes);
  const Constant a = weight("enc.a", {1}), b = weight("enc.b@bn1", {2});
  const Constant literal = weight("l", {9}, Constant::Kind::kLiteral);
  const Blob packed = Blob::owned({9, 1, 2});
  const auto key = store.add_derived("tiles", {&literal, &a, &b}, "8x4", packed, 64);
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(*key, "tiles@made_8x4");
  ASSERT_EQ(store.ledger().weights().size(), 1u);
  const WeightLedger::Weight& row = store.ledger().weights().at(*key);
  EXPECT_EQ(row.sources, (std::vector<std::string>{"enc.a", "enc.b@bn1"}));
  EXPECT_EQ(row.destination, "enc.ptd");
  EXPECT_TRUE(row.blob.equals(packed));
  for (const Constant* source : {&a, &b, &literal}) {
    EXPECT_TRUE(store.check_declared(*source, "Mine").ok());
  }
  EXPECT_TRUE(store.bypassed().empty());

  const Constant lora = weight("x.lora", {3}), inside = weight("x", {4});
  const std::vector<std::pair<std::vector<const Constant*>, std::vector<std::string>>> refused = {
      {{&a, &lora}, {"'enc.a'", "'enc.ptd'", "'x.lora'", "'lora.ptd'"}},
      {{&inside, &lora}, {"'x'", "the program", "'x.lora'", "'lora.ptd'"}},
      {{}, {"'tiles' of 0 constants"}}};
  for (const auto& [sources, words] : refused) {
    const auto status = store.add_derived("tiles", sources, "8x4", packed, 64).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    for (const std::string& word : words) {
      EXPECT_THAT(std::string(status.message()), HasSubstr(word));
    }
  }
  const Constant other = weight("enc.a", {7});
  const auto twice = store.add_derived("tiles", {&a, &a, &other}, "8x4", packed, 64).status();
  EXPECT_EQ(twice.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(twice.message()), HasSubstr("two weights called 'enc.a'"));
}

TEST(RoutedBlobStore, CallsWhatIsMadeOfSeveralWeightsByContent) {
  RoutedBlobStore store("rest.ptd");
  const Constant a = weight("a", {1}), b = weight("b", {2});
  const Blob packed = Blob::owned({1, 2});
  const auto key = store.add_derived("tiles", {&a, &b}, "8x4", packed, 64);
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(*key, to_hex(sha256_of({1, 2})));
  EXPECT_EQ(store.ledger().weights().at(*key).destination, "rest.ptd");
}

TEST(RoutedBlobStore, FindsWeightsThatNobodyDeclared) {
  for (const WeightKeys keys : {WeightKeys::kContent, WeightKeys::kName}) {
    WeightRoutes routes = two_files();
    routes.keys = keys;
    routes.default_file = "rest.ptd";
    RoutedBlobStore store(routes);
    key_of(store, weight("w", {1, 2}));
    EXPECT_TRUE(store.check_declared(weight("w", {1, 2}), "Mine").ok());
    for (int i = 0; i < 2; ++i) {
      const absl::Status all = store.check_declared(weight("v", {1, 2}), "Mine");
      EXPECT_EQ(all.ok(), keys == WeightKeys::kContent);
      if (!all.ok()) {
        EXPECT_THAT(std::string(all.message()), HasSubstr("'v' is to go to 'rest.ptd'"));
      }
    }
    ASSERT_EQ(store.bypassed().size(), 1u);
    EXPECT_EQ(store.bypassed()[0].weight, "v");
    EXPECT_EQ(store.bypassed()[0].backend_id, "Mine");
    EXPECT_EQ(store.bypassed()[0].wanted, "");
    // What is to go to a file by name must; by content, a rule needs one that does.
    const absl::Status routed = store.check_declared(weight("enc.w", {1}), "Mine");
    EXPECT_EQ(routed.ok(), keys == WeightKeys::kContent);
    if (keys == WeightKeys::kName) {
      EXPECT_THAT(std::string(routed.message()),
                  HasSubstr("'enc.w' is to go to 'enc.ptd' under its name, but backend 'Mine'"));
    }
    EXPECT_THAT(std::string(store.check_all_rules_matched().message()),
                HasSubstr("'enc.w' matches 'enc.*' and is to go to 'enc.ptd', but backend 'Mine'"));
  }
}

// What stays in the program is told of; what "*" sends to a file was asked for.
TEST(RoutedBlobStore, RefusesUndeclaredWeightsThatAPatternForAllSendsToAFile) {
  for (const std::string file : {"", "all.ptd"}) {
    WeightRoutes routes;
    routes.keys = WeightKeys::kName;
    if (!file.empty()) routes.rules = {{"*", file}};
    RoutedBlobStore store(routes);
    key_of(store, weight("w", {1, 2}));
    EXPECT_EQ(store.check_declared(weight("v", {1}), "Mine").ok(), file.empty());
    ASSERT_EQ(store.bypassed().size(), 1u);
    EXPECT_EQ(store.bypassed()[0].wanted, file);
  }
}

TEST(RoutedBlobStore, NamesARuleWithoutWeights) {
  RoutedBlobStore store(two_files());
  key_of(store, weight("enc.w", {1}));
  EXPECT_THAT(std::string(store.check_all_rules_matched().message()), HasSubstr("'*lora*'"));
  key_of(store, weight("x.lora", {1}));
  EXPECT_TRUE(store.check_all_rules_matched().ok());
}

TEST(RoutedBlobStore, SendsBlobsThatNameNoFileWhereTheExportSaysSo) {
  RoutedBlobStore store("weights.ptd");
  const Blob seven = Blob::owned({7});
  ASSERT_TRUE(*store.add_named_blob("a", seven, 16, ""));
  ASSERT_TRUE(*store.add_named_blob("a", seven, 16, "weights.ptd"));
  ASSERT_TRUE(*store.add_named_blob("b", Blob::owned({8}), 16, "other.ptd"));
  const auto& destinations = store.blobs().destinations();
  EXPECT_EQ(destinations.count(""), 0u);
  EXPECT_EQ(destinations.at("weights.ptd").entries.size(), 1u);
  EXPECT_EQ(destinations.at("other.ptd").entries.size(), 1u);
  EXPECT_TRUE(store.ledger().weights().empty());
}

TEST(RoutedBlobStore, ClaimsALayoutOnlyOfWeightsCalledByName) {
  const Constant source = weight("w", {1, 2});
  RoutedBlobStore by_content;
  key_of(by_content, source);
  EXPECT_EQ(by_content.blobs().destinations().at("").entries[0].layout, std::nullopt);
  WeightRoutes routes;
  routes.keys = WeightKeys::kName;
  RoutedBlobStore by_name(routes);
  key_of(by_name, source);
  EXPECT_EQ(by_name.blobs().destinations().at("").entries[0].layout, source.type);
}

// A payload with the key of a literal must get the literal's bytes.
TEST(RoutedBlobStore, RefusesALiteralWhoseKeyHoldsOtherBytes) {
  RoutedBlobStore store;
  const Constant literal = weight("l", {9}, Constant::Kind::kLiteral);
  ASSERT_TRUE(*store.add_named_blob(to_hex(sha256_of({9})), Blob::owned({1}), 16, ""));
  const auto added = store.add_weight(literal, literal.data, 16);
  EXPECT_EQ(added.status().code(), absl::StatusCode::kAlreadyExists);
}

TEST(RoutedBlobStore, KernelWeightsAreCalledByNameWhateverTheKeys) {
  RoutedBlobStore store("w.ptd");
  const Constant source = weight("w", {1, 2});
  ASSERT_TRUE(store.add_kernel_weight(source, 64).ok());
  const auto& place = store.blobs().destinations().at("w.ptd");
  EXPECT_EQ(place.entries[0].key, "w");
  EXPECT_EQ(place.entries[0].layout, source.type);
  EXPECT_EQ(place.buffers[0].alignment, 64u);
  EXPECT_EQ(store.ledger().weights().at("w").destination, "w.ptd");
}

TEST(RoutedBlobStore, NotesInlineWeightsWhereNamesCount) {
  RoutedBlobStore by_content;
  ASSERT_TRUE(by_content.note_inline_weight(weight("w", {1, 2})).ok());
  EXPECT_TRUE(by_content.note_inline_weight(weight("w", {1, 3})).ok());
  EXPECT_TRUE(by_content.ledger().weights().empty());
  WeightRoutes routes;
  routes.keys = WeightKeys::kName;
  RoutedBlobStore by_name(routes);
  ASSERT_TRUE(by_name.note_inline_weight(weight("w", {1, 2})).ok());
  EXPECT_EQ(by_name.ledger().weights().count("w"), 1u);
  EXPECT_TRUE(by_name.blobs().destinations().empty());
}

}  // namespace
}  // namespace petrel::exir
