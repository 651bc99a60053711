// SPDX-License-Identifier: Apache-2.0
//
// Lines to devices that cannot be opened, take nothing, say nothing or end.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "extension/device/transport.h"

namespace petrel::extension {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;
using Clock = Transport::Clock;

std::string refusal(const std::string& spec) {
  const auto opened = open_transport(spec, milliseconds(100));
  return opened.ok() ? "opened" : opened.status().ToString();
}

std::unique_ptr<Transport> opened(const std::string& spec) {
  auto transport = open_transport(spec, milliseconds(1000));
  EXPECT_TRUE(transport.ok()) << transport.status();
  return transport.ok() ? *std::move(transport) : nullptr;
}

absl::StatusOr<size_t> read_within(Transport& transport, int time) {
  uint8_t bytes[16];
  return transport.read(bytes, sizeof bytes, Clock::now() + milliseconds(time));
}

// Someone who listens at a port of this machine.
class Listener {
 public:
  Listener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd_, 0), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    spec_ = "tcp:127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~Listener() { close(fd_); }
  const std::string& spec() const { return spec_; }
  int accepted() const { return accept(fd_, nullptr, nullptr); }

 private:
  const int fd_;
  std::string spec_;
};

// While it lives, nobody in this process can open a file.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(next);
    close(next);
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

TEST(OpenTransport, RefusesWhatIsNoSpec) {
  EXPECT_THAT(refusal("usb:1"), StartsWith("INVALID_ARGUMENT: device 'usb:1': write exec:COMMAND"));
  for (const char* const spec : {"tcp:localhost", "tcp:localhost:", "tcp:"}) {
    EXPECT_EQ(refusal(spec),
              "INVALID_ARGUMENT: device '" + std::string(spec) + "': write tcp:HOST:PORT");
  }
  EXPECT_THAT(refusal("tcp:127.0.0.1:no-port"), StartsWith("NOT_FOUND: tcp:127.0.0.1:no-port: "));
  EXPECT_THAT(refusal("serial:/dev/null@300"),
              HasSubstr("'300' is no rate, they are 9600, 19200, "));
  EXPECT_THAT(refusal("serial:/dev/null@fast"), HasSubstr("'fast' is no rate"));
  const std::string longest(107, 'x');
  EXPECT_THAT(refusal("unix:" + longest), HasSubstr("cannot be reached: "));
  EXPECT_THAT(refusal("unix:" + longest + "x"),
              HasSubstr("the path has 108 bytes, must have less than 108"));
}

TEST(OpenTransport, TellsWhatCannotBeOpened) {
  EXPECT_EQ(refusal("serial:/no/port"),
            "NOT_FOUND: serial:/no/port: cannot be opened: No such file or directory");
  EXPECT_EQ(refusal("serial:/dev/null"),
            "UNAVAILABLE: serial:/dev/null: is no serial port: Inappropriate ioctl for device");
  EXPECT_EQ(refusal("unix:/no/socket"),
            "NOT_FOUND: unix:/no/socket: cannot be reached: No such file or directory");
  std::string gone;
  {
    const Listener listener;
    gone = listener.spec();
  }
  EXPECT_EQ(refusal(gone), "UNAVAILABLE: " + gone + ": cannot be reached: Connection refused");
}

TEST(OpenTransport, TellsThatNoMoreFilesCanBeOpened) {
  // What watches which checks are asked (test/fuzz/switched_off.py) opens a file at the first.
  std::vector<std::string> said = {refusal("tcp:")};
  said.clear();
  {
    const NoMoreFiles none;
    for (const char* const spec : {"exec:true", "unix:/no/socket", "serial:/dev/null"}) {
      said.push_back(refusal(spec));
    }
  }
  EXPECT_EQ(said[0], "UNAVAILABLE: exec:true: no socket: Too many open files");
  EXPECT_EQ(said[1], "UNAVAILABLE: unix:/no/socket: no socket: Too many open files");
  EXPECT_EQ(said[2], "UNAVAILABLE: serial:/dev/null: cannot be opened: Too many open files");
}

// Of connections that nobody takes the system keeps one or two; others wait.
TEST(OpenTransport, WhoDoesNotAnswerIsGivenUp) {
  const Listener listener;
  std::vector<std::unique_ptr<Transport>> waiting;
  for (int i = 0; i < 16; ++i) {
    auto transport = open_transport(listener.spec(), milliseconds(100));
    if (!transport.ok()) {
      EXPECT_EQ(transport.status().ToString(),
                "UNAVAILABLE: " + listener.spec() + ": cannot be reached: Connection timed out");
      return;
    }
    waiting.push_back(*std::move(transport));
  }
  ADD_FAILURE() << "all connections were taken";
}

TEST(OpenTransport, ACommandThatSaysNothingIsWaitedFor) {
  const auto transport = opened("exec:sleep 100");
  const auto begun = Clock::now();
  const auto got = read_within(*transport, 30);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, 0u);
  EXPECT_GE(Clock::now() - begun, milliseconds(30));
}

TEST(OpenTransport, ACommandThatTakesNothingIsTold) {
  const auto transport = opened("exec:sleep 2");
  const std::vector<uint8_t> much(1 << 22);
  const absl::Status status = transport->write(much, Clock::now() + milliseconds(50));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith("exec:sleep 2 takes no more bytes, "));
}

TEST(OpenTransport, ACommandThatEndsIsTold) {
  EXPECT_EQ(read_within(*opened("exec:no-such-command"), 5000).status().ToString(),
            "UNAVAILABLE: exec:no-such-command has ended with exit code 127");
  EXPECT_EQ(read_within(*opened("exec:sh -c 'exit 3'"), 5000).status().ToString(),
            "UNAVAILABLE: exec:sh -c 'exit 3' has ended with exit code 3");
  EXPECT_EQ(read_within(*opened("exec:sh -c 'kill -9 $$'"), 5000).status().ToString(),
            "UNAVAILABLE: exec:sh -c 'kill -9 $$' was ended by signal 9");
  const auto transport = opened("exec:true");
  absl::Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    usleep(5000);
    status = transport->write({1, 2, 3}, Clock::now() + milliseconds(5000));
  }
  EXPECT_EQ(status.ToString(), "UNAVAILABLE: exec:true has ended with exit code 0");
}

TEST(OpenTransport, ADeviceThatHangsUpIsTold) {
  const Listener listener;
  auto transport = opened(listener.spec());
  close(listener.accepted());
  EXPECT_EQ(read_within(*transport, 5000).status().ToString(),
            "UNAVAILABLE: " + listener.spec() + ": the device is gone: end of stream");
  transport = opened(listener.spec());
  const int other = listener.accepted();
  const linger at_once = {1, 0};
  ASSERT_EQ(setsockopt(other, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  close(other);
  EXPECT_EQ(read_within(*transport, 5000).status().ToString(),
            "UNAVAILABLE: " + listener.spec() + ": the device is gone: Connection reset by peer");
}

}  // namespace
}  // namespace petrel::extension
