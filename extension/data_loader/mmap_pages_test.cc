// SPDX-License-Identifier: Apache-2.0
//
// Which pages of a mapped file this process has in memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "extension/data_loader/mmap_data_loader.h"

namespace petrel::extension {
namespace {

using runtime::DataLoader;
using runtime::FreeableBuffer;
using Type = DataLoader::SegmentInfo::Type;

constexpr size_t kSize = size_t{4} << 20;

// Of the mapping that holds `address`, in bytes. Counts are exact here, unlike
// those of /proc/self/status, and the file may lie on any file system.
size_t resident_bytes(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0, kilobytes = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
      const auto wanted = reinterpret_cast<uintptr_t>(address);
      is_here = begin <= wanted && wanted < end;
    } else if (is_here && std::sscanf(line.c_str(), "Rss: %llu kB", &kilobytes) == 1) {
      return kilobytes * 1024;
    }
  }
  ADD_FAILURE() << "no mapping holds the address";
  return 0;
}

class MmapPages : public testing::Test {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < kSize; ++i) bytes_[i] = static_cast<char>(i * 7 + i / 4096);
    const std::string path = testing::TempDir() + "/mapped";
    std::ofstream(path, std::ios::binary) << bytes_;
    auto loader = MmapDataLoader::from(path.c_str());
    ASSERT_TRUE(loader.ok());
    loader_ = std::make_unique<MmapDataLoader>(std::move(loader.get()));
  }

  FreeableBuffer load(size_t offset, size_t size) {
    auto buffer = loader_->load(offset, size, DataLoader::SegmentInfo(Type::External));
    EXPECT_TRUE(buffer.ok());
    return std::move(buffer.get());
  }

  bool is_right(const FreeableBuffer& buffer, size_t offset) const {
    return std::memcmp(buffer.data(), bytes_.data() + offset, buffer.size()) == 0;
  }

  std::string bytes_ = std::string(kSize, '\0');
  std::unique_ptr<MmapDataLoader> loader_;
};

TEST_F(MmapPages, GoWithTheBuffer) {
  FreeableBuffer all = load(0, kSize);
  const void* const address = all.data();
  ASSERT_TRUE(is_right(all, 0));
  EXPECT_EQ(resident_bytes(address), kSize);
  all.free();
  EXPECT_EQ(resident_bytes(address), 0u);
}

TEST_F(MmapPages, GoWithSmallBuffersOnTheSamePages) {
  constexpr size_t kSmall = 1000;
  const void* const address = load(0, 1).data();
  for (size_t i = 0; i < kSize / 4 / kSmall; ++i) {
    // From both ends.
    const size_t offset = i % 2 == 0 ? i * kSmall : kSize - i * kSmall;
    const FreeableBuffer small = load(offset, kSmall);
    ASSERT_TRUE(is_right(small, offset));
  }
  EXPECT_LE(resident_bytes(address), kSize / 32);
}

TEST_F(MmapPages, ComeBackForOtherBuffers) {
  FreeableBuffer first = load(100, kSize / 2);
  const FreeableBuffer second = load(kSize / 4, kSize / 2);
  ASSERT_TRUE(is_right(first, 100));
  ASSERT_TRUE(is_right(second, kSize / 4));
  first.free();
  EXPECT_TRUE(is_right(second, kSize / 4));
}

TEST_F(MmapPages, OfTheLastBytesGo) {
  FreeableBuffer end = load(kSize - 10, 10);
  const void* const address = end.data();
  ASSERT_TRUE(is_right(end, kSize - 10));
  end.free();
  EXPECT_LE(resident_bytes(address), kSize / 32);
}

TEST_F(MmapPages, AreNotTouchedByEmptyBuffers) {
  FreeableBuffer page = load(0, 1);
  FreeableBuffer empty = load(0, 0);
  ASSERT_TRUE(is_right(page, 0));
  const size_t before = resident_bytes(page.data());
  empty.free();
  EXPECT_EQ(resident_bytes(page.data()), before);
}

}  // namespace
}  // namespace petrel::extension
