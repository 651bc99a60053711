// SPDX-License-Identifier: Apache-2.0
#include "exir/compile_c/run_compiler.h"

#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/compile_c/start_program.h"

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

// errno; `state` is as of waitpid().
int wait_for(pid_t pid, int* state) {
  while (waitpid(pid, state, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

absl::Status why_not_started(const std::string& program, const std::string& folder,
                             const std::string& output, const Started& started) {
  const std::string what = absl::StrCat("C compiler '", program, "' cannot be started");
  const char* const why = std::strerror(started.error);
  switch (started.failed) {
    case Started::kInput:
      return absl::InternalError(absl::StrCat(what, ": cannot open '/dev/null': ", why));
    case Started::kOutput:
      return absl::InternalError(absl::StrCat(what, ": cannot open '", output, "': ", why));
    case Started::kFolder:
      return absl::InternalError(
          absl::StrCat(what, ": cannot enter the folder '", folder, "': ", why));
    default:
      break;
  }
  if (started.error == ENOENT || started.error == EACCES) {
    return absl::NotFoundError(absl::StrCat(what, ": ", why, "; CC names another one"));
  }
  return absl::InternalError(absl::StrCat(what, ": ", why));
}

absl::Status how_it_ended(const std::vector<std::string>& words, const std::string& output,
                          int state) {
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
  std::vector<Started> all(commands.size());
  for (size_t i = 0; i < commands.size(); ++i) {
    all[i] = start_program(commands[i], folder, output_file(folder, i));
  }
  absl::Status status;
  for (size_t i = 0; i < commands.size(); ++i) {
    const std::string output = output_file(folder, i);
    if (all[i].failed != Started::kNothing) {
      status.Update(why_not_started(commands[i][0], folder, output, all[i]));
      continue;
    }
    int state = 0;
    if (const int error = wait_for(all[i].pid, &state); error != 0) {
      status.Update(absl::InternalError(
          absl::StrCat("cannot wait for '", commands[i][0], "': ", std::strerror(error))));
    } else {
      status.Update(how_it_ended(commands[i], output, state));
    }
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
