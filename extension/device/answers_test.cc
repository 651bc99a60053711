// SPDX-License-Identifier: Apache-2.0
//
// A device that speaks the protocol and says what makes no sense: each is told by its name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "extension/device/device.h"
#include "extension/device/testing_device.h"
#include "runtime/micro/device/petrel_rpc_protocol.h"

namespace petrel::extension {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

SessionOptions quick() {
  SessionOptions options;
  options.retry_after = milliseconds(50);
  options.patience = milliseconds(500);
  options.start_timeout = milliseconds(500);
  options.info_patience = milliseconds(100);
  return options;
}

// A line on which a test changes what the device answers.
class ChangedLine final : public Transport {
 public:
  using Change = std::function<void(Message*)>;

  ChangedLine(TestingDevice& device, Change change) : device_(device), change_(std::move(change)) {
    device_.on_sent = [this](const uint8_t* bytes, size_t size) {
      reader_.feed({bytes, size}, [this](const std::optional<Message>& message, int crc_bits) {
        ASSERT_TRUE(message.has_value());
        Message changed = *message;
        change_(&changed);
        const Bytes frame = encode_frame(changed, crc_bits);
        inbox_.insert(inbox_.end(), frame.begin(), frame.end());
      });
    };
  }
  ~ChangedLine() override { device_.on_sent = nullptr; }

  absl::Status write(absl::Span<const uint8_t> bytes, Clock::time_point) override {
    device_.feed(bytes.data(), bytes.size());
    return absl::OkStatus();
  }
  absl::StatusOr<size_t> read(uint8_t* bytes, size_t size, Clock::time_point) override {
    const size_t got = std::min(size, inbox_.size());
    std::copy_n(inbox_.begin(), got, bytes);
    inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<ptrdiff_t>(got));
    return got;
  }

 private:
  TestingDevice& device_;
  Change change_;
  FrameReader reader_;
  Bytes inbox_;
};

using Change = std::function<void(Bytes*)>;

// Opens a device whose answers to `type` are changed, to be asked by `on_open`.
absl::Status status_of(uint8_t type, const Change& change,
                       const std::function<absl::Status(Device&)>& on_open = nullptr) {
  TestingDevice device;
  auto host = Device::open(
      std::make_unique<ChangedLine>(device,
                                    [&](Message* message) {
                                      if (message->type == (type | PETREL_RPC_ANSWER)) {
                                        change(&message->payload);
                                      }
                                    }),
      "test", quick());
  if (!host.ok()) return host.status();
  return on_open == nullptr ? absl::OkStatus() : on_open(**host);
}

std::string said(uint8_t type, const Change& change) { return status_of(type, change).ToString(); }

TEST(Answers, AHelloMustMakeSense) {
  EXPECT_TRUE(status_of(PETREL_RPC_HELLO, [](Bytes*) {}).ok());
  const std::string words = "DATA_LOSS: test: the device's hello makes no sense";
  EXPECT_EQ(said(PETREL_RPC_HELLO, [](Bytes* all) { all->pop_back(); }), words);
  EXPECT_EQ(said(PETREL_RPC_HELLO, [](Bytes* all) { all->clear(); }), words);
  EXPECT_EQ(said(PETREL_RPC_HELLO, [](Bytes* all) { (*all)[2] = 16; }), words);
  EXPECT_EQ(said(PETREL_RPC_HELLO, [](Bytes* all) { (*all)[0] = 31, (*all)[1] = 0; }), words);
  EXPECT_EQ(said(PETREL_RPC_HELLO, [](Bytes* all) { (*all)[3] &= 0xfe; }),
            "UNIMPLEMENTED: test: the device is big-endian; its tensors cannot be exchanged yet");
}

TEST(Answers, TheModelHasOneHash) {
  EXPECT_EQ(said(PETREL_RPC_HELLO, [](Bytes* all) { (*all)[39] ^= 1; }),
            "DATA_LOSS: test: the device says two hashes of its model");
}

// Each piece begins with the number of all bytes.
TEST(Answers, PiecesOfTheModelMustMakeSense) {
  const std::string words = "DATA_LOSS: test: what the device says of its model is damaged";
  for (size_t size = 0; size <= 4; ++size) {
    EXPECT_EQ(said(PETREL_RPC_INFO, [&](Bytes* all) { all->resize(size); }), words) << size;
  }
  // 2^26 bytes at most.
  EXPECT_EQ(said(PETREL_RPC_INFO, [](Bytes* all) { *all = {1, 0, 0, 4, 'x'}; }), words);
  EXPECT_THAT(said(PETREL_RPC_INFO,
                   [](Bytes* all) {
                     *all = {0, 0, 0, 4, 'x'};
                   }),
              HasSubstr("does not end within 100 ms"));
  EXPECT_EQ(said(PETREL_RPC_INFO, [](Bytes* all) { *all = {1, 0, 0, 0, 'x', 'y'}; }), words);
}

TEST(Answers, ATraceHasTicks) {
  int answers = 0;
  const absl::Status status = status_of(
      PETREL_RPC_TRACE,
      [&](Bytes* all) {
        if (answers++ == 0) all->resize(3);
      },
      [](Device& device) {
        const absl::Status run = device.run(0, /*is_traced=*/true).status();
        return run.ok() ? device.trace(5).status() : run;
      });
  EXPECT_EQ(status.ToString(), "DATA_LOSS: test: TRACE: the answer has no ticks");
}

TEST(Answers, HaveTheBytesThatTheRequestIsFor) {
  const absl::Status status = status_of(
      PETREL_RPC_READ, [](Bytes* all) { all->pop_back(); },
      [](Device& device) {
        return device.read({PETREL_RPC_POOL, 0, 0}, 4).status();
      });
  EXPECT_EQ(status.ToString(), "DATA_LOSS: test: READ: the answer has 3 bytes, must have 4");
}

TEST(Answers, ARefusalMustMakeSense) {
  TestingDevice device;
  auto host = Device::open(std::make_unique<ChangedLine>(device,
                                                         [](Message* message) {
                                                           if (message->type == PETREL_RPC_ERROR)
                                                             message->payload.resize(11);
                                                         }),
                           "test", quick());
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_EQ((*host)->read({PETREL_RPC_POOL, 0, 0}, 1, 65).status().ToString(),
            "DATA_LOSS: test: a damaged refusal");
}

TEST(Answers, RequestsAreNoLongerThanTheDeviceTakes) {
  TestingDevice device(testing_metadata(), PETREL_RPC_LEAST_BUFFER_BYTES);
  auto session =
      Session::open(std::make_unique<ChangedLine>(device, [](Message*) {}), "test", quick());
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->ask(PETREL_RPC_WRITE, Bytes(53)).status().ToString(),
            "INVALID_ARGUMENT: test: WRITE has 53 bytes, the device takes 52 at most");
}

}  // namespace
}  // namespace petrel::extension
