// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/weight_ledger.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

Constant weight(const std::string& fqn, std::vector<uint8_t> bytes) {
  Constant constant;
  constant.fqn = fqn;
  constant.type = TensorType::contiguous(ScalarType::kByte, {static_cast<int64_t>(bytes.size())});
  constant.data = Blob::owned(std::move(bytes));
  return constant;
}

TEST(WeightLedger, TellsWhatBecameOfAWeight) {
  WeightLedger ledger;
  const Constant source = weight("w", {1, 2});
  const Blob turned = Blob::owned({2, 1});
  ledger.record("w#10", {&source}, turned, "w.ptd", source.type);
  ASSERT_EQ(ledger.weights().size(), 1u);
  const WeightLedger::Weight& row = ledger.weights().at("w#10");
  EXPECT_EQ(row.sources, std::vector<std::string>{"w"});
  EXPECT_EQ(row.destination, "w.ptd");
  EXPECT_EQ(row.layout, source.type);
  EXPECT_TRUE(row.blob.equals(turned));
}

TEST(WeightLedger, KeepsALayoutThatIsNotToldAgain) {
  WeightLedger ledger;
  const Constant source = weight("w", {1, 2});
  ledger.record("w", {&source}, source.data, "", source.type);
  ledger.record("w", {&source}, source.data, "", std::nullopt);
  EXPECT_EQ(ledger.weights().at("w").layout, source.type);
}

TEST(WeightLedger, AnInlineWeightMustBeTheOneOfItsName) {
  WeightLedger ledger;
  EXPECT_TRUE(ledger.record_inline(weight("w", {1, 2})).ok());
  EXPECT_EQ(ledger.weights().at("w").destination, "");
  EXPECT_TRUE(ledger.record_inline(weight("w", {1, 2})).ok());
  const absl::Status refused = ledger.record_inline(weight("w", {1, 3}));
  EXPECT_EQ(refused.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("'w'"));
}

// A weight that a delegate sent to a file stays there when a kernel reads it, too.
TEST(WeightLedger, AnInlineWeightLeavesARowThatIsThere) {
  WeightLedger ledger;
  const Constant source = weight("w", {1, 2});
  ledger.record("w", {&source}, source.data, "w.ptd", std::nullopt);
  EXPECT_TRUE(ledger.record_inline(source).ok());
  EXPECT_EQ(ledger.weights().at("w").destination, "w.ptd");
  EXPECT_EQ(ledger.weights().at("w").layout, std::nullopt);
}

}  // namespace
}  // namespace petrel::exir
