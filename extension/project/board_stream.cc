// SPDX-License-Identifier: Apache-2.0
#include "extension/project/board_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "exir/status_macros.h"
#include "extension/project/board_run.h"
#include "extension/project/build.h"
#include "extension/project/child.h"
#include "extension/project/devices.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class ProgramStream : public BoardStream {
 public:
  absl::Status start(const std::vector<std::string>& words, const std::string& folder) {
    Child::Options options;
    options.folder = folder;
    options.joins_errors = false;
    return child_.start(words, options);
  }
  absl::StatusOr<std::string> read(size_t most, int64_t timeout_ms) override {
    return child_.read(most, timeout_ms);
  }
  absl::Status write(absl::string_view bytes, int64_t timeout_ms) override {
    return child_.write(bytes, timeout_ms);
  }

 private:
  Child child_;
};

class PortStream : public BoardStream {
 public:
  ~PortStream() override {
    if (fd_ >= 0) close(fd_);
  }

  // 8 bits, no parity, 115,200 baud, and no character that means anything.
  absl::Status start(const std::string& port) {
    port_ = port;
    fd_ = open(port.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd_ < 0) return absl::UnavailableError(absl::StrCat(port, ": ", std::strerror(errno)));
    termios settings;
    if (tcgetattr(fd_, &settings) != 0) {
      return absl::UnavailableError(absl::StrCat(port, ": ", std::strerror(errno)));
    }
    cfmakeraw(&settings);
    settings.c_cflag |= CLOCAL | CREAD;
    cfsetispeed(&settings, B115200);
    cfsetospeed(&settings, B115200);
    if (tcsetattr(fd_, TCSANOW, &settings) == 0) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat(port, ": ", std::strerror(errno)));
  }

  absl::StatusOr<std::string> read(size_t most, int64_t timeout_ms) override {
    PETREL_RETURN_IF_ERROR(wait_for(POLLIN, timeout_ms));
    std::string bytes(most, '\0');
    const ssize_t got = ::read(fd_, bytes.data(), most);
    bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
    return bytes;
  }

  absl::Status write(absl::string_view bytes, int64_t timeout_ms) override {
    const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
    while (!bytes.empty()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      PETREL_RETURN_IF_ERROR(wait_for(POLLOUT, std::max<int64_t>(left, 0)));
      const ssize_t sent = ::write(fd_, bytes.data(), bytes.size());
      if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        return absl::UnavailableError(absl::StrCat(port_, ": ", std::strerror(errno)));
      }
      if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status wait_for(int16_t events, int64_t timeout_ms) {
    pollfd one = {fd_, events, 0};
    const auto bounded = static_cast<int>(std::min<int64_t>(timeout_ms, 3'600'000));
    if (poll(&one, 1, bounded) > 0) return absl::OkStatus();
    return absl::DeadlineExceededError(absl::StrCat("'", port_, "' ",
                                                    events == POLLIN ? "sent" : "took",
                                                    " nothing within ", timeout_ms, " ms"));
  }

  std::string port_;
  int fd_ = -1;
};

bool is_plugged_in(const exir::Board& board) {
  return board.emulator.program.empty() && board.family != "host";
}

// What starts the program of a board that is none to hold in hands.
absl::StatusOr<std::vector<std::string>> words_of(const Project& project,
                                                  const std::string& driver) {
  const exir::Board& board = project.board;
  PETREL_ASSIGN_OR_RETURN(const Image image, built_image(project, driver));
  if (!board.emulator.program.empty()) {
    PETREL_RETURN_IF_ERROR(check_installed(board.emulator.program, board.emulator.install, board));
  }
  std::error_code failed;
  return emulator_words(board, fs::absolute(image.path, failed), "stdio", {});
}

// A word as the shell that starts the device reads it back. Backslashes, as `build` prints the
// words between single quotes.
std::string shell_word(const std::string& word) {
  constexpr absl::string_view kPlain = "_@%+=:,./-";
  std::string text;
  for (const char c : word) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && !absl::StrContains(kPlain, c)) {
      text += '\\';
    }
    text += c;
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> device_spec(const Project& project, const std::string& driver) {
  if (is_plugged_in(project.board)) {
    PETREL_ASSIGN_OR_RETURN(const SerialDevice device,
                            find_device(project.board, project.device, list_devices("/sys")));
    return absl::StrCat("serial:", device.port, "@115200");
  }
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> words, words_of(project, driver));
  return absl::StrCat("exec:", absl::StrJoin(words, " ", [](std::string* out, const auto& word) {
                        out->append(shell_word(word));
                      }));
}

absl::StatusOr<std::unique_ptr<BoardStream>> open_stream(const Project& project,
                                                         const std::string& driver) {
  if (is_plugged_in(project.board)) {
    PETREL_ASSIGN_OR_RETURN(const SerialDevice device,
                            find_device(project.board, project.device, list_devices("/sys")));
    auto stream = std::make_unique<PortStream>();
    PETREL_RETURN_IF_ERROR(stream->start(device.port));
    return stream;
  }
  PETREL_ASSIGN_OR_RETURN(const std::vector<std::string> words, words_of(project, driver));
  auto stream = std::make_unique<ProgramStream>();
  PETREL_RETURN_IF_ERROR(stream->start(words, fs::path(project.folder) / "build"));
  return stream;
}

}  // namespace petrel::extension
