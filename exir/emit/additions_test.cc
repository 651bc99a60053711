// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/additions.h"

#include <gtest/gtest.h>

#include "schema/additions_generated.h"

namespace petrel::exir {
namespace {

namespace add = schema::additions;

TEST(AdditionsTest, AreEmptyWhenNoMethodSaysAnything) {
  Additions additions;
  EXPECT_TRUE(additions.empty());
  additions.methods.resize(2);
  EXPECT_TRUE(additions.empty());
  additions.methods[1].scratch.push_back({0, 1, 0, 16});
  EXPECT_FALSE(additions.empty());
}

TEST(AdditionsTest, TellPlacesByMethodAndInstruction) {
  Additions additions;
  additions.methods.resize(2);
  additions.methods[1].scratch = {{3, 1, 4096, 64}, {7, 2, 0, 12544}};
  NamedBlobStore::Destination named;
  named.buffers.resize(1);
  store_additions(additions, &named);
  ASSERT_EQ(named.entries.size(), 1u);
  EXPECT_EQ(named.entries[0].key, "petrel.program");
  EXPECT_EQ(named.entries[0].buffer, 1u);
  EXPECT_TRUE(named.buffers[1].blob.equals(additions_blob(additions)));

  const Blob::Bytes bytes = named.buffers[1].blob.bytes();
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  ASSERT_TRUE(add::VerifyAdditionsBuffer(verifier));
  const add::Additions& table = *add::GetAdditions(bytes.data());
  EXPECT_EQ(table.version(), 0u);
  ASSERT_EQ(table.methods()->size(), 2u);
  EXPECT_EQ(table.methods()->Get(0)->scratch(), nullptr);
  const auto& places = *table.methods()->Get(1)->scratch();
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places.Get(0)->instruction(), 3u);
  EXPECT_EQ(places.Get(0)->memory_id(), 1u);
  EXPECT_EQ(places.Get(0)->offset(), 4096u);
  EXPECT_EQ(places.Get(0)->size(), 64u);
  EXPECT_EQ(places.Get(1)->chain(), 0u);
  EXPECT_EQ(places.Get(1)->instruction(), 7u);
  EXPECT_EQ(places.Get(1)->memory_id(), 2u);
}

TEST(AdditionsTest, AreReadAsTheyWereWritten) {
  Additions additions;
  additions.methods.resize(2);
  additions.methods[0].least_sizes = {{0, 1, 2}, {1, 0, 7}};
  additions.methods[1].names = {{4, "a.weight"}, {9, "b.bias"}};
  additions.methods[1].scratch = {{3, 1, 4096, 64}};
  WeightAddition weight;
  weight.key = "c";
  weight.bytes = 24;
  weight.layout = TensorType::contiguous(ScalarType::kFloat, {2, 3});
  weight.digest = Sha256{1, 2, 3};
  additions.weights.push_back(weight);
  weight.key = "d";
  weight.made_of = {"c", "e"};
  additions.weights.push_back(weight);
  additions.structure = Sha256{9};
  additions.recipe = {"backend=none"};
  EXPECT_FALSE(additions.empty());
  const Blob blob = additions_blob(additions);
  const Additions again = read_additions(blob);
  EXPECT_TRUE(additions_blob(again).equals(blob));
  ASSERT_EQ(again.methods.size(), 2u);
  EXPECT_EQ(again.methods[0].least_sizes[1].size, 7);
  EXPECT_EQ(again.methods[1].names.at(9), "b.bias");
  EXPECT_EQ(again.methods[1].scratch[0].bytes, 64);
  EXPECT_EQ(again.weights[0].layout, weight.layout);
  EXPECT_EQ(again.weights[0].digest, weight.digest);
  EXPECT_TRUE(again.weights[0].made_of.empty());
  EXPECT_EQ(again.weights[1].made_of, weight.made_of);
  EXPECT_EQ(again.recipe, additions.recipe);
}

TEST(AdditionsTest, HaveAKeyThatNoBackendCanTake) {
  NamedBlobStore store;
  const auto result = store.add_named_blob("petrel.program", Blob::owned({1}), 1, "");
  EXPECT_EQ(result.status().message(), "key 'petrel.program' is reserved for the program itself");
  EXPECT_FALSE(store.add_named_blob("petrel.program", Blob::owned({1}), 1, "a.ptd").ok());
}

}  // namespace
}  // namespace petrel::exir
