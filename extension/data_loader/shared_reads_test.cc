// SPDX-License-Identifier: Apache-2.0
//
// Weights that are read from one file are in memory once, whoever reads them, and what
// was changed is read again.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "extension/data_loader/file_data_loader.h"
#include "extension/data_loader/memory.h"
#include "extension/data_loader/mmap_data_loader.h"
#include "extension/data_loader/shared_reads.h"
#include "gtest/gtest.h"

namespace petrel::extension {
namespace {

using runtime::BytePlace;
using runtime::DataLoader;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using Type = DataLoader::SegmentInfo::Type;

constexpr size_t kLarge = size_t{512} << 10;

class SharedReadsTest : public ::testing::Test {
 protected:
  SharedReadsTest() : path_(::testing::TempDir() + "/shared_reads." + std::to_string(getpid())) {
    write('a');
  }
  ~SharedReadsTest() override { unlink(path_.c_str()); }

  // All bytes of the file, in place.
  void write(char byte) const {
    const int fd = open(path_.c_str(), O_WRONLY | O_CREAT, 0600);
    const std::string bytes(2 * kLarge, byte);
    ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    close(fd);
  }
  // A file that was changed just now may change again within the same tick.
  static void let_the_file_settle() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  }

  FileDataLoader open_file() const { return std::move(FileDataLoader::from(path_.c_str()).get()); }
  static FreeableBuffer load(const DataLoader& loader, Type type = Type::External,
                             size_t offset = 0) {
    Result<FreeableBuffer> buffer = loader.load(offset, kLarge, DataLoader::SegmentInfo(type));
    EXPECT_TRUE(buffer.ok());
    return std::move(*buffer);
  }
  static char first_byte(const FreeableBuffer& buffer) {
    return *static_cast<const char*>(buffer.data());
  }

  const std::string path_;
};

TEST_F(SharedReadsTest, WeightsAreInMemoryOnce) {
  let_the_file_settle();
  for (const Type type : {Type::External, Type::Constant}) {
    auto one = std::make_unique<FileDataLoader>(open_file());
    const FileDataLoader other = open_file();
    FreeableBuffer first = load(*one, type);
    const FreeableBuffer second = load(other, type);
    EXPECT_EQ(first.data(), second.data());
    EXPECT_NE(load(other, type, 4096).data(), second.data());
    // The last one frees it, after the loader that read it.
    first.free();
    one.reset();
    EXPECT_EQ(first_byte(second), 'a');
    EXPECT_EQ(load(other, type).data(), second.data());
  }
}

TEST_F(SharedReadsTest, StructuresStatesAndPayloadsAreTheReadersOwn) {
  let_the_file_settle();
  const FileDataLoader loader = open_file();
  for (const Type type : {Type::Program, Type::Mutable, Type::Backend}) {
    EXPECT_NE(load(loader, type).data(), load(loader, type, 0).data());
    const FreeableBuffer first = load(loader, type);
    EXPECT_NE(load(loader, type).data(), first.data());
  }
}

TEST_F(SharedReadsTest, AChangedFileIsReadAgain) {
  let_the_file_settle();
  const FileDataLoader before = open_file();
  const FreeableBuffer first = load(before);
  write('b');
  for (const bool settled : {false, true}) {
    if (settled) let_the_file_settle();
    const FileDataLoader after = open_file();
    EXPECT_EQ(first_byte(load(after)), 'b');
    EXPECT_EQ(first_byte(load(before)), 'b') << "what is in the file now";
  }
  EXPECT_EQ(first_byte(first), 'a') << "what was loaded does not change";
}

// A program may name one weight thousands of times.
TEST_F(SharedReadsTest, OneLoaderHasBytesInMemoryOnceHoweverNewTheFileIs) {
  const DataLoader::SegmentInfo info(Type::External);
  for (const size_t size : {size_t{512}, kLarge}) {
    for (bool is_new = false; !is_new;) {
      write('a');
      const FileDataLoader loader = open_file();
      Result<FreeableBuffer> first = loader.load(16, size, info);
      Result<FreeableBuffer> second = loader.load(16, size, info);
      ASSERT_TRUE(first.ok() && second.ok());
      is_new = !loader.find_place(16, size).ok();
      if (!is_new) continue;  // it took seconds
      EXPECT_EQ(first->data(), second->data());
      EXPECT_NE(open_file().load(16, size, info)->data(), second->data()) << "who cannot be sure";
      first->free();
      EXPECT_EQ(first_byte(*second), 'a');
      write('b');
      EXPECT_EQ(first_byte(load(loader)), 'b') << "what is in the file now";
    }
  }
}

TEST_F(SharedReadsTest, CopiesOfMemoryThatIsNotAlignedAreThereOnce) {
  alignas(16) const char bytes[1040] = "";
  const auto loader = open_memory(bytes + 1, sizeof(bytes) - 1);
  const DataLoader::SegmentInfo info(Type::External);
  Result<FreeableBuffer> first = loader->load(16, 1000, info);
  Result<FreeableBuffer> second = loader->load(16, 1000, info);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first->data()) % 16, 0u);
  EXPECT_EQ(first->data(), second->data());
}

