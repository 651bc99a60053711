// SPDX-License-Identifier: Apache-2.0
#include "exir/input/file_content.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

std::string scratch(const std::string& name) { return ::testing::TempDir() + "/" + name; }

std::string refusal_of(const std::string& path, uint64_t max_bytes = kMaxContentBytes) {
  const auto content = read_file_content(path, max_bytes);
  EXPECT_FALSE(content.ok());
  return std::string(content.status().message());
}

TEST(FileContent, IsAllBytesOfAFile) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{5000}, size_t{3} << 20}) {
    std::string bytes(size, 'x');
    if (size > 2) bytes[2] = '\0';
    std::ofstream(scratch("file"), std::ios::binary) << bytes;
    const auto content = read_file_content(scratch("file"), size);
    ASSERT_TRUE(content.ok()) << content.status();
    EXPECT_EQ(*content, bytes);
  }
}

TEST(FileContent, IsWhatComesThroughAPipe) {
  const std::string path = scratch("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string bytes(size_t{3} << 20, 'y');
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << bytes; });
  const auto content = read_file_content(path, kMaxContentBytes);
  writer.join();
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(*content, bytes);
}

TEST(FileContent, RefusesWhatIsNoFile) {
  EXPECT_THAT(refusal_of(scratch("missing")), HasSubstr("No such file"));
  EXPECT_THAT(refusal_of(::testing::TempDir()), HasSubstr("is a folder"));
  EXPECT_EQ(refusal_of("/dev/zero"), "is neither a file nor a pipe");
}

// Memory of this process at address 0 cannot be read, although the file opens.
TEST(FileContent, TellsWhyReadingFails) {
  EXPECT_EQ(refusal_of("/proc/self/mem"), "Input/output error");
}

TEST(FileContent, KeepsNoMoreThanTheLimit) {
  std::ofstream(scratch("long"), std::ios::binary) << "12345";
  EXPECT_THAT(refusal_of(scratch("long"), 4), HasSubstr("has more than 4 bytes"));
  // Has no size until it is read.
  EXPECT_THAT(refusal_of("/proc/self/maps", 100), HasSubstr("has more than 100 bytes"));
  // A terabyte without a byte on disk.
  ASSERT_EQ(truncate(scratch("long").c_str(), off_t{1} << 40), 0);
  EXPECT_THAT(refusal_of(scratch("long")), HasSubstr("has more than 17179869184 bytes"));
}

}  // namespace
}  // namespace petrel::exir
