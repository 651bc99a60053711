// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/derived_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exir/ir/type.h"

namespace petrel::extension {
namespace {

using ::testing::HasSubstr;

// A safetensors file of one f32 tensor [2, 2] called w.
std::string tensors() {
  const std::string path = ::testing::TempDir() + "/w.safetensors";
  const std::string header = R"({"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})";
  const auto size = static_cast<uint64_t>(header.size());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&size), sizeof(size));
  out << header << std::string("\0\0\x80?\0\0\0@\0\0@@\0\0\x80@", 16);
  return path;
}

absl::StatusOr<exir::NamedBlobStore> derive(size_t steps) {
  exir::Additions additions;
  exir::WeightAddition weight;
  weight.key = "w";
  for (size_t i = 0; i < steps; ++i) weight.key += "@permute_1_0";
  weight.bytes = 16;
  additions.weights = {weight};
  return derived_weights(additions, {}, tensors(), "a.ptd");
}

TEST(DerivedWeights, DoesTheStepsOfAKey) {
  const auto once = derive(1);
  ASSERT_TRUE(once.ok()) << once.status();
  const auto twice = derive(2);
  ASSERT_TRUE(twice.ok()) << twice.status();
}

// Each step may move all elements of a tensor: a file must not ask for thousands.
TEST(DerivedWeights, BoundsTheStepsOfAKey) {
  EXPECT_TRUE(derive(16).ok());
  EXPECT_THAT(std::string(derive(17).status().message()),
              HasSubstr("'w': the key of the program has 17 steps, must have at most 16"));
}

absl::StatusOr<exir::NamedBlobStore> derive(const std::string& key, const std::string& file,
                                            uint64_t bytes,
                                            std::optional<exir::TensorType> layout = {}) {
  exir::Additions additions;
  exir::WeightAddition weight;
  weight.key = key;
  weight.bytes = bytes;
  weight.layout = std::move(layout);
  additions.weights = {weight};
  return derived_weights(additions, {}, file, "a.ptd");
}

// Each element went through all of them.
TEST(DerivedWeights, BoundsTheDimsOfAKey) {
  std::string sizes = "4", strides = "1", view = "4";
  for (size_t i = 1; i < 16; ++i) {
    sizes += "x1";
    strides += ",0";
    view += "_1";
  }
  for (const std::string& key : {"w#" + sizes + ":" + strides, "w@view_" + view}) {
    const auto made = derive(key, tensors(), 16);
    EXPECT_TRUE(made.ok()) << made.status();
  }
  for (const std::string& key : {"w#" + sizes + "x1:" + strides + ",0", "w@view_" + view + "_1"}) {
    EXPECT_THAT(std::string(derive(key, tensors(), 16).status().message()),
                HasSubstr("...' has 17 dims, must have at most 16"));
  }
}

// A place that went there and back would be beyond 64 bits on its way.
TEST(DerivedWeights, LooksAtNoStrideOfOneElement) {
  const auto made = derive("w#2x1x2:1,9223372036854775807,2", tensors(), 16);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto right = derive("w@permute_1_0", tensors(), 16);
  ASSERT_TRUE(right.ok()) << right.status();
  const auto digest_of = [](const exir::NamedBlobStore& store) {
    return store.destinations().at("a.ptd").buffers.at(0).blob.sha256();
  };
  EXPECT_EQ(digest_of(*made), digest_of(*right));
}

TEST(DerivedWeights, PermutesTensorsWithoutElements) {
  const std::string path = ::testing::TempDir() + "/empty.safetensors";
  const std::string header = R"({"w":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]}})";
  const auto size = static_cast<uint64_t>(header.size());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&size), sizeof(size));
  out << header;
  out.close();
  const auto made = derive("w@permute_1_0", path, 0,
                           exir::TensorType::contiguous(exir::ScalarType::kFloat, {3, 0}));
  EXPECT_TRUE(made.ok()) << made.status();
}

// The permutations of 16 dims of 2 are more than there is memory for.
TEST(DerivedWeights, BoundsWhatIsMadeOfOneTensor) {
  constexpr size_t kRank = 16, kBytes = sizeof(float) << kRank;
  const std::string path = ::testing::TempDir() + "/t.safetensors";
  std::string header = R"({"t":{"dtype":"F32","shape":[2)";
  for (size_t i = 1; i < kRank; ++i) header += ",2";
  header += "],\"data_offsets\":[0," + std::to_string(kBytes) + "]}}";
  const auto size = static_cast<uint64_t>(header.size());
  std::string numbers(kBytes, '\0');
  for (size_t i = 0; i < kBytes; i += sizeof(float)) {
    const auto number = static_cast<float>(i);
    std::memcpy(&numbers[i], &number, sizeof(number));
  }
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&size), sizeof(size));
  out << header << numbers;
  out.close();
  exir::Additions additions;
  std::vector<size_t> axes(kRank);
  std::iota(axes.begin(), axes.end(), size_t{0});
  for (size_t i = 0; i < 300; ++i) {
    exir::WeightAddition weight;
    weight.key = "t@permute";
    for (const size_t axis : axes) weight.key += "_" + std::to_string(axis);
    weight.bytes = kBytes;
    additions.weights.push_back(std::move(weight));
    std::next_permutation(axes.begin(), axes.end());
  }
  EXPECT_THAT(
      std::string(derived_weights(additions, {}, path, "a.ptd").status().message()),
      HasSubstr("have more than 68157440 bytes, the most for a file of 262144; 't@permute_"));
  additions.weights.resize(100);
  const auto few = derived_weights(additions, {}, path, "a.ptd");
  EXPECT_TRUE(few.ok()) << few.status();
}

}  // namespace
}  // namespace petrel::extension
