// SPDX-License-Identifier: Apache-2.0
#include "exir/output/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

std::atomic<int> calls_of_umask{0};

}  // namespace

// Instead of the system's library's.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++calls_of_umask;
  return static_cast<mode_t>(syscall(SYS_umask, mask));
}

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OutputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/output_file_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    DIR* folder = opendir(folder_.c_str());
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.') names.push_back(entry->d_name);
    }
    closedir(folder);
    return names;
  }

  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static absl::Span<const uint8_t> bytes(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }

  // Lets a system call of this process fail; false where that cannot be.
  static bool refuse(unsigned call, unsigned error) {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

  static constexpr int kCannotRefuse = 2;

  // The exit code of a process without `call` that writes `text` to `path`.
  static int write_without(unsigned call, unsigned error, const std::string& path,
                           const std::string& text) {
    const auto body = [&] {
      if (!refuse(call, error)) return kCannotRefuse;
      auto file = OutputFile::create(path);
      const bool is_written =
          file.ok() && file->write(bytes(text)).ok() && file->finish().ok() && file->publish().ok();
      return is_written ? 0 : 1;
    };
    const pid_t child = fork();
    if (child == 0) _exit(body());
    int state = 0;
    return waitpid(child, &state, 0) == child && WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  }

  std::string folder_;
};

TEST_F(OutputFileTest, AppearsOnlyWhenPublished) {
  const std::string path = folder_ + "/x";
  auto file = OutputFile::create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string big(1000000, 'b');
  ASSERT_TRUE(file->write(bytes("small ")).ok());
  ASSERT_TRUE(file->write(bytes(big)).ok());
  ASSERT_TRUE(file->write(bytes(" end")).ok());
  ASSERT_TRUE(file->finish().ok());
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  ASSERT_TRUE(file->publish().ok());
  EXPECT_EQ(contents(path), "small " + big + " end");
  EXPECT_THAT(files(), ElementsAre("x"));
}

TEST_F(OutputFileTest, BringsBackWhatItReplaced) {
  const std::string path = folder_ + "/x";
  std::ofstream(path) << "old";
  {
    auto file = OutputFile::create(path);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(file->write(bytes("new")).ok());
    ASSERT_TRUE(file->finish().ok());
    ASSERT_TRUE(file->publish().ok());
    EXPECT_EQ(contents(path), "new");
    file->withdraw();
    EXPECT_EQ(contents(path), "old");
  }
  EXPECT_EQ(contents(path), "old");
  EXPECT_THAT(files(), ElementsAre("x"));
}

// As with a kernel before 3.15.
TEST_F(OutputFileTest, ReplacesAFileWhereTheKernelCannotExchangeNames) {
  const std::string path = folder_ + "/x";
  std::ofstream(path) << "old";
  const int result = write_without(SYS_renameat2, ENOSYS, path, "new");
  if (result == kCannotRefuse) GTEST_SKIP() << "filters of system calls are not to be had";
  EXPECT_EQ(result, 0);
  EXPECT_EQ(contents(path), "new");
  EXPECT_THAT(files(), ElementsAre("x"));
}

TEST_F(OutputFileTest, CopiesWhereNoNameCanBeGivenToAFileThatHadNone) {
  const std::string path = folder_ + "/x";
  const std::string big(200000, 'b');
  int result = write_without(SYS_linkat, EPERM, path, big);
  if (result == kCannotRefuse) GTEST_SKIP() << "filters of system calls are not to be had";
  EXPECT_EQ(result, 0);
  EXPECT_EQ(contents(path), big);
  struct stat info;
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  EXPECT_EQ(write_without(SYS_linkat, EPERM, path, "new"), 0);
  EXPECT_EQ(contents(path), "new");
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_THAT(files(), ElementsAre("x"));
}

TEST_F(OutputFileTest, WritesThroughSymbolicLinks) {
  ASSERT_EQ(mkdir((folder_ + "/to").c_str(), 0700), 0);
  ASSERT_EQ(symlink("to/y", (folder_ + "/x").c_str()), 0);
  ASSERT_EQ(symlink("z", (folder_ + "/to/y").c_str()), 0);
  for (const std::string text : {"first", "second"}) {  // to nothing, and to a file
    auto file = OutputFile::create(folder_ + "/x");
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(file->write(bytes(text)).ok());
    ASSERT_TRUE(file->finish().ok());
    ASSERT_TRUE(file->publish().ok());
    EXPECT_EQ(contents(folder_ + "/to/z"), text);
  }
  struct stat info;
  for (const char* link : {"/x", "/to/y"}) {
    ASSERT_EQ(lstat((folder_ + link).c_str(), &info), 0);
    EXPECT_TRUE(S_ISLNK(info.st_mode)) << link;
  }
  ASSERT_EQ(symlink("round", (folder_ + "/round").c_str()), 0);
  EXPECT_THAT(std::string(OutputFile::create(folder_ + "/round").status().message()),
              HasSubstr("cannot follow the link '" + folder_ + "/round'"));
}

