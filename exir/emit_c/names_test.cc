// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/names.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::emit_c {
namespace {

using ::testing::HasSubstr;

TEST(Names, BecomeIdentifiers) {
  EXPECT_EQ(sanitized("input:0"), "input_0");
  EXPECT_EQ(sanitized("layers.0.weight@1"), "layers_0_weight_1");
  EXPECT_EQ(sanitized("0"), "v0");
  EXPECT_EQ(sanitized("__x__"), "x");
  EXPECT_EQ(sanitized("é"), "v");
  EXPECT_EQ(sanitized(""), "v");
}

TEST(Names, ClashesNameBothOriginals) {
  Names names("input");
  EXPECT_EQ(*names.add("input:0"), "input_0");
  EXPECT_EQ(*names.add("other"), "other");
  const auto clash = names.add("input@0");
  ASSERT_FALSE(clash.ok());
  EXPECT_EQ(clash.status().message(),
            "inputs 'input:0' and 'input@0' would both be called input_0");
}

TEST(Names, WordsOfTheLanguagesAreRefused) {
  for (const char* word : {"int", "class", "restrict", "template", "bool"}) {
    EXPECT_TRUE(is_keyword(word)) << word;
    const auto refused = Names("output").add(word);
    ASSERT_FALSE(refused.ok()) << word;
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("a word of C or C++"));
  }
  EXPECT_FALSE(is_keyword("image"));
}

TEST(Names, PackagesBeginEveryNameSoTheyAreChecked) {
  EXPECT_TRUE(check_package_name("kws").ok());
  EXPECT_TRUE(check_package_name("a_2").ok());
  for (const char* name : {"", "2a", "a-b", "a__b", "_a", "int", "abcdefghijklmnopqrstuvwxyz"}) {
    EXPECT_FALSE(check_package_name(name).ok()) << name;
  }
}

}  // namespace
}  // namespace petrel::exir::emit_c