// Of one file all these may be read, each once; it took as long as their number squared.
TEST_F(SharedReadsTest, ManyRangesThatBeginAtOnePlaceAreFound) {
  constexpr size_t kRanges = 400000;
  static const char byte = 'x';
  const auto range_of = [](size_t i) {
    return SharedReads::Range{BytePlace{UINT64_MAX, i % 2 == 0 ? 4096 : 16 * i}, 512 + i};
  };
  std::vector<FreeableBuffer> buffers;
  for (size_t i = 0; i < kRanges; ++i) {
    ASSERT_FALSE(SharedReads::find(range_of(i)).has_value());
    buffers.push_back(SharedReads::share(range_of(i), FreeableBuffer(&byte, 1, nullptr)));
  }
  for (size_t i = 0; i < kRanges; ++i) ASSERT_TRUE(SharedReads::find(range_of(i)).has_value());
  for (size_t i = 0; i < kRanges; i += 3) buffers[i].free();
  for (size_t i = 0; i < kRanges; ++i) {
    ASSERT_EQ(SharedReads::find(range_of(i)).has_value(), i % 3 != 0) << i;
  }
}

TEST_F(SharedReadsTest, ManyThreadsShareAndFree) {
  let_the_file_settle();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const FileDataLoader loader = open_file();
        const FreeableBuffer whole = load(loader);
        const FreeableBuffer part = load(loader, Type::External, 4096);
        if (first_byte(whole) != 'a' || first_byte(part) != 'a') ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(SharedReadsTest, EveryLoaderTellsThePlaceOfItsBytes) {
  let_the_file_settle();
  const FileDataLoader file = open_file();
  const Result<MmapDataLoader> mapped = MmapDataLoader::from(path_.c_str());
  ASSERT_TRUE(mapped.ok());
  const Result<BytePlace> place = file.find_place(4096, kLarge);
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->offset, 4096u);
  EXPECT_EQ(*mapped->find_place(4096, kLarge), *place);
  EXPECT_FALSE(*file.find_place(0, kLarge) == *place);
  EXPECT_FALSE(file.find_place(kLarge + 1, kLarge).ok());

  const int fd = open(path_.c_str(), O_RDONLY);
  const auto asset = FileDescriptorDataLoader::from(fd, 4096, kLarge);
  close(fd);
  ASSERT_TRUE(asset.ok());
  EXPECT_EQ(*asset->find_place(0, kLarge), *place);

  const std::string bytes(64, 'x');
  const auto memory = open_memory(bytes.data(), bytes.size());
  EXPECT_TRUE(memory->find_place(0, 64).ok());
  EXPECT_FALSE(memory->find_place(1, 64).ok());

  write('b');
  EXPECT_FALSE(file.find_place(4096, kLarge).ok()) << "was changed since it was opened";
  EXPECT_FALSE(open_file().find_place(4096, kLarge).ok()) << "was changed just now";
}

TEST(OpenMemory, HasNothingInPlaceThatMayChange) {
  alignas(64) static const char bytes[64] = {};
  const runtime::DataLoader::SegmentInfo info(runtime::DataLoader::SegmentInfo::Type::External);
  EXPECT_TRUE(open_memory(bytes, sizeof(bytes))->is_in_place(info));
  EXPECT_FALSE(open_memory(bytes, sizeof(bytes), /*may_change=*/true)->is_in_place(info));
  EXPECT_FALSE(open_memory(bytes + 1, sizeof(bytes) - 1)->is_in_place(info));
}

}  // namespace
}  // namespace petrel::extension