TEST_F(OutputFileTest, LeavesNothingWhenDropped) {
  {
    auto file = OutputFile::create(folder_ + "/x");
    ASSERT_TRUE(file.ok());
    OutputFile moved = *std::move(file);
    ASSERT_TRUE(moved.write(bytes("half")).ok());
  }
  EXPECT_THAT(files(), IsEmpty());
}

// As by Ctrl-C, or where memory runs out.
TEST_F(OutputFileTest, LeavesNothingWhenTheProcessIsKilled) {
  const int unnamed = open(folder_.c_str(), O_TMPFILE | O_RDWR, 0600);
  if (unnamed < 0) GTEST_SKIP() << "the file system has no files without a name";
  close(unnamed);
  const std::string path = folder_ + "/x";
  std::ofstream(path) << "old";
  const auto body = [&] {
    auto written = OutputFile::create(path);
    auto finished = OutputFile::create(folder_ + "/y");
    if (!written->write(bytes(std::string(200000, 'x'))).ok()) _exit(1);
    if (!finished->write(bytes("whole")).ok() || !finished->finish().ok()) _exit(1);
    if (contents(finished->temporary_path()) != "whole") _exit(1);
    raise(SIGKILL);
  };
  const pid_t child = fork();
  if (child == 0) body();
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFSIGNALED(state));
  EXPECT_THAT(files(), ElementsAre("x"));
  EXPECT_EQ(contents(path), "old");
}

// With few descriptors to be had, as in many processes.
TEST_F(OutputFileTest, HundredsOfFilesNeedFewDescriptors) {
  constexpr size_t kFiles = 300;
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  rlimit few = old;
  few.rlim_cur = 128;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  size_t published = 0;
  {
    std::vector<OutputFile> all;
    for (size_t i = 0; i < kFiles; ++i) {
      auto file = OutputFile::create(folder_ + "/" + std::to_string(i));
      if (!file.ok() || !file->write(bytes("x")).ok() || !file->finish().ok()) break;
      all.push_back(*std::move(file));
    }
    for (OutputFile& file : all) published += file.publish().ok() ? 1 : 0;
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_EQ(published, kFiles);
  EXPECT_EQ(files().size(), kFiles);
}

TEST_F(OutputFileTest, KeepsTheOldFileUntilPublishedAndItsMode) {
  const std::string path = folder_ + "/x";
  std::ofstream(path) << "old";
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  {
    auto file = OutputFile::create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes("new")).ok());
  }
  EXPECT_EQ(contents(path), "old");
  auto file = OutputFile::create(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(bytes("new")).ok());
  ASSERT_TRUE(file->finish().ok());
  ASSERT_TRUE(file->publish().ok());
  EXPECT_EQ(contents(path), "new");
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

// The umask is the process's: who sets it for a moment gives what other threads make another mode,
// and of two who put back what they found one puts back what the other had set.
TEST_F(OutputFileTest, NewFilesHaveTheModeThatTheUmaskLeavesWhichStays) {
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{027}, mode_t{077}}) {
    const mode_t old = umask(mask);
    const int calls = calls_of_umask;
    auto file = OutputFile::create(folder_ + "/x");
    EXPECT_EQ(calls_of_umask, calls);
    EXPECT_EQ(umask(old), mask);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(file->finish().ok());
    ASSERT_TRUE(file->publish().ok());
    struct stat info;
    ASSERT_EQ(stat((folder_ + "/x").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0666u & ~mask);
    file->withdraw();
  }
}

TEST_F(OutputFileTest, ManyThreadsMakeFilesOfTheirOwn) {
  const mode_t old = umask(022);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const auto file = OutputFile::create(folder_ + "/x");
        struct stat info = {};
        const bool is_right = file.ok() && stat(file->temporary_path().c_str(), &info) == 0 &&
                              (info.st_mode & 0777) == 0644;
        if (!is_right) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(umask(old), 022u);
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(OutputFileTest, WithdrawRemovesWhatWasPublished) {
  auto file = OutputFile::create(folder_ + "/x");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->finish().ok());
  ASSERT_TRUE(file->publish().ok());
  file->withdraw();
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(OutputFileTest, RefusesWhatIsNoFile) {
  EXPECT_THAT(std::string(OutputFile::create(folder_).status().message()),
              HasSubstr("is a directory"));
  EXPECT_THAT(std::string(OutputFile::create("/dev/null").status().message()),
              HasSubstr("'/dev/null' is not a regular file"));
  EXPECT_EQ(OutputFile::create("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(OutputFile::create("-").status().message()),
              HasSubstr("nothing is written to standard output"));
  EXPECT_EQ(OutputFile::create(folder_ + "/none/x").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(OutputFileTest, AFullDiskIsAnErrorAndLeavesNothing) {
  // A limit on the size of files fails writes as a full disk does.
  signal(SIGXFSZ, SIG_IGN);
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit small = old;
  small.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  absl::Status status;
  {
    auto file = OutputFile::create(folder_ + "/x");
    if (file.ok()) {
      status = file->write(bytes(std::string(5000, 'x')));
      if (status.ok()) status = file->finish();
    }
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/x': "));
  EXPECT_THAT(files(), IsEmpty());
}

}  // namespace
}  // namespace petrel::exir
