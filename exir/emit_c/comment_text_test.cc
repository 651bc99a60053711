// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/comment_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::emit_c {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CommentText, WhatIsHarmlessStays) {
  EXPECT_EQ(comment_text("'conv' (aten.conv2d) at a/b.py:12 -> f32[1, 2]?"),
            "'conv' (aten.conv2d) at a/b.py:12 -> f32[1, 2]?");
  EXPECT_EQ(comment_text(""), "");
}

TEST(CommentText, CommentsNeitherEndNorBegin) {
  EXPECT_EQ(comment_text("w*/ x"), "w* / x");
  EXPECT_EQ(comment_text("/*/"), "/ * /");
  EXPECT_EQ(comment_text("**//"), "** / /");
  EXPECT_EQ(comment_text("int(s0//2)"), "int(s0/ /2)");
}

TEST(CommentText, LinesAreNotJoined) {
  EXPECT_EQ(comment_text("*\\\n/"), "* /_/");
  EXPECT_EQ(comment_text("a\r\nb\tc"), "a__b_c");
  EXPECT_EQ(comment_text("*?\?/\n/"), "*? ?/_/");
  EXPECT_EQ(comment_text("a\\"), "a/");
}

TEST(CommentText, OtherScriptsAndDirectionsAreUnderscores) {
  EXPECT_EQ(comment_text("\xe2\x80\xae*/"), "___* /");
  EXPECT_EQ(comment_text(std::string("a\0b\x7f", 4)), "a_b_");
}

TEST(CommentText, NoThreeBytesMakeWhatMeansSomething) {
  const std::string bytes = "*/\\?\n\r\t a\xe2";
  for (const char a : bytes) {
    for (const char b : bytes) {
      for (const char c : bytes) {
        const std::string text = comment_text(std::string{a, b, c});
        for (const char* meaning : {"*/", "/*", "//", "??", "\\", "\n", "\r"}) {
          EXPECT_THAT(text, Not(HasSubstr(meaning)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace petrel::exir::emit_c
