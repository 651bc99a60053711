// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/additive_masks.h"

#include <string>

#include "exir/ir/op.h"
#include "exir/pass/framework/pass_case.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

constexpr char kTwice[] = R"(
  method @m(%q: f32[1,2,4,8], %mask: bool[1,1,4,4]) {
    %y = aten.scaled_dot_product_attention.default(%q, %q, %q, %mask)
    %z = aten.scaled_dot_product_attention.default(%y, %q, %q, %mask)
    return %z
  })";

PassContext keeping(const std::string& name) {
  PassContext context;
  context.keep_whole = [name](const OpInfo& op) { return op.name == name; };
  return context;
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

TEST(AdditiveMasks, MakesOneSumForAllThatShareAMask) {
  const std::string text =
      after_pass(additive_masks, kTwice, keeping("aten::scaled_dot_product_attention"));
  EXPECT_EQ(count(text, "aten.where.self"), 1u) << text;
  EXPECT_EQ(count(text, "aten.scaled_dot_product_attention"), 2u) << text;
  EXPECT_THAT(text, HasSubstr("f32[1,1,4,4]"));
}

TEST(AdditiveMasks, LeavesMasksToKernelsWhenNobodyWantsTheAttention) {
  EXPECT_EQ(after_pass(additive_masks, kTwice), expected(kTwice));
  EXPECT_EQ(after_pass(additive_masks, kTwice, keeping("aten::relu")), expected(kTwice));
}

TEST(AdditiveMasks, LeavesMasksThatAreAdded) {
  const std::string text = R"(
    method @m(%q: f32[1,2,4,8], %mask: f32[4,4]) {
      %y = aten.scaled_dot_product_attention.default(%q, %q, %q, %mask)
      %z = aten.scaled_dot_product_attention.default(%y, %q, %q)
      return %z
    })";
  EXPECT_EQ(after_pass(additive_masks, text, keeping("aten::scaled_dot_product_attention")),
            expected(text));
}

}  // namespace
}  // namespace petrel::exir
