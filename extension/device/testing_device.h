// SPDX-License-Identifier: Apache-2.0
//
// A device within the process of a test, and a line to it on which everything goes wrong that a
// test asks for.
//
//   TestingDevice device;
//   FaultyLine::Faults faults;
//   faults.damage = 0.1;
//   auto host = Device::open(std::make_unique<FaultyLine>(device, faults, seed), "test", options);
//
// The device answers while bytes are written to it. Line and device are of one thread; the
// device outlives the line.
#ifndef PETREL_EXTENSION_DEVICE_TESTING_DEVICE_H_
#define PETREL_EXTENSION_DEVICE_TESTING_DEVICE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "extension/device/testing_model.h"
#include "extension/device/transport.h"
#include "runtime/micro/device/petrel_rpc.h"

namespace petrel::extension {

// A timer whose ticks a test decides.
struct FakeTimer {
  uint64_t ticks_per_run = 1000;
  uint64_t ticks_per_step = 0;
  int32_t start_status = PETREL_BOARD_OK;
  int32_t stop_status = PETREL_BOARD_OK;
  uint64_t resolution = 1;
  int32_t runs_at_start = 0;
  int32_t steps_at_start = 0;
};

class TestingDevice {
 public:
  explicit TestingDevice(const petrel_model_metadata* model = testing_metadata(),
                         size_t buffer_bytes = PETREL_RPC_BUFFER_BYTES);

  // As when power comes back: nothing is left but the number of starts.
  void start(const petrel_model_metadata* model);
  void start() { start(config_.model); }
  void feed(const uint8_t* bytes, size_t size) { petrel_rpc_feed(&rpc_, bytes, size); }

  // What it sends goes here.
  std::function<void(const uint8_t* bytes, size_t size)> on_sent;

  petrel_rpc& rpc() { return rpc_; }
  testing_context& context() { return context_; }
  petrel_board& board() { return board_; }
  petrel_rpc_config& config() { return config_; }
  FakeTimer& timer() { return timer_; }
  uint32_t starts() const { return starts_; }

 private:
  petrel_board board_ = {};
  petrel_rpc_config config_ = {};
  petrel_rpc rpc_ = {};
  testing_context context_ = {};
  // Exactly as large as the device is told, so that a sanitizer sees a byte beyond.
  std::unique_ptr<unsigned char[]> pool_{new unsigned char[TESTING_POOL_BYTES]};
  void* pools_[1] = {pool_.get()};
  size_t pool_bytes_[1] = {TESTING_POOL_BYTES};
  std::vector<unsigned char> buffer_;
  std::vector<uint32_t> trace_ = std::vector<uint32_t>(5);
  FakeTimer timer_;
  uint32_t starts_ = 0;
};

class FaultyLine final : public Transport {
 public:
  // Chances for each frame, either way.
  struct Faults {
    double drop = 0, repeat = 0, damage = 0, reorder = 0, truncate = 0, insert = 0;
    bool split = false;  // bytes come one at a time
    // Called with the number of bytes that were ever written to the device, before each.
    std::function<void(uint64_t written)> on_byte;
    // Changes one byte: its place among all, either way, and what it is xored with.
    int64_t damaged_byte = -1;
    uint8_t damage_with = 0;
  };

  FaultyLine(TestingDevice& device, Faults faults, uint32_t seed);
  ~FaultyLine() override { device_.on_sent = nullptr; }

  absl::Status write(absl::Span<const uint8_t> bytes, Clock::time_point deadline) override;
  absl::StatusOr<size_t> read(uint8_t* bytes, size_t size, Clock::time_point deadline) override;
  // Bytes either way.
  uint64_t carried() const { return carried_; }

 private:
  bool happens(double chance) { return std::uniform_real_distribution<>(0, 1)(random_) < chance; }
  // What becomes of one frame.
  std::vector<std::vector<uint8_t>> spoiled(std::vector<uint8_t> frame, std::vector<uint8_t>* held);

  TestingDevice& device_;
  const Faults faults_;
  std::mt19937 random_;
  std::vector<uint8_t> sent_;                // by the device, up to the end of a frame
  std::vector<uint8_t> held_in_, held_out_;  // to come behind the next frame
  std::deque<uint8_t> inbox_;
  uint64_t written_ = 0;
  uint64_t carried_ = 0;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_TESTING_DEVICE_H_
