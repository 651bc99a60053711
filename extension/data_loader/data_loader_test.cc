// SPDX-License-Identifier: Apache-2.0
//
// What every loader promises, asserted on each of them over the same bytes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/data_loader/file_data_loader.h"
#include "extension/data_loader/file_descriptor_data_loader.h"
#include "extension/data_loader/mmap_data_loader.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::DataLoader;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using Type = DataLoader::SegmentInfo::Type;

std::string some_bytes() {
  std::string bytes(300'000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  return bytes;
}

std::string write_file(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

struct Held {
  std::string bytes = some_bytes();
  std::string shifted;  // the same bytes at an odd address
  std::unique_ptr<DataLoader> loader;
};

class DataLoaderTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string kind = GetParam();
    if (kind == "file") {
      auto loader = FileDataLoader::from(write_file("file", held_.bytes).c_str());
      ASSERT_TRUE(loader.ok());
      held_.loader = std::make_unique<FileDataLoader>(std::move(loader.get()));
    } else if (kind == "mmap") {
      auto loader = MmapDataLoader::from(write_file("mmap", held_.bytes).c_str());
      ASSERT_TRUE(loader.ok());
      held_.loader = std::make_unique<MmapDataLoader>(std::move(loader.get()));
    } else if (kind == "descriptor") {
      const std::string path = write_file("asset", "skip me" + held_.bytes + "tail");
      const int fd = open(path.c_str(), O_RDONLY);
      auto loader = FileDescriptorDataLoader::from(fd, 7, held_.bytes.size());
      close(fd);
      ASSERT_TRUE(loader.ok());
      held_.loader = std::make_unique<FileDescriptorDataLoader>(std::move(loader.get()));
    } else {
      held_.shifted = "x" + held_.bytes;
      held_.loader =
          std::make_unique<BufferDataLoader>(held_.shifted.data() + 1, held_.bytes.size());
    }
  }

  Held held_;
};

TEST_P(DataLoaderTest, KnowsItsSize) {
  Result<size_t> size = held_.loader->size();
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(*size, held_.bytes.size());
}

TEST_P(DataLoaderTest, LoadsExactlyTheRange) {
  for (const Type type : {Type::Program, Type::Constant}) {
    for (const size_t offset : {size_t{0}, size_t{3}, size_t{16}, size_t{4096}}) {
      Result<FreeableBuffer> buffer =
          held_.loader->load(offset, 700, DataLoader::SegmentInfo(type));
      ASSERT_TRUE(buffer.ok());
      ASSERT_EQ(buffer->size(), 700u);
      EXPECT_EQ(std::memcmp(buffer->data(), held_.bytes.data() + offset, 700), 0);
      buffer->free();
      buffer->free();  // the second time does nothing
    }
  }
}

TEST_P(DataLoaderTest, AlignsRangesWithAlignedOffsets) {
  for (const size_t offset : {size_t{0}, size_t{16}, size_t{48}}) {
    Result<FreeableBuffer> buffer =
        held_.loader->load(offset, 10, DataLoader::SegmentInfo(Type::Constant));
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % runtime::kDataAlignment, 0u);
  }
}

