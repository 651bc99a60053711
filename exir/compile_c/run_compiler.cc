// SPDX-License-Identifier: Apache-2.0
#include "exir/compile_c/run_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace petrel::exir {
namespace {

constexpr size_t kMostLines = 5;

std::string output_file(const std::string& folder, size_t command) {
  return absl::StrCat(folder, "/compiler_output_", command, ".txt");
}

// The first lines, each after a newline.
std::string first_lines(const std::string& path) {
  std::ifstream in(path);
  std::string text, line;
  for (size_t i = 0; i < kMostLines && std::getline(in, line); ++i) {
    absl::StrAppend(&text, "\n", line);
  }
  return text;
}

// errno of starting the program.
int spawn(const std::vector<std::string>& words, const std::string& folder,
          const std::string& output, pid_t* pid) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  const int failed = posix_spawnp(pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

// errno; `state` is as of waitpid().
int wait_for(pid_t pid, int* state) {
  while (waitpid(pid, state, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

absl::Status how_it_ended(const std::vector<std::string>& words, const std::string& output,
                          int failed, int state) {
  if (failed == ENOENT || failed == EACCES) {
    return absl::NotFoundError(absl::StrCat("C compiler '", words[0], "' cannot be started: ",
                                            std::strerror(failed), "; CC names another one"));
  }
  if (failed != 0) {
    return absl::InternalError(
        absl::StrCat("C compiler '", words[0], "' cannot be started: ", std::strerror(failed)));
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return absl::OkStatus();
  const std::string how = WIFSIGNALED(state)
                              ? absl::StrCat("was killed by signal ", WTERMSIG(state))
                              : absl::StrCat("failed with exit code ", WEXITSTATUS(state));
  return absl::FailedPreconditionError(
      absl::StrCat("'", absl::StrJoin(words, " "), "' ", how, first_lines(output)));
}

}  // namespace

absl::Status run_compiler(const std::vector<std::string>& words, const std::string& folder) {
  return run_compilers({words}, folder);
}

absl::Status run_compilers(const std::vector<std::vector<std::string>>& commands,
                           const std::string& folder) {
  struct Running {
    int failed = 0;
    pid_t pid = -1;
  };
  std::vector<Running> all(commands.size());
  for (size_t i = 0; i < commands.size(); ++i) {
    all[i].failed = spawn(commands[i], folder, output_file(folder, i), &all[i].pid);
  }
  absl::Status status;
  for (size_t i = 0; i < commands.size(); ++i) {
    int state = 0;
    if (all[i].failed == 0) all[i].failed = wait_for(all[i].pid, &state);
    status.Update(how_it_ended(commands[i], output_file(folder, i), all[i].failed, state));
  }
  return status;
}

std::string ask_compiler(const std::vector<std::string>& words, const std::string& folder) {
  if (!run_compiler(words, folder).ok()) return "";
  std::ifstream in(output_file(folder, 0));
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace petrel::exir
