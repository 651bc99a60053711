// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/shards.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keys "k0", "k1", ... of `sizes` bytes each, all different, and "same", which
// has the bytes of "k0".
NamedBlobStore::Destination data(const std::vector<size_t>& sizes) {
  NamedBlobStore store;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<uint8_t> bytes(sizes[i], static_cast<uint8_t>(i + 1));
    EXPECT_TRUE(
        *store.add_named_blob(absl::StrCat("k", i), Blob::owned(std::move(bytes)), 16, "w.ptd"));
  }
  EXPECT_TRUE(
      *store.add_named_blob("same", Blob::owned(std::vector<uint8_t>(sizes[0], 1)), 16, "w.ptd"));
  return store.destinations().at("w.ptd");
}

std::vector<std::string> keys(const NamedBlobStore::Destination& shard) {
  std::vector<std::string> keys;
  for (const auto& entry : shard.entries) {
    EXPECT_LT(entry.buffer, shard.buffers.size());
    keys.push_back(entry.key);
  }
  return keys;
}

TEST(Shards, WhatFitsStaysOneFile) {
  auto shards = cut_into_shards("w.ptd", data({10, 20}), 1 << 20);
  ASSERT_TRUE(shards.ok()) << shards.status();
  ASSERT_EQ(shards->size(), 1u);
  EXPECT_EQ(shards->begin()->first, "w.ptd");
}

TEST(Shards, KeepOrderAndKeysOfOneBufferTogether) {
  auto shards = cut_into_shards("w.ptd", data({9000, 4000, 4000}), 12000);
  ASSERT_TRUE(shards.ok()) << shards.status();
  ASSERT_EQ(shards->size(), 2u);
  EXPECT_THAT(keys(shards->at("w-00001-of-00002.ptd")), ElementsAre("k0", "same"));
  EXPECT_THAT(keys(shards->at("w-00002-of-00002.ptd")), ElementsAre("k1", "k2"));
}

TEST(Shards, NameTheKeyThatFitsNowhere) {
  auto shards = cut_into_shards("w.ptd", data({10, 50000}), 12000);
  EXPECT_EQ(shards.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(shards.status().message()), HasSubstr("key 'k1'"));
}

TEST(Shards, TellTheNameOfTheWhole) {
  EXPECT_EQ(name_without_shard("w-00001-of-00002.ptd"), "w.ptd");
  EXPECT_EQ(name_without_shard("w-00001-of-00002"), "w");
  for (const char* name : {"w.ptd", "w-0001-of-00002.ptd", "w-00001-of-0000x.ptd", ".ptd", ""}) {
    EXPECT_EQ(name_without_shard(name), name);
  }
}

}  // namespace
}  // namespace petrel::exir
