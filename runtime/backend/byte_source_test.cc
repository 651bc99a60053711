// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/byte_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace petrel::runtime {
namespace {

using Place = ByteSource::Place;

// A file of 4096 bytes that nobody has changed for a while.
class OldFile {
 public:
  OldFile() : path_(::testing::TempDir() + "/byte_source_" + std::to_string(++count_)) {
    write(0, std::string(4096, 'a'));
  }
  ~OldFile() { unlink(path_.c_str()); }

  void write(off_t offset, const std::string& bytes) {
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
    EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), offset), static_cast<ssize_t>(bytes.size()));
    close(fd);
  }
  int open() const { return ::open(path_.c_str(), O_RDONLY); }
  const std::string& path() const { return path_; }

  static void wait_until_settled() { std::this_thread::sleep_for(std::chrono::milliseconds(2100)); }

 private:
  static inline int count_ = 0;
  std::string path_;
};

bool same(const std::optional<Place>& a, const std::optional<Place>& b) {
  return a && b && !(*a < *b) && !(*b < *a);
}

TEST(ByteSource, TellsWhereBytesOfMemoryAreFrom) {
  const std::vector<char> bytes(100);
  EXPECT_FALSE(ByteSource::find(bytes.data(), 1));
  std::optional<Place> before;
  {
    const auto source = ByteSource::of_memory(bytes.data(), bytes.size());
    before = ByteSource::find(bytes.data() + 10, 20);
    ASSERT_TRUE(before);
    EXPECT_EQ(before->offset, 10u);
    EXPECT_TRUE(ByteSource::find(bytes.data(), 100));
    EXPECT_FALSE(ByteSource::find(bytes.data(), 101));
    EXPECT_FALSE(ByteSource::find(bytes.data() + 50, 51));
    const auto again = ByteSource::of_memory(bytes.data(), bytes.size());
    EXPECT_TRUE(same(ByteSource::find(bytes.data() + 10, 20), before));
  }
  EXPECT_FALSE(ByteSource::find(bytes.data() + 10, 20));
  // The same address holds other bytes now, for all anyone knows.
  const auto later = ByteSource::of_memory(bytes.data(), bytes.size());
  EXPECT_FALSE(same(ByteSource::find(bytes.data() + 10, 20), before));
}

TEST(ByteSource, TellsTwoMappingsOfAFileToBeTheSameBytes) {
  OldFile file;
  const int first = file.open();
  const int second = file.open();
  const std::vector<char> a(64);
  const std::vector<char> b(64);
  const auto one = ByteSource::of_file(first);
  const auto two = ByteSource::of_file(second);
  one->announce(a.data(), a.size(), 128);
  two->announce(b.data(), b.size(), 100);
  // Changed just now: another change would leave the same times.
  EXPECT_FALSE(ByteSource::find(a.data(), 1));
  OldFile::wait_until_settled();
  EXPECT_TRUE(same(ByteSource::find(a.data(), 4), ByteSource::find(b.data() + 28, 4)));
  EXPECT_FALSE(same(ByteSource::find(a.data(), 4), ByteSource::find(b.data(), 4)));
  two->withdraw(b.data());
  EXPECT_FALSE(ByteSource::find(b.data() + 28, 4));
  EXPECT_TRUE(ByteSource::find(a.data(), 4));
  close(first);
  close(second);
}

TEST(ByteSource, TellsNothingOfAFileThatWasChanged) {
  OldFile file;
  const int fd = file.open();
  const std::vector<char> a(64);
  const auto source = ByteSource::of_file(fd);
  source->announce(a.data(), a.size(), 0);
  OldFile::wait_until_settled();
  const std::optional<Place> before = ByteSource::find(a.data(), 64);
  ASSERT_TRUE(before);
  file.write(10, "b");
  EXPECT_FALSE(ByteSource::find(a.data(), 64));
  OldFile::wait_until_settled();
  EXPECT_FALSE(ByteSource::find(a.data(), 64));
  // Who opens it now sees other bytes.
  const std::vector<char> b(64);
  const int later = file.open();
  const auto next = ByteSource::of_file(later);
  next->announce(b.data(), b.size(), 0);
  ASSERT_TRUE(ByteSource::find(b.data(), 64));
  EXPECT_FALSE(same(ByteSource::find(b.data(), 64), before));
  close(fd);
  close(later);
}

}  // namespace
}  // namespace petrel::runtime
