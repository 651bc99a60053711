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
  Names names("input", Names::Use::kMember);
  EXPECT_EQ(*names.add("input:0"), "input_0");
  EXPECT_EQ(*names.add("other"), "other");
  const auto clash = names.add("input@0");
  ASSERT_FALSE(clash.ok());
  EXPECT_EQ(clash.status().message(),
            "inputs 'input:0' and 'input@0' would both be called input_0");
}

TEST(Names, ThatDifferInCaseOnlyClashWhereTheyAreMacros) {
  for (const Names::Use use : {Names::Use::kMember, Names::Use::kMacro}) {
    Names names("input", use);
    EXPECT_EQ(*names.add("x.y"), "x_y");
    const auto clash = names.add("X:y");
    ASSERT_FALSE(clash.ok());
    EXPECT_EQ(clash.status().message(),
              "inputs 'x.y' and 'X:y' would both be called X_Y in macros");
  }
  Names symbols("parameter", Names::Use::kSymbol);
  EXPECT_EQ(*symbols.add("w"), "w");
  EXPECT_EQ(*symbols.add("W"), "W");
}

TEST(Names, WordsThatAreTakenGetAnUnderscoreWhereTheyStandAlone) {
  for (const char* word :
       {"int", "class", "restrict", "xor", "bitand", "typeof", "co_await", "NULL", "UINT8_MAX",
        "INT64_C", "INFINITY", "linux", "int32_t", "M_PI"}) {
    EXPECT_TRUE(is_taken(word)) << word;
    EXPECT_EQ(*Names("output", Names::Use::kMember).add(word), std::string(word) + "_");
    EXPECT_EQ(*Names("parameter", Names::Use::kSymbol).add(word), word);
  }
  EXPECT_FALSE(is_taken("image"));
  EXPECT_FALSE(is_keyword("NULL"));
  Names names("output", Names::Use::kMember);
  EXPECT_EQ(*names.add("xor"), "xor_");
  EXPECT_FALSE(names.add("xor_").ok());
}

TEST(Names, RepeatsAreCounted) {
  Names names("output", Names::Use::kMember);
  EXPECT_EQ(*names.add("add"), "add");
  EXPECT_EQ(*names.add("ADD_1"), "ADD_1");
  EXPECT_EQ(names.add_again("add"), "add_2");
  EXPECT_EQ(names.add_again("add"), "add_3");
  EXPECT_EQ(*names.add("int"), "int_");
  EXPECT_EQ(names.add_again("int"), "int_1");
}

TEST(Names, PackagesBeginEveryNameSoTheyAreChecked) {
  EXPECT_TRUE(check_package_name("kws").ok());
  EXPECT_TRUE(check_package_name("a_2").ok());
  for (const char* name : {"", "2a", "a-b", "a__b", "_a", "int", "abcdefghijklmnopqrstuvwxyz"}) {
    EXPECT_FALSE(check_package_name(name).ok()) << name;
  }
}

TEST(Names, HeadersHaveEachNameOnce) {
  const std::string guard = "#ifndef KWS_H\n#define KWS_H\n";
  const std::string two = "#if A\n#define KWS_F(x)\n#else\n#define KWS_F(x) x\n#endif\n";
  EXPECT_TRUE(check_declared_once(guard + two + "#define KWS_A 1\nint *kws_a(int b);\n", "f").ok());
  EXPECT_EQ(check_declared_once(guard + "#define KWS_A 1\n#define KWS_A 2\n", "kws.h").message(),
            "kws.h would have two things called KWS_A: call a method, with --method, or an input "
            "or output otherwise");
  for (const char* twice : {"float *kws_a(void);\nint kws_a(int b,\n    int c);\n",
                            "#define KWS_A(x) x\n#define KWS_A 1\n"}) {
    EXPECT_FALSE(check_declared_once(guard + twice, "kws.h").ok()) << twice;
  }
}

TEST(Names, PackagesDoNotHideHeaders) {
  for (const char* name : {"math", "Math", "stdint", "string", "petrel_model", "petrel_rpc"}) {
    EXPECT_THAT(std::string(check_package_name(name).message()),
                HasSubstr("would hide the header"));
  }
  EXPECT_TRUE(check_package_name("mathematics").ok());
}

}  // namespace
}  // namespace petrel::exir::emit_c
