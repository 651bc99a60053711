// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/derived_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

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
