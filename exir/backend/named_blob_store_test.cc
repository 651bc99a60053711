// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/named_blob_store.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "schema/formats.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Blob blob(std::vector<uint8_t> bytes) { return Blob::owned(std::move(bytes)); }

TEST(NamedBlobStore, StoresAndAcceptsEqualBytesAgain) {
  NamedBlobStore store;
  auto added = store.add_named_blob("w", blob({1, 2}), 16, "");
  ASSERT_TRUE(added.ok());
  EXPECT_TRUE(*added);
  added = store.add_named_blob("w", blob({1, 2}), 16, "");
  ASSERT_TRUE(added.ok());
  EXPECT_TRUE(*added);
  const auto& place = store.destinations().at("");
  EXPECT_EQ(place.buffers.size(), 1u);
  EXPECT_EQ(place.entries.size(), 1u);
}

TEST(NamedBlobStore, ReportsFalseAndKeepsTheFirstBytesOfAKey) {
  NamedBlobStore store;
  ASSERT_TRUE(*store.add_named_blob("w", blob({1, 2}), 16, ""));
  auto added = store.add_named_blob("w", blob({1, 3}), 16, "");
  ASSERT_TRUE(added.ok());
  EXPECT_FALSE(*added);
  const auto& buffers = store.destinations().at("").buffers;
  ASSERT_EQ(buffers.size(), 1u);
  EXPECT_TRUE(buffers[0].blob.equals(blob({1, 2})));
}

TEST(NamedBlobStore, KeysWithEqualBytesShareOneBuffer) {
  NamedBlobStore store;
  ASSERT_TRUE(*store.add_named_blob("a", blob({7}), 16, ""));
  ASSERT_TRUE(*store.add_named_blob("c", blob({8}), 1, ""));
  ASSERT_TRUE(*store.add_named_blob("b", blob({7}), 64, ""));
  const auto& place = store.destinations().at("");
  ASSERT_EQ(place.buffers.size(), 2u);
  EXPECT_EQ(place.buffers[0].alignment, 64u);
  EXPECT_EQ(place.buffers[1].alignment, 1u);
  ASSERT_EQ(place.entries.size(), 3u);
  std::vector<std::string> keys;
  std::vector<size_t> buffers;
  for (const auto& entry : place.entries) {
    keys.push_back(entry.key);
    buffers.push_back(entry.buffer);
  }
  EXPECT_THAT(keys, ElementsAre("a", "c", "b"));
  EXPECT_THAT(buffers, ElementsAre(0, 1, 0));
  EXPECT_EQ(store.requested_bytes(), 3u);
  EXPECT_EQ(store.stored_bytes(), 2u);
}

TEST(NamedBlobStore, EqualBytesInTwoDestinationsAreTwoBuffers) {
  NamedBlobStore store;
  ASSERT_TRUE(*store.add_named_blob("a", blob({7}), 16, ""));
  ASSERT_TRUE(*store.add_named_blob("b", blob({7}), 16, "x.ptd"));
  EXPECT_EQ(store.destinations().at("").buffers.size(), 1u);
  EXPECT_EQ(store.destinations().at("x.ptd").buffers.size(), 1u);
}

TEST(NamedBlobStore, RefusesAKeyInTwoDestinations) {
  NamedBlobStore store;
  ASSERT_TRUE(*store.add_named_blob("a", blob({7}), 16, ""));
  auto added = store.add_named_blob("a", blob({7}), 16, "x.ptd");
  EXPECT_EQ(added.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(added.status().message()),
              HasSubstr("key 'a' goes to 'x.ptd', but was sent to the program"));
}

