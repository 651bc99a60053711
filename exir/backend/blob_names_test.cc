// SPDX-License-Identifier: Apache-2.0
#include "exir/backend/blob_names.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

TEST(BlobNames, FileNamesArePlain) {
  const std::string longest(255, 'x');
  for (const std::string& name : {std::string("w.ptd"), std::string("..x"), longest}) {
    EXPECT_TRUE(check_plain_file_name(name).ok()) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"),
        std::string("/etc/x"), std::string("a\\b"), std::string("a\0b", 3), longest + "x"}) {
    const absl::Status refused = check_plain_file_name(name);
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("is not a plain file name"));
  }
}

TEST(BlobNames, AreShownOnOneLineAndShortened) {
  EXPECT_EQ(shown_name("conv.weight"), "conv.weight");
  EXPECT_EQ(shown_name("a\nb"), "a\\nb");
  EXPECT_EQ(shown_name(std::string(81, 'k')), std::string(80, 'k') + "...");
}

TEST(BlobNames, TheDestinationWithoutANameIsTheProgram) {
  EXPECT_EQ(shown_destination(""), "the program");
  EXPECT_EQ(shown_destination("w.ptd"), "'w.ptd'");
}

}  // namespace
}  // namespace petrel::exir
