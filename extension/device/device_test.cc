// SPDX-License-Identifier: Apache-2.0
#include "extension/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "extension/device/device_method.h"
#include "extension/device/testing_device.h"
#include "runtime/micro/device/petrel_rpc_protocol.h"

namespace petrel::extension {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

SessionOptions quick() {
  SessionOptions options;
  options.retry_after = milliseconds(1);
  options.patience = milliseconds(200);
  options.start_timeout = milliseconds(200);
  options.run_patience = milliseconds(300);
  return options;
}

std::unique_ptr<Device> opened(TestingDevice& device, FaultyLine::Faults faults = {}) {
  auto host =
      Device::open(std::make_unique<FaultyLine>(device, std::move(faults), 1), "test", quick());
  EXPECT_TRUE(host.ok()) << host.status();
  return host.ok() ? std::move(*host) : nullptr;
}

std::vector<int32_t> ints(const runtime::Tensor& tensor) {
  const auto* data = tensor.const_data_ptr<int32_t>();
  return {data, data + tensor.numel()};
}

void give(DeviceMethod& method, std::vector<int32_t> values) {
  std::memcpy(method.get_input("x")->mutable_data_ptr(), values.data(), 16);
}

TEST(Device, RunsAMethod) {
  TestingDevice device;
  const auto host = opened(device);
  EXPECT_EQ(host->info().model, "testing");
  EXPECT_EQ(host->info().board, "testing");
  DeviceMethod& forward = **host->method("forward");
  give(forward, {1, 2, 3, -4});
  ASSERT_TRUE(forward.execute().ok());
  EXPECT_THAT(ints(*forward.get_output("y")), ElementsAre(3, 5, 7, -7));
  EXPECT_THAT(ints(*forward.get_output(1)), ElementsAre(1));
  EXPECT_EQ(host->stats().resent, 0u);
}

// The list of sizes is the app's, and another tensor over it has other ones.
TEST(Device, InputsHaveTheBytesOfTheirSizes) {
  TestingDevice device;
  const auto host = opened(device);
  DeviceMethod& forward = **host->method("forward");
  std::vector<int32_t> sizes(forward.get_input("x")->sizes().begin(),
                             forward.get_input("x")->sizes().end());
  std::vector<int32_t> values(400);
  sizes[0] *= 100;
  runtime::TensorImpl large(runtime::ScalarType::Int, static_cast<ssize_t>(sizes.size()),
                            sizes.data(), values.data());
  sizes[0] /= 100;
  const absl::Status status = forward.set_input(0, runtime::Tensor(&large));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("impossible sizes, or those of another tensor"));
}

TEST(Device, RunsWithTheLeastBuffer) {
  TestingDevice device(testing_metadata(), PETREL_RPC_LEAST_BUFFER_BYTES);
  const auto host = opened(device);
  EXPECT_EQ(host->hello().longest_request, 52);
  DeviceMethod& forward = **host->method("forward");
  give(forward, {5, 6, 7, 8});
  ASSERT_TRUE(forward.execute().ok());
  EXPECT_THAT(ints(*forward.get_output(0)), ElementsAre(11, 13, 15, 17));
}

