// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/external/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace petrel::exir::plan {
namespace {

constexpr size_t kMaxOutput = size_t{256} << 20;
constexpr size_t kMaxComplaint = 4096;  // of standard error, the end

class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  void reset(int fd) {
    close();
    fd_ = fd;
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Two connected ends; writing to one whose other end is closed must be an
// error and not a signal, hence sockets.
bool connect(Descriptor* ours, Descriptor* theirs) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return false;
  }
  ours->reset(ends[0]);
  theirs->reset(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return true;
}

class Child {
 public:
  explicit Child(const std::string& command) : command_(command) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  ~Child() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);  // also what it left running in the background
    if (!reaped_) waitpid(pid_, nullptr, 0);
  }

  absl::Status start() {
    Descriptor stdin_end, stdout_end, stderr_end;
    if (!connect(&in_, &stdin_end) || !connect(&out_, &stdout_end) ||
        !connect(&err_, &stderr_end)) {
      return system_error("connect to");
    }
    const char* text = command_.c_str();
    pid_ = fork();
    if (pid_ < 0) return system_error("start");
    if (pid_ == 0) {
      // Only what is safe between fork and exec.
      setpgid(0, 0);
      dup2(stdin_end.get(), STDIN_FILENO);
      dup2(stdout_end.get(), STDOUT_FILENO);
      dup2(stderr_end.get(), STDERR_FILENO);
      execl("/bin/sh", "sh", "-c", text, static_cast<char*>(nullptr));
      _exit(127);
    }
    setpgid(pid_, pid_);  // whichever of the two comes first
    return absl::OkStatus();
  }

  // Writes and reads until the command has closed its output and exited.
  absl::StatusOr<std::string> talk(const std::string& input, int64_t timeout_ms) {
    const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
    size_t written = 0;
    std::string output;
    if (input.empty()) in_.close();
    while (out_.is_open() || err_.is_open()) {
      const int64_t left = milliseconds_until(end);
      if (left <= 0) return too_late(timeout_ms);
      pollfd fds[3] = {{in_.get(), POLLOUT, 0}, {out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}};
      if (poll(fds, 3, static_cast<int>(std::min<int64_t>(left, 1000))) < 0 && errno != EINTR) {
        return system_error("wait for");
      }
      if (fds[0].revents != 0) write_some(input, &written);
      if (fds[1].revents != 0) read_some(&out_, &output);
      if (fds[2].revents != 0) {
        read_some(&err_, &complaint_);
        if (complaint_.size() > kMaxComplaint) {
          complaint_.erase(0, complaint_.size() - kMaxComplaint);
        }
      }
      if (output.size() > kMaxOutput) {
        return absl::ResourceExhaustedError(
            absl::StrCat("'", command_, "' wrote more than ", kMaxOutput, " bytes"));
      }
    }
    in_.close();
    int state = 0;
    pid_t done = 0;
    while ((done = waitpid(pid_, &state, WNOHANG)) == 0) {
      if (milliseconds_until(end) <= 0) return too_late(timeout_ms);
      usleep(500);
    }
    if (done < 0) return system_error("wait for");
    reaped_ = true;
    if (WIFSIGNALED(state)) {
      return absl::AbortedError(
          absl::StrCat("'", command_, "' was killed by signal ", WTERMSIG(state), last_words()));
    }
    if (WEXITSTATUS(state) != 0) {
      return absl::AbortedError(absl::StrCat("'", command_, "' failed with exit code ",
                                             WEXITSTATUS(state), last_words()));
    }
    return output;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static int64_t milliseconds_until(Clock::time_point end) {
    return std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  }

  void write_some(const std::string& input, size_t* written) {
    const ssize_t n =
        send(in_.get(), input.data() + *written, input.size() - *written, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) *written += static_cast<size_t>(n);
    // It may have seen enough; what it answers will tell.
    if (n < 0 || *written == input.size()) in_.close();
  }

  static void read_some(Descriptor* from, std::string* to) {
    char bytes[65536];
    const ssize_t n = read(from->get(), bytes, sizeof(bytes));
    if (n > 0) {
      to->append(bytes, static_cast<size_t>(n));
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      from->close();
    }
  }

  absl::Status too_late(int64_t timeout_ms) const {
    return absl::DeadlineExceededError(
        absl::StrCat("'", command_, "' did not answer within ", timeout_ms, " ms", last_words()));
  }

  absl::Status system_error(const char* what) const {
    return absl::InternalError(
        absl::StrCat("cannot ", what, " '", command_, "': ", std::strerror(errno)));
  }

  // ": message" of the last line of standard error, or nothing.
  std::string last_words() const {
    const absl::string_view text = absl::StripAsciiWhitespace(complaint_);
    if (text.empty()) return "";
    const size_t line = text.rfind('\n');
    return absl::StrCat(": ", line == absl::string_view::npos ? text : text.substr(line + 1));
  }

  const std::string command_;
  Descriptor in_, out_, err_;
  std::string complaint_;
  pid_t pid_ = -1;
  bool reaped_ = false;
};

}  // namespace

absl::StatusOr<std::string> run_command(const std::string& command, const std::string& input,
                                        int64_t timeout_ms) {
  Child child(command);
  if (absl::Status status = child.start(); !status.ok()) return status;
  return child.talk(input, timeout_ms);
}

}  // namespace petrel::exir::plan
