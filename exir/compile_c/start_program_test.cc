// SPDX-License-Identifier: Apache-2.0
#include "exir/compile_c/start_program.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

class StartProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/start_program_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = std::filesystem::canonical(pattern);
    output_ = folder_ + "/said";
  }

  static std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static int exit_code(const Started& started) {
    int state = 0;
    return waitpid(started.pid, &state, 0) == started.pid && WIFEXITED(state) ? WEXITSTATUS(state)
                                                                              : -1;
  }

  // All that fails is told at once: there is no process to wait for.
  static void expect_failed(const Started& started, Started::Step step, int error) {
    EXPECT_EQ(started.failed, step);
    EXPECT_EQ(started.error, error);
    EXPECT_EQ(started.pid, -1);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  std::string folder_;
  std::string output_;
};

TEST_F(StartProgramTest, RunsInTheFolderAndKeepsAllThatItSays) {
  const Started started =
      start_program({"sh", "-c", "pwd; echo $0 >&2; cat; exit 3", "word"}, folder_, output_);
  ASSERT_EQ(started.failed, Started::kNothing);
  EXPECT_EQ(exit_code(started), 3);
  EXPECT_EQ(content(output_), folder_ + "\nword\n");
}

TEST_F(StartProgramTest, OutputIsOfTheFolderOfThisProcess) {
  const std::string here = std::filesystem::current_path();
  std::filesystem::create_directory(folder_ + "/inside");
  ASSERT_EQ(chdir(folder_.c_str()), 0);
  const Started started = start_program({"pwd"}, "inside", "said");
  ASSERT_EQ(chdir(here.c_str()), 0);
  ASSERT_EQ(started.failed, Started::kNothing);
  EXPECT_EQ(exit_code(started), 0);
  EXPECT_EQ(content(output_), folder_ + "/inside\n");
}

TEST_F(StartProgramTest, TellsWhatFailed) {
  expect_failed(start_program({"pwd"}, folder_ + "/none", output_), Started::kFolder, ENOENT);
  expect_failed(start_program({"pwd"}, output_, output_), Started::kFolder, ENOTDIR);
  expect_failed(start_program({"pwd"}, folder_, folder_ + "/none/said"), Started::kOutput, ENOENT);
  expect_failed(start_program({"no-such-program"}, folder_, output_), Started::kProgram, ENOENT);
  expect_failed(start_program({""}, folder_, output_), Started::kProgram, ENOENT);
  expect_failed(start_program({"./none"}, folder_, output_), Started::kProgram, ENOENT);
  std::ofstream(folder_ + "/text") << "no program";
  expect_failed(start_program({"./text"}, folder_, output_), Started::kProgram, EACCES);
  ASSERT_EQ(chmod((folder_ + "/text").c_str(), 0700), 0);
  expect_failed(start_program({"./text"}, folder_, output_), Started::kProgram, ENOEXEC);
}

TEST_F(StartProgramTest, LooksThroughPathInItsOrder) {
  const std::string before = getenv("PATH");
  std::filesystem::create_directory(folder_ + "/inside");
  for (const char* name : {"mine", "inside/mine"}) {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\necho " << name << "\n";
  }
  ASSERT_EQ(chmod((folder_ + "/inside/mine").c_str(), 0700), 0);
  // An empty part is the folder that was entered; what may not be run there is passed over.
  setenv("PATH", (":/none:inside:" + before).c_str(), 1);
  const Started started = start_program({"mine"}, folder_, output_);
  setenv("PATH", "/none:", 1);
  const Started unrunnable = start_program({"mine"}, folder_, folder_ + "/unused");
  setenv("PATH", before.c_str(), 1);
  ASSERT_EQ(started.failed, Started::kNothing);
  EXPECT_EQ(exit_code(started), 0);
  EXPECT_EQ(content(output_), "inside/mine\n");
  expect_failed(unrunnable, Started::kProgram, EACCES);
}

// A daemon may have no standard descriptors: files that are opened take their numbers.
TEST_F(StartProgramTest, NeedsNoStandardDescriptors) {
  const auto body = [&] {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
    const Started started =
        start_program({"sh", "-c", "cat; pwd; echo error >&2"}, folder_, output_);
    const Started none = start_program({"no-such-program"}, folder_, folder_ + "/unused");
    _exit(started.failed == Started::kNothing && exit_code(started) == 0 &&
                  none.failed == Started::kProgram && none.error == ENOENT
              ? 0
              : 1);
  };
  EXPECT_EXIT(body(), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(content(output_), folder_ + "\nerror\n");
}

TEST_F(StartProgramTest, ManyThreadsStartProgramsAtTheSameTime) {
  std::vector<std::thread> threads;
  std::vector<int> codes(8);
  for (size_t i = 0; i < codes.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j) {
        const Started started = start_program({"sh", "-c", absl::StrCat("exit ", i)}, folder_,
                                              absl::StrCat(output_, i));
        codes[i] += started.failed == Started::kNothing ? exit_code(started) : -1000;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(codes, ::testing::ElementsAre(0, 20, 40, 60, 80, 100, 120, 140));
}

}  // namespace
}  // namespace petrel::exir