// A backend may want its blob at a multiple of up to a page; the file has it there,
// and so has memory, however the file is loaded. Memory of the caller lies where it
// lies.
TEST_P(DataLoaderTest, AlignsMemoryAsFarAsTheFileUpToAPage) {
  if (GetParam() == "buffer") GTEST_SKIP() << "does not move the caller's bytes";
  for (const size_t alignment : {size_t{64}, size_t{1024}, size_t{4096}}) {
    for (const size_t size : {size_t{10}, size_t{200'000}}) {
      const size_t offset = 8192 + (alignment == 4096 ? 0 : alignment);
      Result<FreeableBuffer> buffer =
          held_.loader->load(offset, size, DataLoader::SegmentInfo(Type::External));
      ASSERT_TRUE(buffer.ok());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % alignment, 0u);
      EXPECT_EQ(std::memcmp(buffer->data(), held_.bytes.data() + offset, size), 0);
    }
  }
}

TEST_P(DataLoaderTest, CopiesProgramsIntoPrivateMemory) {
  Result<FreeableBuffer> first = held_.loader->load(0, 64, DataLoader::SegmentInfo(Type::Program));
  Result<FreeableBuffer> second = held_.loader->load(0, 64, DataLoader::SegmentInfo(Type::Program));
  ASSERT_TRUE(first.ok() && second.ok());
  // The buffer of this test is misaligned, so it is copied too.
  EXPECT_NE(first->data(), second->data());
}

TEST_P(DataLoaderTest, LoadsIntoMemoryOfTheCaller) {
  char out[32];
  ASSERT_EQ(held_.loader->load_into(5, sizeof(out), DataLoader::SegmentInfo(Type::Mutable), out),
            Error::Ok);
  EXPECT_EQ(std::memcmp(out, held_.bytes.data() + 5, sizeof(out)), 0);
}

TEST_P(DataLoaderTest, RejectsRangesPastTheEnd) {
  const size_t end = held_.bytes.size();
  const struct {
    size_t offset, size;
  } kBad[] = {{0, end + 1}, {end, 1}, {end + 1, 0}, {SIZE_MAX, 2}, {1, SIZE_MAX}, {end - 1, 2}};
  for (const auto& bad : kBad) {
    for (const Type type : {Type::Program, Type::Constant}) {
      EXPECT_EQ(held_.loader->load(bad.offset, bad.size, DataLoader::SegmentInfo(type)).error(),
                Error::InvalidArgument)
          << bad.offset << " +" << bad.size;
    }
    char out[4];
    EXPECT_EQ(held_.loader->load_into(bad.offset, bad.size, DataLoader::SegmentInfo(), out),
              Error::InvalidArgument);
  }
}

TEST_P(DataLoaderTest, LoadsAnEmptyRangeAtTheEnd) {
  EXPECT_TRUE(held_.loader->load(held_.bytes.size(), 0, DataLoader::SegmentInfo()).ok());
}

TEST_P(DataLoaderTest, TellsNoPlaceOutsideItsBytes) {
  const size_t size = held_.bytes.size();
  // A file that was just written has none at all, which is another error.
  const Error expected = GetParam() == "buffer" ? Error::NotImplemented : Error::InvalidArgument;
  EXPECT_EQ(held_.loader->find_place(size - 1, 2).error(), expected);
  EXPECT_EQ(held_.loader->find_place(SIZE_MAX, 2).error(), expected);
}

// Two loads of bytes that lie in memory give the same address.
TEST_P(DataLoaderTest, TellsWhetherBytesStayInPlace) {
  const DataLoader::SegmentInfo info(Type::External);
  Result<FreeableBuffer> one = held_.loader->load(4096, 64, info);
  Result<FreeableBuffer> two = held_.loader->load(4096, 64, info);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(held_.loader->is_in_place(info), one->data() == two->data());
}

INSTANTIATE_TEST_SUITE_P(Loaders, DataLoaderTest,
                         testing::Values("file", "mmap", "descriptor", "buffer"),
                         [](const auto& info) { return info.param; });

TEST(FileDataLoader, TellsAMissingFileFromAnUnreadableOne) {
  EXPECT_EQ(FileDataLoader::from("/nonexistent/model.pte").error(), Error::NotFound);
  EXPECT_EQ(MmapDataLoader::from("/nonexistent/model.pte").error(), Error::NotFound);
  EXPECT_EQ(FileDataLoader::from("/").error(), Error::AccessFailed);
  EXPECT_EQ(MmapDataLoader::from("/dev/zero").error(), Error::AccessFailed);
}

TEST(FileDataLoader, DoesNotHangOnAPipe) {
  const std::string path = testing::TempDir() + "/pipe";
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(FileDataLoader::from(path.c_str()).error(), Error::AccessFailed);
  EXPECT_EQ(MmapDataLoader::from(path.c_str()).error(), Error::AccessFailed);
}

TEST(FileDataLoader, ReportsAFileThatShrankAfterItWasOpened) {
  const std::string path = write_file("shrinking", some_bytes());
  auto loader = FileDataLoader::from(path.c_str());
  ASSERT_TRUE(loader.ok());
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_EQ(loader->load(0, 200, DataLoader::SegmentInfo()).error(), Error::AccessFailed);
}

TEST(FileDescriptorDataLoader, RejectsARangeOutsideTheFile) {
  const std::string path = write_file("short", "0123456789");
  const int fd = open(path.c_str(), O_RDONLY);
  EXPECT_EQ(FileDescriptorDataLoader::from(fd, 5, 6).error(), Error::InvalidArgument);
  EXPECT_EQ(FileDescriptorDataLoader::from(fd, UINT64_MAX, 2).error(), Error::InvalidArgument);
  EXPECT_TRUE(FileDescriptorDataLoader::from(fd, 10, 0).ok());
  close(fd);
  std::string message;
  runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                           *static_cast<std::string*>(context) = text;
                         },
                         &message});
  EXPECT_EQ(FileDescriptorDataLoader::from(-1, 0, 0).error(), Error::AccessFailed);
  runtime::set_log_hook(runtime::LogHook{});
  EXPECT_EQ(message, "descriptor -1: Bad file descriptor");
}

// A file without a byte on disk that is larger than the address space.
class HugeFile {
 public:
  static constexpr size_t kSize = size_t{1} << 60;
  HugeFile() : fd_(memfd_create("huge", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(kSize)), 0);
  }
  ~HugeFile() { close(fd_); }
  int fd() const { return fd_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

TEST(FileDescriptorDataLoader, SaysThatThereIsNoMemory) {
  const HugeFile file;
  const auto loader = FileDescriptorDataLoader::from(file.fd());
  ASSERT_TRUE(loader.ok());
  EXPECT_EQ(loader->load(0, HugeFile::kSize, DataLoader::SegmentInfo(Type::External)).error(),
            Error::MemoryAllocationFailed);
}

TEST(FileDescriptorDataLoader, SaysThatThereAreNoDescriptorsLeft) {
  const HugeFile file;
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none = {0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto loader = FileDescriptorDataLoader::from(file.fd());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(loader.error(), Error::AccessFailed);
}

TEST(MmapDataLoader, SaysThatAFileDoesNotFitIntoMemory) {
  const HugeFile file;
  EXPECT_EQ(MmapDataLoader::from(file.path().c_str()).error(), Error::AccessFailed);
}

TEST(MmapDataLoader, MapsAnEmptyFile) {
  auto loader = MmapDataLoader::from(write_file("empty", "").c_str());
  ASSERT_TRUE(loader.ok());
  EXPECT_EQ(*loader->size(), 0u);
  EXPECT_EQ(loader->load(0, 1, DataLoader::SegmentInfo()).error(), Error::InvalidArgument);
}

}  // namespace
}  // namespace petrel::extension
