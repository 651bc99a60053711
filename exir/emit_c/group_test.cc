// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace petrel::exir::emit_c {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string manifest_with(const std::string& pools) {
  return "{\"name\": \"kws\", \"state\": [], \"pools\": [" + pools + "]}";
}

std::string refusal(const std::string& manifest) {
  return std::string(read_sharer(manifest, /*together=*/false).status().message());
}

TEST(Group, ReadsNamesOfPools) {
  const auto sharer =
      read_sharer(manifest_with("{\"name\": \"sram\", \"kind\": \"rw\", \"bytes\": 64}"), false);
  ASSERT_TRUE(sharer.ok()) << sharer.status();
  EXPECT_EQ(sharer->name, "kws");
  EXPECT_THAT(sharer->pools, ElementsAre("sram"));
}

TEST(Group, ManifestsOfStrangersAreRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("is not JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("is not the manifest.json of a package with pools"));
  EXPECT_THAT(refusal(manifest_with("[1]")), HasSubstr("pool [1] has no name, kind and bytes"));
  EXPECT_EQ(refusal(manifest_with("\"" + std::string(1000, 'x') + "\"")),
            "pool \"" + std::string(79, 'x') + " has no name, kind and bytes");
}

// Who writes it back into a message goes as deep as it does.
TEST(Group, ManifestsMayNotNestWithoutEnd) {
  constexpr int kDepth = 1'000'000;
  EXPECT_THAT(refusal(manifest_with(std::string(kDepth, '[') + std::string(kDepth, ']'))),
              HasSubstr("more than 100 arrays and objects are inside each other"));
}

}  // namespace
}  // namespace petrel::exir::emit_c
