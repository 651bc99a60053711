// SPDX-License-Identifier: Apache-2.0
#include "exir/compile_c/start_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace petrel::exir {
namespace {

// What the child tells before it ends; exec closes the pipe without a word.
struct Failure {
  Started::Step step;
  int error;
};

// What the child needs, made before fork(): it must not allocate.
struct Plan {
  std::vector<char*> arguments;
  std::vector<std::string> programs;  // files to try, in the order of PATH
  const char* folder;
  const char* output;
  int told;  // where failures are written
};

std::vector<std::string> files_of(const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return {name};
  const char* const path = std::getenv("PATH");
  std::vector<std::string> files;
  for (const auto& folder : absl::StrSplit(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    files.push_back(absl::StrCat(folder.empty() ? "." : folder, "/", name));
  }
  return files;
}

bool open_as(int wanted, const char* path, int flags) {
  const int fd = open(path, flags, 0600);
  if (fd < 0) return false;
  if (fd == wanted) return true;
  const bool is_done = dup2(fd, wanted) >= 0;
  close(fd);
  return is_done;
}

// Returns if no file could be started. One that is there and may not be run says more than
// those that are not there.
int exec_one_of(const Plan& plan) {
  int error = ENOENT;
  for (const std::string& program : plan.programs) {
    execve(program.c_str(), plan.arguments.data(), environ);
    if (errno == EACCES) error = EACCES;
    if (errno != EACCES && errno != ENOENT && errno != ENOTDIR) return errno;
  }
  return error;
}

[[noreturn]] void run_child(const Plan& plan) {
  Failure failure{Started::kNothing, 0};
  if (!open_as(STDIN_FILENO, "/dev/null", O_RDONLY)) {
    failure = {Started::kInput, errno};
  } else if (!open_as(STDOUT_FILENO, plan.output, O_WRONLY | O_CREAT | O_TRUNC) ||
             dup2(STDOUT_FILENO, STDERR_FILENO) < 0) {
    failure = {Started::kOutput, errno};
  } else if (chdir(plan.folder) != 0) {
    failure = {Started::kFolder, errno};
  } else {
    failure = {Started::kProgram, exec_one_of(plan)};
  }
  // A few bytes go into a pipe whole; without them the exit code still tells that it failed.
  const ssize_t written = write(plan.told, &failure, sizeof(failure));
  _exit(written == sizeof(failure) ? 127 : 126);
}

// Both ends close at exec, and the child's is none of those that it opens anew.
bool make_pipe(int* from, int* to) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  *from = ends[0];
  *to = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(ends[1]);
  if (*to >= 0) return true;
  close(*from);
  errno = error;
  return false;
}

// False at the end of the pipe: the program runs.
bool read_failure(int from, Failure* failure) {
  for (;;) {
    const ssize_t got = read(from, failure, sizeof(*failure));
    if (got < 0 && errno == EINTR) continue;
    return got == sizeof(*failure);
  }
}

}  // namespace

Started start_program(const std::vector<std::string>& words, const std::string& folder,
                      const std::string& output) {
  Plan plan;
  for (const std::string& word : words) plan.arguments.push_back(const_cast<char*>(word.c_str()));
  plan.arguments.push_back(nullptr);
  plan.programs = files_of(words[0]);
  plan.folder = folder.c_str();
  plan.output = output.c_str();
  int from = -1;
  if (!make_pipe(&from, &plan.told)) return {-1, Started::kProcess, errno};
  const pid_t pid = fork();
  if (pid == 0) run_child(plan);
  const int error = errno;
  close(plan.told);
  Failure failure;
  const bool has_failed = pid > 0 && read_failure(from, &failure);
  close(from);
  if (pid < 0) return {-1, Started::kProcess, error};
  if (!has_failed) return {pid, Started::kNothing, 0};
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return {-1, failure.step, failure.error};
}

}  // namespace petrel::exir
