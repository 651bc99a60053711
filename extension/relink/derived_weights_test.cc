// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/derived_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

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

}  // namespace
}  // namespace petrel::extension
