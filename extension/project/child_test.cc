// SPDX-License-Identifier: Apache-2.0
#include "extension/project/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/status/status.h"

namespace petrel::extension {
namespace {

using ::testing::HasSubstr;

TEST(ChildTest, TellsHowAProgramEndedAndWhatItSaid) {
  Child child;
  ASSERT_TRUE(child.start({"sh", "-c", "echo out; echo err >&2; exit 7"}, {}).ok());
  const auto end = child.finish(10000);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->code, 7);
  EXPECT_THAT(end->output, HasSubstr("out\n"));
  EXPECT_THAT(end->output, HasSubstr("err\n"));
}

TEST(ChildTest, StartsInAFolderWithAnEnvironment) {
  Child child;
  Child::Options options;
  options.folder = "/";
  options.environment = {{"PETREL_TEST_WORD", "here"}};
  ASSERT_TRUE(child.start({"sh", "-c", "pwd; echo $PETREL_TEST_WORD"}, options).ok());
  const auto end = child.finish(10000);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->output, "/\nhere\n");
}

TEST(ChildTest, WritesAndReads) {
  Child child;
  ASSERT_TRUE(child.start({"cat"}, {}).ok());
  ASSERT_TRUE(child.write("abc", 10000).ok());
  const auto bytes = child.read(100, 10000);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, "abc");
}

TEST(ChildTest, AProgramThatHangsIsKilledInTime) {
  const auto start = std::chrono::steady_clock::now();
  {
    Child child;
    // The one that it starts keeps its output open.
    ASSERT_TRUE(child.start({"sh", "-c", "sleep 1000 & sleep 1000"}, {}).ok());
    EXPECT_TRUE(absl::IsDeadlineExceeded(child.read(1, 50).status()));
    const auto end = child.finish(100);
    EXPECT_TRUE(absl::IsDeadlineExceeded(end.status())) << end.status();
    EXPECT_THAT(std::string(end.status().message()), HasSubstr("'sh' did not end within 100 ms"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(100));
}

TEST(ChildTest, AProgramThatWritesWithoutEndIsKilledInTime) {
  Child child;
  ASSERT_TRUE(child.start({"yes"}, {}).ok());
  const auto end = child.finish(100);
  EXPECT_TRUE(absl::IsDeadlineExceeded(end.status())) << end.status();
}

TEST(ChildTest, AProgramThatIsNotThereIsNamed) {
  Child child;
  const absl::Status status = child.start({"no-such-program"}, {});
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("'no-such-program' is not installed"));
}

TEST(ChildTest, WritingToOneThatEndedIsAnError) {
  Child child;
  ASSERT_TRUE(child.start({"true"}, {}).ok());
  const auto end = child.read(1, 10000);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, "");
  EXPECT_FALSE(child.write(std::string(1 << 20, 'x'), 10000).ok());
}

}  // namespace
}  // namespace petrel::extension
