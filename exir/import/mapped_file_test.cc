// SPDX-License-Identifier: Apache-2.0
#include "exir/import/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace petrel::exir {
namespace {

// By its kind the command and Python tell what is not there from what is wrong.
TEST(MappedFile, TellsWhatKindOfErrorItIs) {
  const absl::Status gone = MappedFile::open("no/such/file").status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kNotFound) << gone;
  EXPECT_TRUE(absl::StartsWith(gone.message(), "cannot be opened: ")) << gone;
  const absl::Status folder = MappedFile::open(::testing::TempDir()).status();
  EXPECT_EQ(folder.code(), absl::StatusCode::kInvalidArgument) << folder;
  EXPECT_EQ(folder.message(), "is not a regular file");
}

TEST(MappedFile, MayBeThereWhenThereAreFewerFilesOpen) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status many = MappedFile::open("/proc/self/exe").status();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(many.code(), absl::StatusCode::kUnavailable) << many;
}

// Far larger than the address space.
TEST(MappedFile, MayBeThereWhenThereIsMoreMemory) {
  const int fd = ::memfd_create("large", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::ftruncate(fd, off_t{1} << 61), 0);
  const absl::Status large = MappedFile::open(absl::StrCat("/proc/self/fd/", fd)).status();
  ::close(fd);
  EXPECT_EQ(large.code(), absl::StatusCode::kUnavailable) << large;
  EXPECT_TRUE(absl::StartsWith(large.message(), "cannot be mapped: ")) << large;
}

}  // namespace
}  // namespace petrel::exir
