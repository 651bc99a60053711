// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/kernel_library.h"

#include <algorithm>
#include <regex>
#include <string>

#include "absl/strings/ascii.h"
#include "exir/emit_c/sources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::emit_c {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

KernelCall map_of(const std::string& expression) {
  return {"kernels/map.h",
          "f",
          {{"IN_TYPE", "float"},
           {"OUT_TYPE", "float"},
           {"ARITHMETIC", "double"},
           {"LOAD_IN", "(double)"},
           {"STORE_OUT", "(float)"},
           {"EXPRESSION", expression}},
          {},
          {},
          false};
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(KernelLibrary, OnlyWholeWordsAreReplaced) {
  EXPECT_EQ(with_words_replaced("IN + IN_TYPE(xIN)", {{"IN", "a"}}), "a + IN_TYPE(xIN)");
}

TEST(KernelLibrary, CallsWithOneTextShareAFunction) {
  KernelLibrary library;
  EXPECT_EQ(library.add(map_of("x + 1.0"))->name, "petrel_kernel_f");
  EXPECT_EQ(library.add(map_of("x + 2.0"))->name, "petrel_kernel_f_2");
  EXPECT_EQ(library.add(map_of("x + 1.0"))->name, "petrel_kernel_f");
  EXPECT_EQ(count(library.text(), "static void petrel_kernel_f"), 2u);
}

TEST(KernelLibrary, FunctionsThatAnExpressionCallsComeFirstAndOnce) {
  KernelLibrary library;
  ASSERT_TRUE(library.add(map_of("petrel_tanh(x)")).ok());
  ASSERT_TRUE(library.add(map_of("petrel_tanh(petrel_exp(x))")).ok());
  const std::string& text = library.text();
  EXPECT_EQ(count(text, "double petrel_exp_rest(double"), 1u);
  EXPECT_EQ(count(text, "double petrel_exp(double"), 1u);
  EXPECT_LT(text.find("double petrel_exp_rest("), text.find("double petrel_expm1("));
  EXPECT_LT(text.find("double petrel_expm1("), text.find("double petrel_tanh("));
  EXPECT_LT(text.find("double petrel_tanh("), text.find("static void petrel_kernel_f("));
  EXPECT_THAT(library.includes(), Contains("math.h"));
}

TEST(KernelLibrary, HeadersAreThoseOfWhatTheCodeCalls) {
  EXPECT_THAT(standard_includes("y[i] = (float)sqrt((double)x[i]);"), ElementsAre("math.h"));
  EXPECT_THAT(standard_includes("fill(y, -INFINITY); done = true;"),
              ElementsAre("math.h", "stdbool.h"));
  EXPECT_THAT(standard_includes("petrel_sqrt(x); sqrt_of(x);"), IsEmpty());
}

TEST(KernelLibrary, NothingOfTheSourceTreeIsLeft) {
  KernelLibrary library;
  ASSERT_TRUE(library.add(map_of("petrel_pow(x, 2.0)")).ok());
  EXPECT_THAT(library.text(), Not(HasSubstr("#include")));
  EXPECT_THAT(library.text(), Not(HasSubstr("SPDX")));
  EXPECT_THAT(library.text(), Not(HasSubstr("NAME")));
}

TEST(KernelLibrary, SizesThatVaryAreParametersOfOneFunction) {
  KernelLibrary library;
  KernelCall call = map_of("x");
  call.source = "kernels/move.h";
  call.tokens["SIZES"] = "{sizes_0_, 8}";
  call.tokens["ROWS"] = "rows_";
  call.tokens["IN_STRIDES"] = "{8, 1}";
  call.varying = {{"sizes_0_", "sizes->s0"}, {"rows_", "sizes->s0"}, {"none_", "sizes->s1"}};
  const auto first = library.add(call);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(first->sizes, ElementsAre("(int32_t)(sizes->s0)", "(int32_t)(sizes->s0)"));
  call.varying[0].value = call.varying[1].value = "2 * sizes->s1";
  const auto second = library.add(call);
  EXPECT_EQ(second->name, first->name);
  EXPECT_THAT(second->sizes, ElementsAre("(int32_t)(2 * sizes->s1)", "(int32_t)(2 * sizes->s1)"));
  EXPECT_THAT(library.text(), HasSubstr("petrel_kernel_f(int32_t sizes_0_, int32_t rows_, const"));
  EXPECT_THAT(library.text(), HasSubstr("\n  const int32_t sizes[] = {sizes_0_, 8};"));
  EXPECT_THAT(library.text(), HasSubstr("\n  static const int32_t in_strides[] = {8, 1};"));
}

TEST(KernelLibrary, NumbersOfOtherTypesAreParametersToo) {
  KernelLibrary library;
  KernelCall call = map_of("x + real_");
  call.varying = {{"real_", "1.0 / (double)(sizes->s0)", "double"}};
  const auto function = library.add(call);
  ASSERT_TRUE(function.ok()) << function.status();
  EXPECT_THAT(function->sizes, ElementsAre("(double)(1.0 / (double)(sizes->s0))"));
  EXPECT_THAT(library.text(), HasSubstr("petrel_kernel_f(double real_, const"));
}

TEST(KernelLibrary, FunctionsThatAKernelBringsAreNamedAfterIt) {
  KernelLibrary library;
  KernelCall call = map_of("x");
  call.source = "kernels/convolution.h";
  call.tokens["SUM_TYPE"] = "double";
  ASSERT_TRUE(library.add(call).ok());
  call.tokens["TILE"] = "4";
  ASSERT_TRUE(library.add(call).ok());
  EXPECT_EQ(count(library.text(), "static double petrel_kernel_f_of_one("), 1u);
  EXPECT_EQ(count(library.text(), "static double petrel_kernel_f_2_of_one("), 1u);
  EXPECT_EQ(count(library.text(), "PETREL_KERNEL static void petrel_kernel_f_2("), 1u);
  EXPECT_THAT(library.text(), Not(HasSubstr("NAME")));
}

TEST(KernelLibrary, PartsThatKernelsShareAreInEach) {
  KernelLibrary library;
  KernelCall call = map_of("x");
  call.source = "kernels/convolution_plane.h";
  ASSERT_TRUE(library.add(call).ok());
  call.source = "kernels/convolution_points.h";
  ASSERT_TRUE(library.add(call).ok());
  EXPECT_EQ(count(library.text(), "static inline void petrel_kernel_f_of_store("), 1u);
  EXPECT_EQ(count(library.text(), "static inline void petrel_kernel_f_2_of_store("), 1u);
  EXPECT_EQ(count(library.text(), "_of_is_odd(SUM_VECTOR"), 1u);
  EXPECT_LT(library.text().find("#define PETREL_LANES 1"), library.text().find("_of_store("));
  EXPECT_THAT(library.text(), Not(HasSubstr("NAME")));
  EXPECT_THAT(library.includes(), Contains("stdbool.h"));
}

TEST(KernelLibrary, HeadersOfAProcessorAreIncludedOnThatOneOnly) {
  KernelLibrary library;
  KernelCall call = map_of("x");
  call.source = "kernels/convolution.h";
  ASSERT_TRUE(library.add(call).ok());
  EXPECT_THAT(library.includes(), Not(Contains("immintrin.h")));
  EXPECT_EQ(library.conditional_includes(),
            "#if defined(__AVX__)\n#include <immintrin.h>\n#endif\n");
  EXPECT_THAT(library.text(), Not(HasSubstr("#include")));
}

// Clang warns where it is told to unroll a loop and cannot (-Wpass-failed, part of -Wall).
TEST(KernelLibrary, LoopsThatAreUnrolledHaveALengthThatCompilersKnow) {
  const std::regex loop("PETREL_UNROLL\\n *for \\(int32_t (\\w+) = 0; \\1 < ([^;]*);");
  size_t found = 0;
  for (const Source& source : all_sources()) {
    const std::string text(source.text);
    for (std::sregex_iterator at(text.begin(), text.end(), loop), end; at != end; ++at, ++found) {
      const std::string length = (*at)[2];
      const bool is_constant = std::none_of(length.begin(), length.end(), absl::ascii_islower);
      // What is left of it in each round of the loop around it, which is unrolled, too.
      EXPECT_TRUE(is_constant || length == "half") << source.path << ": " << (*at)[0];
    }
  }
  EXPECT_GT(found, 30u);
}

TEST(KernelLibrary, AKernelThatIsNotThereIsAnError) {
  KernelLibrary library;
  EXPECT_FALSE(library.add({"kernels/none.h", "f", {}, {}, {}, false}).ok());
}

}  // namespace
}  // namespace petrel::exir::emit_c
