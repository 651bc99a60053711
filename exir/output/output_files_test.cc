// SPDX-License-Identifier: Apache-2.0
#include "exir/output/output_files.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

// Sent to this process when a folder is written out, which is when one of the files has its name.
int signal_at_names = 0;

}  // namespace

// Instead of the system's library's.
extern "C" int fsync(int fd) {
  struct stat info = {};
  const bool is_folder = fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
  if (is_folder && signal_at_names != 0) kill(getpid(), signal_at_names);
  return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

class OutputFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/output_files_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  size_t count() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::string content(const std::string& name) const {
    std::ifstream in(path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static absl::Status put(const ByteSink& sink, absl::string_view text) {
    return sink(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  }

  std::string folder_;
};

TEST_F(OutputFilesTest, FilesAppearTogether) {
  OutputFiles files;
  const auto first = files.open(path("a"));
  ASSERT_TRUE(first.ok() && put(*first, "one").ok());
  const auto second = files.open(path("b"));
  ASSERT_TRUE(second.ok() && put(*second, "two").ok());
  EXPECT_FALSE(std::filesystem::exists(path("a")));
  ASSERT_TRUE(files.publish().ok());
  EXPECT_EQ(content("a"), "one");
  EXPECT_EQ(content("b"), "two");
}

TEST_F(OutputFilesTest, ASignalFindsAllOfThemAndNothingElse) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    ASSERT_TRUE(write_output_file(path("a"), "old").ok());
    ASSERT_TRUE(write_output_file(path("b"), "old").ok());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      OutputFiles files;
      for (const char* name : {"a", "b"}) {
        const auto sink = files.open(path(name));
        if (!sink.ok() || !put(*sink, "new").ok()) _exit(1);
      }
      signal_at_names = signal;
      static_cast<void>(files.publish());
      _exit(2);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(content("a"), "new");
    EXPECT_EQ(content("b"), "new");
    EXPECT_EQ(count(), 2u);
  }
}

TEST_F(OutputFilesTest, LeavesWhatIsThereIfItIsNotToBeReplaced) {
  const auto write = [&](const std::string& text, OutputFiles::WhenOther when_other) {
    OutputFiles files;
    EXPECT_TRUE(put(*files.open(path("a")), "program of " + text).ok());
    EXPECT_TRUE(put(*files.open(path("b"), when_other), text).ok());
    return files.publish();
  };
  EXPECT_TRUE(write("one", OutputFiles::WhenOther::kRefuse).ok());
  EXPECT_TRUE(write("one", OutputFiles::WhenOther::kRefuse).ok());
  for (const std::string& other : std::vector<std::string>{"two", "on", "one and more", ""}) {
    const absl::Status status = write(other, OutputFiles::WhenOther::kRefuse);
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
    EXPECT_THAT(std::string(status.message()), HasSubstr(path("b")));
    EXPECT_EQ(content("a"), "program of one");
    EXPECT_EQ(content("b"), "one");
  }
  EXPECT_TRUE(write("two", OutputFiles::WhenOther::kReplace).ok());
  EXPECT_EQ(content("b"), "two");
}

TEST_F(OutputFilesTest, ShowsFilesBeforeTheyArePublished) {
  OutputFiles files;
  ASSERT_TRUE(put(*files.open(path("a")), "first").ok());
  ASSERT_TRUE(put(*files.open(path("b")), "second").ok());
  const auto places = files.finish();
  ASSERT_TRUE(places.ok()) << places.status();
  ASSERT_EQ(places->size(), 2u);
  std::ifstream shown(places->at(path("b")));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(shown), {}), "second");
  EXPECT_FALSE(std::filesystem::exists(path("b")));
  ASSERT_TRUE(files.publish().ok());
  EXPECT_EQ(content("a"), "first");
  EXPECT_EQ(content("b"), "second");
  EXPECT_EQ(count(), 2u);
}

TEST_F(OutputFilesTest, LeavesNothingWithoutPublish) {
  {
    OutputFiles files;
    ASSERT_TRUE(put(*files.open(path("a")), "one").ok());
  }
  EXPECT_EQ(count(), 0u);
}

TEST_F(OutputFilesTest, TakesBackWhatIsThereWhenALaterFileFails) {
  ASSERT_TRUE(write_output_file(path("a"), "old").ok());
  OutputFiles files;
  ASSERT_TRUE(put(*files.open(path("a")), "new").ok());
  std::filesystem::create_directory(path("folder"));
  ASSERT_TRUE(put(*files.open(path("folder/b")), "other").ok());
  std::filesystem::remove_all(path("folder"));
  EXPECT_FALSE(files.publish().ok());
  EXPECT_EQ(content("a"), "old");
}

TEST_F(OutputFilesTest, RefusesOnePathTwice) {
  OutputFiles files;
  ASSERT_TRUE(files.open(path("a")).ok());
  const auto again = files.open(folder_ + "/./a");
  EXPECT_THAT(std::string(again.status().message()), HasSubstr("two outputs"));
}

TEST_F(OutputFilesTest, SpellsAPathThatIsNotThereYetInOneWay) {
  EXPECT_EQ(canonical_path("not_there"), canonical_path("./not_there"));
  EXPECT_EQ(canonical_path("not_there"), canonical_path("none/../not_there"));
  EXPECT_EQ(canonical_path("not_there"),
            canonical_path((std::filesystem::current_path() / "not_there").string()));
}

TEST_F(OutputFilesTest, ChecksPathsWithoutATrace) {
  EXPECT_TRUE(check_output_path(path("a")).ok());
  EXPECT_EQ(check_output_path(path("none/a")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(count(), 0u);
}

}  // namespace
}  // namespace petrel::exir
