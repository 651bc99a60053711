// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "extension/device/fd_transport.h"

namespace petrel::extension {
namespace {

using Opened = absl::StatusOr<std::unique_ptr<Transport>>;

struct Baud {
  int number;
  speed_t speed;
};
constexpr Baud kBauds[] = {{9600, B9600},     {19200, B19200},   {38400, B38400},
                           {57600, B57600},   {115200, B115200}, {230400, B230400},
                           {460800, B460800}, {921600, B921600}, {1000000, B1000000}};

absl::Status failed(const std::string& spec, const char* what) {
  const std::string text = absl::StrCat(spec, ": ", what, ": ", std::strerror(errno));
  if (errno == ENOENT) return absl::NotFoundError(text);
  return absl::UnavailableError(text);
}

Opened opened(int fd, const std::string& spec, pid_t child = 0) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return std::unique_ptr<Transport>(new FdTransport(fd, spec, child));
}

Opened open_command(const std::string& spec, const std::string& command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return failed(spec, "no socket");
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  const std::string line = "exec " + command;
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return failed(spec, "cannot be started");
  }
  if (child == 0) {
    setpgid(0, 0);
    dup2(ends[1], 0);
    dup2(ends[1], 1);
    if (ends[1] > 1) close(ends[1]);
    execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  setpgid(child, child);
  close(ends[1]);
  return opened(ends[0], spec, child);
}

// Raw bytes, and nothing that the system does with them.
Opened open_serial(const std::string& spec, absl::string_view rest) {
  int baud = 115200;
  const size_t at = rest.rfind('@');
  if (at != absl::string_view::npos && !absl::SimpleAtoi(rest.substr(at + 1), &baud)) baud = 0;
  speed_t speed = B0;
  for (const Baud& known : kBauds) {
    if (known.number == baud) speed = known.speed;
  }
  if (speed == B0) {
    std::string all;
    for (const Baud& known : kBauds) absl::StrAppend(&all, all.empty() ? "" : ", ", known.number);
    return absl::InvalidArgumentError(absl::StrCat("device '", spec, "': '", rest.substr(at + 1),
                                                   "' is no rate, they are ", all));
  }
  const std::string path(rest.substr(0, at));
  const int fd = open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return failed(spec, "cannot be opened");
  termios mode;
  if (tcgetattr(fd, &mode) != 0) {
    const absl::Status status = failed(spec, "is no serial port");
    close(fd);
    return status;
  }
  cfmakeraw(&mode);
  mode.c_cflag |= CLOCAL | CREAD;
  mode.c_cflag &= ~static_cast<tcflag_t>(CRTSCTS | CSTOPB);
  cfsetispeed(&mode, speed);
  cfsetospeed(&mode, speed);
  tcsetattr(fd, TCSANOW, &mode);
  tcflush(fd, TCIFLUSH);
  return opened(fd, spec);
}

bool connected(int fd, const sockaddr* address, socklen_t bytes, int milliseconds) {
  if (connect(fd, address, bytes) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd one = {fd, POLLOUT, 0};
  if (poll(&one, 1, milliseconds) <= 0) {
    errno = ETIMEDOUT;
    return false;
  }
  socklen_t size = sizeof errno;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &errno, &size) == 0 && errno == 0;
}

Opened open_tcp(const std::string& spec, const std::string& rest, int milliseconds) {
  const size_t colon = rest.rfind(':');
  if (colon == std::string::npos || colon + 1 == rest.size()) {
    return absl::InvalidArgumentError(absl::StrCat("device '", spec, "': write tcp:HOST:PORT"));
  }
  addrinfo hints = {}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const std::string host = rest.substr(0, colon), port = rest.substr(colon + 1);
  const int wrong = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  if (wrong != 0) return absl::NotFoundError(absl::StrCat(spec, ": ", gai_strerror(wrong)));
  int fd = -1;
  for (const addrinfo* one = list; one != nullptr && fd < 0; one = one->ai_next) {
    fd = socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !connected(fd, one->ai_addr, one->ai_addrlen, milliseconds)) {
      const int why = errno;
      close(fd);
      errno = why;
      fd = -1;
    }
  }
  freeaddrinfo(list);
  if (fd < 0) return failed(spec, "cannot be reached");
  return opened(fd, spec);
}

Opened open_unix(const std::string& spec, const std::string& path, int milliseconds) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return absl::InvalidArgumentError(absl::StrCat("device '", spec, "': the path has ",
                                                   path.size(), " bytes, must have less than ",
                                                   sizeof address.sun_path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return failed(spec, "no socket");
  if (!connected(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address, milliseconds)) {
    const absl::Status status = failed(spec, "cannot be reached");
    close(fd);
    return status;
  }
  return opened(fd, spec);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> open_transport(const std::string& spec,
                                                          std::chrono::milliseconds timeout) {
  absl::string_view rest = spec;
  const int milliseconds = static_cast<int>(timeout.count());
  if (absl::ConsumePrefix(&rest, "exec:")) return open_command(spec, std::string(rest));
  if (absl::ConsumePrefix(&rest, "serial:")) return open_serial(spec, rest);
  if (absl::ConsumePrefix(&rest, "tcp:")) return open_tcp(spec, std::string(rest), milliseconds);
  if (absl::ConsumePrefix(&rest, "unix:")) return open_unix(spec, std::string(rest), milliseconds);
  return absl::InvalidArgumentError(absl::StrCat(
      "device '", spec, "': write exec:COMMAND, serial:PATH[@BAUD], tcp:HOST:PORT or unix:PATH"));
}

}  // namespace petrel::extension