TEST(NamedBlobStore, RefusesBadKeysAlignmentsAndFileNames) {
  NamedBlobStore store;
  const Blob b = blob({1});
  auto code = [&](const std::string& key, uint64_t alignment, const std::string& file) {
    return store.add_named_blob(key, b, alignment, file).status().code();
  };
  constexpr auto kBad = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code("", 1, ""), kBad);
  EXPECT_EQ(code(std::string("a\0b", 3), 1, ""), kBad);
  for (uint64_t alignment : {uint64_t{0}, uint64_t{3}, uint64_t{48}, uint64_t{1} << 40,
                             2 * schema::kMaxAlignment, ~uint64_t{0}}) {
    const absl::Status refused = store.add_named_blob("a", b, alignment, "").status();
    EXPECT_EQ(refused.code(), kBad) << alignment;
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr("alignment of key 'a' is " + std::to_string(alignment) + ", must be"));
  }
  const std::string long_name(256, 'x');
  for (const std::string& file :
       {std::string("."), std::string(".."), std::string("a/b"), std::string("/etc/x"),
        std::string("a\\b"), std::string("a\0b", 3), long_name}) {
    const absl::Status refused = store.add_named_blob("a", b, 1, file).status();
    EXPECT_EQ(refused.code(), kBad) << file;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("is not a plain file name"));
  }
  EXPECT_TRUE(store.destinations().empty());
  EXPECT_EQ(code("a", schema::kMaxAlignment, "..x"), absl::StatusCode::kOk);
}

TEST(NamedBlobStore, RefusesLongKeysAndShowsLittleOfThem) {
  NamedBlobStore store;
  const Blob b = blob({1});
  const std::string longest(schema::kMaxWrittenKeyBytes, 'k');
  EXPECT_TRUE(*store.add_named_blob(longest, b, 1, ""));
  for (const std::string& key : {longest + "k", std::string(1 << 20, 'k')}) {
    const auto added = store.add_named_blob(key, b, 1, "");
    EXPECT_EQ(added.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_LT(added.status().message().size(), 200u);
  }
}

// Keys are data: they are never used as a format, nor shown as they are.
TEST(NamedBlobStore, KeysWithFormatCharactersAreKeysLikeOthers) {
  NamedBlobStore store;
  for (const std::string& key : {std::string("%s%n%d"), std::string("{}\n\t"), std::string("a b"),
                                 std::string("\xff\x01")}) {
    EXPECT_TRUE(*store.add_named_blob(key, blob({1}), 1, "")) << key;
    const auto moved = store.add_named_blob(key, blob({1}), 1, "x.ptd");
    EXPECT_EQ(moved.status().code(), absl::StatusCode::kAlreadyExists);
    EXPECT_EQ(moved.status().message().find('\n'), absl::string_view::npos);
  }
  EXPECT_EQ(store.destinations().at("").entries.size(), 4u);
}

// Two backends that choose one key for different bytes: the second is told.
TEST(NamedBlobStore, TheSecondOfTwoMeaningsIsRefused) {
  NamedBlobStore store;
  EXPECT_TRUE(*store.add_named_blob("shared", blob({1, 2}), 16, ""));
  EXPECT_FALSE(*store.add_named_blob("shared", blob({1, 3}), 16, ""));
  EXPECT_FALSE(*store.add_named_blob("shared", blob({1, 2, 3}), 16, ""));
  EXPECT_TRUE(*store.add_named_blob("shared", blob({1, 2}), 16, ""));
  EXPECT_EQ(store.stored_bytes(), 2u);
}

TEST(NamedBlobStore, RefusesLayoutsThatDoNotFitOrChange) {
  NamedBlobStore store;
  const Blob b = blob({1, 2, 3, 4});
  const auto f32 = TensorType::contiguous(ScalarType::kFloat, {1});
  const auto i8 = TensorType::contiguous(ScalarType::kChar, {4});
  const auto big = TensorType::contiguous(ScalarType::kFloat, {2});
  EXPECT_EQ(store.add_named_blob("w", b, 16, "", big).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(*store.add_named_blob("w", b, 16, ""));
  ASSERT_TRUE(*store.add_named_blob("w", b, 16, "", f32));
  EXPECT_EQ(store.destinations().at("").entries[0].layout, f32);
  EXPECT_EQ(store.add_named_blob("w", b, 16, "", i8).status().code(),
            absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace petrel::exir
