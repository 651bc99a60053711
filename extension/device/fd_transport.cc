// SPDX-License-Identifier: Apache-2.0
#include "extension/device/fd_transport.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace petrel::extension {
namespace {

// Given to a command whose input has ended.
constexpr int kMillisecondsToEnd = 300;

}  // namespace

FdTransport::FdTransport(int fd, std::string name, pid_t child)
    : fd_(fd), name_(std::move(name)), child_(child) {}

FdTransport::~FdTransport() {
  close(fd_);
  if (child_ == 0) return;
  for (int waited = 0; waited < kMillisecondsToEnd; waited += 5) {
    if (waitpid(child_, nullptr, WNOHANG) == child_) return;
    usleep(5000);
  }
  kill(-child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

bool FdTransport::wait(short events, Clock::time_point deadline) const {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd one = {fd_, events, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::clamp<int64_t>(left + 1, 0, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the call that follows says what it is
    if (Clock::now() >= deadline) return false;
  }
}

absl::Status FdTransport::gone(const std::string& why) {
  int code = 0;
  if (child_ != 0) {
    // Its output ends a little before it does.
    for (int waited = 0; waited < kMillisecondsToEnd; waited += 5) {
      if (waitpid(child_, &code, WNOHANG) != child_) {
        usleep(5000);
        continue;
      }
      child_ = 0;
      return absl::UnavailableError(
          WIFEXITED(code) ? absl::StrCat(name_, " has ended with exit code ", WEXITSTATUS(code))
                          : absl::StrCat(name_, " was ended by signal ", WTERMSIG(code)));
    }
  }
  return absl::UnavailableError(absl::StrCat(name_, ": the device is gone: ", why));
}

absl::Status FdTransport::write(absl::Span<const uint8_t> bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    if (!wait(POLLOUT, deadline)) {
      return absl::DeadlineExceededError(
          absl::StrCat(name_, " takes no more bytes, ", bytes.size(), " are left"));
    }
    ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == ENOTSOCK) sent = ::write(fd_, bytes.data(), bytes.size());
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent < 0) return gone(std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> FdTransport::read(uint8_t* bytes, size_t size, Clock::time_point deadline) {
  while (true) {
    if (!wait(POLLIN, deadline)) return 0;
    const ssize_t got = ::read(fd_, bytes, size);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) return gone("end of stream");
    if (errno != EAGAIN && errno != EINTR) return gone(std::strerror(errno));
    if (Clock::now() >= deadline) return 0;
  }
}

}  // namespace petrel::extension