TEST(Device, StepsAreDrivenFromTheHost) {
  TestingDevice device;
  const auto host = opened(device);
  DeviceMethod& forward = **host->method("forward");
  give(forward, {1, 2, 3, 4});
  std::vector<std::string> steps;
  std::vector<int32_t> doubled(4);
  const auto status = forward.execute_steps([&](uint32_t step) -> absl::Status {
    steps.push_back(forward.info().steps[step].name);
    if (step != 1) return absl::OkStatus();
    const auto bytes = host->read({PETREL_RPC_TENSOR, 0, 1}, 16);
    if (bytes.ok()) std::memcpy(doubled.data(), bytes->data(), 16);
    return bytes.status();
  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(steps, ElementsAre("begin", "op0_mul", "op1_add", "op2_count", "end"));
  EXPECT_THAT(doubled, ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(ints(*forward.get_output("y")), ElementsAre(3, 5, 7, 9));
}

TEST(Device, MemoryIsReadWrittenFilledAndSummed) {
  TestingDevice device;
  const auto host = opened(device);
  const DeviceMemory pool{PETREL_RPC_POOL, 0, 0};
  ASSERT_TRUE(host->poison(0x5a).ok());
  ASSERT_TRUE(host->write(pool, {1, 2, 3}, 61).ok());
  EXPECT_THAT(*host->read(pool, 4, 60), ElementsAre(0x5a, 1, 2, 3));
  EXPECT_EQ(*host->crc(pool, 4, 60), device_crc({0x5a, 1, 2, 3}, 32));
  EXPECT_EQ(device_crc({'1', '2', '3', '4', '5', '6', '7', '8', '9'}, 32), 0xcbf43926u);
  EXPECT_EQ(device_crc({'1', '2', '3', '4', '5', '6', '7', '8', '9'}, 16), 0x29b1u);
}

TEST(Device, WhatIsOutOfRangeIsRefused) {
  TestingDevice device;
  const auto host = opened(device);
  EXPECT_THAT(host->write({PETREL_RPC_POOL, 0, 0}, {1, 2}, 63).ToString(),
              HasSubstr("test: WRITE: there are 1 bytes only"));
  EXPECT_THAT(host->read({PETREL_RPC_POOL, 0, 0}, 1, 65).status().ToString(),
              HasSubstr("test: READ: there are 64 bytes only"));
  EXPECT_THAT(host->read({PETREL_RPC_OUTPUT, 0, 2}, 4).status().ToString(),
              HasSubstr("there is none of that index, of 2"));
  EXPECT_THAT(host->read({PETREL_RPC_INPUT, 1, 0}, 4).status().ToString(),
              HasSubstr("there is none of that index, of 1"));
  EXPECT_THAT(host->run_steps(0, 5, 1).status().ToString(), HasSubstr("of 5"));
  EXPECT_THAT(host->run_steps(0, 1, 1).status().ToString(),
              HasSubstr("step 0 of the method must run before step 1"));
  ASSERT_TRUE(host->run_steps(0, 0, 1).ok());
  EXPECT_TRUE(host->run_steps(0, 1, 1).ok());
  ASSERT_TRUE(host->set_sizes(0, {}).ok());  // of which step 0 knows nothing
  EXPECT_THAT(host->run_steps(0, 1, 1).status().ToString(),
              HasSubstr("step 0 of the method must run before step 1"));
  EXPECT_THAT(host->method("backward").status().ToString(),
              HasSubstr("has no method 'backward', it has: forward"));
}

TEST(Device, WhatTheBoardLacksIsSaid) {
  TestingDevice device;
  device.board().reset = nullptr;
  device.board().timer.hz = 0;
  device.config().plan = nullptr;
  device.config().selftest = nullptr;
  device.config().num_trace = 0;
  device.start();
  const auto host = opened(device);
  EXPECT_EQ(host->hello().features, 0u);
  for (const absl::Status& status : {host->reset(), host->selftest(), host->stack(false).status(),
                                     host->lookup_param(7).status(), host->trace(1).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  }
  DeviceMethod& forward = **host->method("forward");
  EXPECT_TRUE(forward.execute().ok());
  EXPECT_THAT(forward.execute_steps([](uint32_t) { return absl::OkStatus(); }).ToString(),
              HasSubstr("no plan of its model"));
}

TEST(Device, ParametersAreFoundById) {
  TestingDevice device;
  const auto host = opened(device);
  const auto param = host->lookup_param(7);
  ASSERT_TRUE(param.ok()) << param.status();
  EXPECT_EQ(param->bytes, 12u);
  const float weight[3] = {1, 2, 3};
  EXPECT_EQ(param->crc, device_crc({reinterpret_cast<const uint8_t*>(weight), 12}, 32));
  EXPECT_EQ(host->lookup_param(8).status().code(), absl::StatusCode::kNotFound);
}

TEST(Device, TicksOfEachStepAreTraced) {
  TestingDevice device;
  const auto host = opened(device);
  ASSERT_TRUE((*host->method("forward"))->upload().ok());
  const auto action = host->run(0, /*is_traced=*/true);
  ASSERT_TRUE(action.ok()) << action.status();
  EXPECT_EQ(action->ticks, 1000u);
  EXPECT_THAT(*host->trace(5), ElementsAre(0, 0, 0, 1000, 0));
}

TEST(Device, TimersInTheWrongStateAreErrors) {
  TestingDevice device;
  const auto host = opened(device);
  EXPECT_THAT(host->timer(false).status().ToString(), HasSubstr("stopped while it did not"));
  ASSERT_TRUE(host->timer(true).ok());
  EXPECT_THAT(host->timer(true).status().ToString(), HasSubstr("started while it ran"));
  EXPECT_THAT(host->time(0, 1).status().ToString(), HasSubstr("started while it ran"));
  EXPECT_TRUE(host->timer(false).ok());
  EXPECT_TRUE(host->time(0, 3).ok());
}

TEST(Device, TimersThatOverflowAreErrors) {
  TestingDevice device;
  const auto host = opened(device);
  device.board().timer.bits = 12;
  EXPECT_EQ(host->time(0, 4)->ticks, 4000u);
  EXPECT_THAT(host->time(0, 5).status().ToString(), HasSubstr("the timer overflowed"));
  device.timer().stop_status = PETREL_BOARD_E_OVERFLOW;
  EXPECT_THAT(host->time(0, 1).status().ToString(), HasSubstr("the timer overflowed"));
  device.timer().stop_status = PETREL_BOARD_E_STUCK;
  EXPECT_THAT(host->time(0, 1).status().ToString(), HasSubstr("the timer does not count"));
}

TEST(Device, ResetStartsAnew) {
  TestingDevice device;
  const auto host = opened(device);
  EXPECT_EQ(host->hello().boot_count, 1u);
  ASSERT_TRUE(host->reset().ok());
  EXPECT_EQ(host->hello().boot_count, 2u);
  EXPECT_TRUE((*host->method("forward"))->execute().ok());
}

TEST(Device, LogLinesComeThrough) {
  TestingDevice device;
  std::vector<std::string> lines;
  SessionOptions options = quick();
  options.on_log = [&](const std::string& line) { lines.push_back(line); };
  auto host =
      Device::open(std::make_unique<FaultyLine>(device, FaultyLine::Faults(), 1), "test", options);
  ASSERT_TRUE(host.ok());
  for (int i = 0; i < 20; ++i) petrel_rpc_log(&device.rpc(), "hot");
  ASSERT_TRUE((*host)->stats().requests > 0);
  ASSERT_TRUE((*host)->reset_state().ok());
  EXPECT_EQ(lines, std::vector<std::string>(8, "hot"));
}

TEST(Device, HeartbeatsComeFromWithinKernelsOnly) {
  TestingDevice device;
  const auto host = opened(device);
  int sent = 0;
  const auto line = device.on_sent;
  device.on_sent = [&](const uint8_t* bytes, size_t size) {
    ++sent;
    line(bytes, size);
  };
  petrel_rpc_heartbeat(&device.rpc());
  EXPECT_EQ(sent, 0);
  device.context().user = &device;
  device.context().inside = [](void* user) {
    petrel_rpc_heartbeat(&static_cast<TestingDevice*>(user)->rpc());
  };
  ASSERT_TRUE(host->run(0).ok());
  EXPECT_EQ(sent, 3);  // that the run has begun, the heartbeat, the answer
}

TEST(Device, FilesBesideTheLine) {
  TestingDevice device;
  const auto host = opened(device);
  const DeviceMemory pool{PETREL_RPC_POOL, 0, 0};
  EXPECT_EQ(host->load_file(pool, 4, "x").code(), absl::StatusCode::kUnimplemented);
  device.board().bulk.read = [](void*, const char* path, size_t offset, void* to, size_t bytes) {
    if (std::string(path) != "in.bin") return int32_t{PETREL_BOARD_E_MISSING};
    std::memset(to, static_cast<int>(offset), bytes);
    return int32_t{PETREL_BOARD_OK};
  };
  device.board().bulk.write = [](void*, const char* path, size_t, const void* from, size_t bytes) {
    const bool is_right =
        std::string(path) == "out.bin" && bytes == 4 && *static_cast<const uint8_t*>(from) == 9;
    return int32_t{is_right ? PETREL_BOARD_OK : PETREL_BOARD_E_MISSING};
  };
  ASSERT_TRUE(host->load_file(pool, 4, "in.bin", 9).ok());
  EXPECT_THAT(*host->read(pool, 4), ElementsAre(9, 9, 9, 9));
  EXPECT_TRUE(host->store_file(pool, 4, "out.bin").ok());
  EXPECT_FALSE(host->load_file(pool, 4, "other.bin").ok());
  EXPECT_EQ(host->load_file(pool, 65, "in.bin").code(), absl::StatusCode::kOutOfRange);
}

// A transport that a test writes itself.
class ScriptedLine final : public Transport {
 public:
  explicit ScriptedLine(std::function<Bytes(const Message&)> answer) : answer_(std::move(answer)) {}
  // What comes unasked.
  std::function<Bytes()> on_idle;

  absl::Status write(absl::Span<const uint8_t> bytes, Clock::time_point) override {
    reader_.feed(bytes, [&](const std::optional<Message>& message, int) {
      if (!message.has_value()) return;
      const Bytes reply = answer_(*message);
      inbox_.insert(inbox_.end(), reply.begin(), reply.end());
    });
    return absl::OkStatus();
  }
  absl::StatusOr<size_t> read(uint8_t* bytes, size_t size, Clock::time_point deadline) override {
    while (inbox_.empty() && Clock::now() < deadline) {
      if (!on_idle) continue;
      std::this_thread::sleep_for(milliseconds(5));
      const Bytes more = on_idle();
      inbox_.insert(inbox_.end(), more.begin(), more.end());
    }
    if (inbox_.empty()) return 0;
    const size_t got = std::min(size, inbox_.size());
    std::copy_n(inbox_.begin(), got, bytes);
    inbox_.erase(inbox_.begin(), inbox_.begin() + got);
    return got;
  }

 private:
  std::function<Bytes(const Message&)> answer_;
  FrameReader reader_;
  Bytes inbox_;
};

absl::Status open_status(std::function<Bytes(const Message&)> answer) {
  return Device::open(std::make_unique<ScriptedLine>(std::move(answer)), "test", quick()).status();
}

TEST(Device, OneThatHangsIsGivenUp) {
  EXPECT_THAT(open_status([](const Message&) { return Bytes(); }).ToString(),
              HasSubstr("test: HELLO: the device does not answer within 200 ms"));
}

TEST(Device, OneThatSaysSomethingElseIsTold) {
  EXPECT_THAT(open_status([](const Message&) {
                return Bytes{'o', 'k', 0};
              }).ToString(),
              HasSubstr("frames that came are damaged or none"));
}

TEST(Device, AnOlderProtocolIsTold) {
  const auto answer = [](const Message& request) {
    Message old = request;
    old.version = 0;
    old.type |= PETREL_RPC_ANSWER;
    return encode_frame(old, 32);
  };
  EXPECT_THAT(open_status(answer).ToString(),
              HasSubstr("the device speaks version 0 of the protocol, this program version 1"));
}

// It could say 64 million bytes so, each after as long as an answer may take.
TEST(Device, OneThatSaysWhatItIsInTinyPiecesIsGivenUp) {
  TestingDevice device;
  Bytes sent;
  device.on_sent = [&](const uint8_t* bytes, size_t size) {
    sent.insert(sent.end(), bytes, bytes + size);
  };
  const auto answer = [&](const Message& request) {
    if (request.type == PETREL_RPC_INFO) {
      std::this_thread::sleep_for(milliseconds(2));
      Message piece = request;
      piece.type |= PETREL_RPC_ANSWER;
      piece.payload = {0xff, 0xff, 0xff, 0, 'x'};
      return encode_frame(piece, 32);
    }
    sent.clear();
    const Bytes frame = encode_frame(request, 32);
    device.feed(frame.data(), frame.size());
    return sent;
  };
  SessionOptions options = quick();
  options.info_patience = milliseconds(50);
  const auto host = Device::open(std::make_unique<ScriptedLine>(answer), "test", options);
  EXPECT_TRUE(absl::IsDeadlineExceeded(host.status())) << host.status();
  EXPECT_THAT(host.status().ToString(),
              HasSubstr("test: what the device says of its model does not end within 50 ms: "));
}

// A device that answers what it must, and of a run says first that it has begun.
class BusyDevice {
 public:
  BusyDevice() {
    device_.on_sent = [this](const uint8_t* bytes, size_t size) {
      sent_.insert(sent_.end(), bytes, bytes + size);
    };
  }
  Bytes answer(const Message& request) {
    sent_.clear();
    const Bytes frame = encode_frame(request, 32);
    device_.feed(frame.data(), frame.size());
    return sent_;
  }
  static Bytes busy(const Message& request) {
    return encode_frame(
        {PETREL_RPC_VERSION, PETREL_RPC_BUSY, request.session, request.sequence, {}}, 32);
  }

 private:
  TestingDevice device_;
  Bytes sent_;
};

TEST(Device, OneThatHangsWithinAKernelIsGivenUp) {
  BusyDevice device;
  int runs = 0;
  auto host = Device::open(std::make_unique<ScriptedLine>([&](const Message& request) {
                             if (request.type != PETREL_RPC_RUN) return device.answer(request);
                             return ++runs == 1 ? BusyDevice::busy(request) : Bytes();
                           }),
                           "test", quick());
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_THAT((*host)->run(0).status().ToString(),
              HasSubstr("RUN: the device began, and has said nothing for 300 ms"));
}

TEST(Device, SignsOfLifeKeepALongKernelAlive) {
  BusyDevice device;
  std::optional<Message> run;
  Transport::Clock::time_point begun;
  auto line = std::make_unique<ScriptedLine>([&](const Message& request) {
    if (request.type != PETREL_RPC_RUN) return device.answer(request);
    if (!run.has_value()) begun = Transport::Clock::now();
    run = request;
    return BusyDevice::busy(request);
  });
  line->on_idle = [&] {
    if (!run.has_value()) return Bytes();
    // Twice as long as a device may say nothing.
    const bool is_done = Transport::Clock::now() - begun > milliseconds(600);
    return is_done ? device.answer(*run) : BusyDevice::busy(*run);
  };
  auto host = Device::open(std::move(line), "test", quick());
  ASSERT_TRUE(host.ok()) << host.status();
  const auto action = (*host)->run(0);
  EXPECT_TRUE(action.ok()) << action.status();
}

TEST(Device, SignsOfLifeDoNotKeepAKernelAliveForEver) {
  BusyDevice device;
  std::optional<Message> run;
  auto line = std::make_unique<ScriptedLine>([&](const Message& request) {
    if (request.type == PETREL_RPC_RUN) run = request;
    return run.has_value() ? BusyDevice::busy(*run) : device.answer(request);
  });
  line->on_idle = [&] { return run.has_value() ? BusyDevice::busy(*run) : Bytes(); };
  SessionOptions options = quick();
  options.longest_request = milliseconds(400);
  auto host = Device::open(std::move(line), "test", options);
  ASSERT_TRUE(host.ok()) << host.status();
  const absl::Status status = (*host)->run(0).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(status.ToString(),
              HasSubstr("RUN: the device is not done in the time for it, at most 400 ms"));
}

}  // namespace
}  // namespace petrel::extension
