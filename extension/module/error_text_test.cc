// SPDX-License-Identifier: Apache-2.0
#include "extension/module/error_text.h"

#include <gtest/gtest.h>

namespace petrel::extension {
namespace {

TEST(Shown, KeepsWhatPeopleRead) {
  EXPECT_EQ(shown("a line\n\tand \xc3\xa4 second"), "a line\n\tand \xc3\xa4 second");
}

TEST(Shown, WritesOutWhatTerminalsObey) {
  EXPECT_EQ(shown(std::string_view("\x1b[2J\0\x7f\r", 7)), "\\x1b[2J\\x00\\x7f\\x0d");
}

TEST(Shown, WritesOutControlsOfTwoBytes) {
  EXPECT_EQ(shown("\xc2\x9b"
                  "2J\xc2\xa0\xc2"),
            "\\xc2\\x9b2J\xc2\xa0\xc2");
}

TEST(Shown, LeavesOutWhatIsTooLong) {
  const std::string text = shown(std::string(kMaxShown + 7, 'a'));
  EXPECT_EQ(text, std::string(kMaxShown, 'a') + " ... and 7 bytes more");
}

}  // namespace
}  // namespace petrel::extension
