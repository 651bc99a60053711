// SPDX-License-Identifier: Apache-2.0
#include "extension/project/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "exir/status_macros.h"

namespace petrel::extension {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxOutput = size_t{1} << 20;

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1000));
}

Clock::time_point in(int64_t timeout_ms) {
  return Clock::now() + std::chrono::milliseconds(timeout_ms);
}

absl::Status too_late(const std::string& name, const char* what, int64_t timeout_ms) {
  return absl::DeadlineExceededError(
      absl::StrCat("'", name, "' did not ", what, " within ", timeout_ms, " ms"));
}

void close_end(int* fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

// Waits for an event on a descriptor; false when there is none in time.
bool wait_for(int fd, int16_t events, Clock::time_point end) {
  for (;;) {
    pollfd one = {fd, events, 0};
    const int left = milliseconds_until(end);
    const int ready = poll(&one, 1, left);
    if (ready > 0) return true;
    if (left == 0) return false;
  }
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** word = environ; *word != nullptr; ++word) all.emplace_back(*word);
  for (const auto& [name, value] : more) all.push_back(absl::StrCat(name, "=", value));
  return all;
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* const path = std::getenv("PATH");
  for (const auto& folder : absl::StrSplit(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const std::string file = absl::StrCat(folder, "/", name);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

Child::~Child() {
  kill();
  close_end(&to_);
  close_end(&from_);
}

void Child::kill() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);  // also what it started
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

absl::Status Child::start(const std::vector<std::string>& words, const Options& options) {
  name_ = words[0];
  const std::string program = find_program(words[0]);
  if (program.empty()) return absl::NotFoundError(absl::StrCat("'", name_, "' is not installed"));
  // Sockets: writing to one whose other end is closed can be an error and not a signal.
  int in[2], out[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) {
    return absl::InternalError(absl::StrCat("'", name_, "': ", std::strerror(errno)));
  }
  to_ = in[0];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out) != 0) {
    close(in[1]);
    return absl::InternalError(absl::StrCat("'", name_, "': ", std::strerror(errno)));
  }
  from_ = out[0];
  const std::vector<std::string> environment = environment_with(options.environment);
  const std::vector<char*> arguments = pointers_to(words), values = pointers_to(environment);
  pid_ = fork();
  if (pid_ == 0) {
    // Only what is safe between fork and exec.
    setpgid(0, 0);
    dup2(in[1], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    if (options.joins_errors) dup2(out[1], STDERR_FILENO);
    if (options.folder.empty() || chdir(options.folder.c_str()) == 0) {
      execve(program.c_str(), arguments.data(), values.data());
    }
    _exit(127);
  }
  close(in[1]);
  close(out[1]);
  if (pid_ < 0) return absl::InternalError(absl::StrCat("'", name_, "': ", std::strerror(errno)));
  setpgid(pid_, pid_);  // whichever of the two comes first
  fcntl(to_, F_SETFL, O_NONBLOCK);
  fcntl(from_, F_SETFL, O_NONBLOCK);
  return absl::OkStatus();
}

absl::Status Child::write(absl::string_view bytes, int64_t timeout_ms) {
  const Clock::time_point end = in(timeout_ms);
  while (!bytes.empty()) {
    if (!wait_for(to_, POLLOUT, end)) return too_late(name_, "read", timeout_ms);
    const ssize_t sent = send(to_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent < 0) return absl::UnavailableError(absl::StrCat("'", name_, "' has ended"));
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Child::read(size_t most, int64_t timeout_ms) {
  const Clock::time_point end = in(timeout_ms);
  std::string bytes(most, '\0');
  for (;;) {
    if (!wait_for(from_, POLLIN, end)) return too_late(name_, "answer", timeout_ms);
    const ssize_t got = ::read(from_, bytes.data(), most);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
    return bytes;
  }
}

absl::StatusOr<int> Child::reap(int64_t timeout_ms) {
  const Clock::time_point end = in(timeout_ms);
  int state = 0;
  while (waitpid(pid_, &state, WNOHANG) == 0) {
    if (milliseconds_until(end) == 0) return too_late(name_, "end", timeout_ms);
    usleep(500);
  }
  ::kill(-pid_, SIGKILL);  // what it left behind
  pid_ = -1;
  return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

absl::StatusOr<Child::End> Child::finish(int64_t timeout_ms) {
  const Clock::time_point end = in(timeout_ms);
  close_end(&to_);
  End result;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    // One that never stops writing has something to read at any time.
    const auto piece = left <= 0 ? too_late(name_, "end", timeout_ms) : read(65536, left);
    if (!piece.ok()) {
      kill();
      return too_late(name_, "end", timeout_ms);
    }
    if (piece->empty()) break;
    result.output += *piece;
    if (result.output.size() > kMaxOutput) {
      result.output.erase(0, result.output.size() - kMaxOutput);
    }
  }
  PETREL_ASSIGN_OR_RETURN(result.code, reap(std::max<int64_t>(timeout_ms / 10, 1000)));
  return result;
}

}  // namespace petrel::extension
