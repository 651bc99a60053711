// SPDX-License-Identifier: Apache-2.0
#include "extension/device/testing_device.h"

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

namespace petrel::extension {
namespace {

TestingDevice& self(void* user) { return *static_cast<TestingDevice*>(user); }

int32_t read_nothing(void*, unsigned char*, uint32_t, uint32_t) { return PETREL_BOARD_E_CLOSED; }

int32_t write_out(void* user, const unsigned char* bytes, uint32_t size) {
  if (self(user).on_sent) self(user).on_sent(bytes, size);
  return PETREL_BOARD_OK;
}

int32_t start_timer(void* user) {
  FakeTimer& timer = self(user).timer();
  timer.runs_at_start = self(user).context().runs;
  timer.steps_at_start = self(user).context().steps;
  return timer.start_status;
}

int32_t stop_timer(void* user, uint64_t* ticks) {
  const FakeTimer& timer = self(user).timer();
  const auto runs = static_cast<uint64_t>(self(user).context().runs - timer.runs_at_start);
  const auto steps = static_cast<uint64_t>(self(user).context().steps - timer.steps_at_start);
  *ticks = (runs * timer.ticks_per_run + steps * timer.ticks_per_step) / timer.resolution *
           timer.resolution;
  return timer.stop_status;
}

uint32_t count_starts(void* user) { return self(user).starts(); }
int32_t test_itself(void*) { return PETREL_MODEL_OK; }

}  // namespace

TestingDevice::TestingDevice(const petrel_model_metadata* model, size_t buffer_bytes)
    : buffer_(buffer_bytes) {
  board_.name = "testing";
  board_.user = this;
  board_.read = read_nothing;
  board_.write = write_out;
  board_.timer = {1'000'000, 32, 0, start_timer, stop_timer};
  board_.boot_count = count_starts;
  board_.reset = [](void* user) { self(user).start(); };
  config_.board = &board_;
  config_.plan = testing_plan();
  config_.context = &context_;
  config_.pools = pools_;
  config_.pool_bytes = pool_bytes_;
  config_.buffer = buffer_.data();
  config_.buffer_bytes = buffer_.size();
  config_.trace = trace_.data();
  config_.num_trace = static_cast<uint32_t>(trace_.size());
  config_.selftest = test_itself;
  start(model);
}

void TestingDevice::start(const petrel_model_metadata* model) {
  ++starts_;
  config_.model = model;
  std::fill_n(pool_.get(), TESTING_POOL_BYTES, static_cast<unsigned char>(0xcd));
  context_ = {};
  if (petrel_rpc_init(&rpc_, &config_) != PETREL_RPC_OK) std::abort();
}

FaultyLine::FaultyLine(TestingDevice& device, Faults faults, uint32_t seed)
    : device_(device), faults_(std::move(faults)), random_(seed) {
  device_.on_sent = [this](const uint8_t* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) {
      sent_.push_back(bytes[i]);
      if (bytes[i] != 0 || sent_.size() < 2) continue;
      for (const std::vector<uint8_t>& frame : spoiled(std::exchange(sent_, {}), &held_in_)) {
        for (const uint8_t byte : frame) {
          const bool is_it = static_cast<int64_t>(carried_++) == faults_.damaged_byte;
          inbox_.push_back(is_it ? byte ^ faults_.damage_with : byte);
        }
      }
    }
  };
}

std::vector<std::vector<uint8_t>> FaultyLine::spoiled(std::vector<uint8_t> frame,
                                                      std::vector<uint8_t>* held) {
  std::vector<std::vector<uint8_t>> frames;
  if (happens(faults_.damage)) {
    frame[random_() % frame.size()] ^= static_cast<uint8_t>(1 + random_() % 255);
  }
  if (happens(faults_.truncate)) frame.resize(random_() % frame.size());
  if (happens(faults_.insert)) {
    frame.insert(frame.begin() + random_() % (frame.size() + 1), static_cast<uint8_t>(random_()));
  }
  const bool is_late = held->empty() && happens(faults_.reorder);
  if (is_late) {
    *held = std::move(frame);
    return frames;
  }
  if (!happens(faults_.drop)) {
    if (happens(faults_.repeat)) frames.push_back(frame);
    frames.push_back(std::move(frame));
  }
  if (!held->empty()) frames.push_back(std::exchange(*held, {}));
  return frames;
}

absl::Status FaultyLine::write(absl::Span<const uint8_t> bytes, Clock::time_point) {
  for (const std::vector<uint8_t>& frame : spoiled({bytes.begin(), bytes.end()}, &held_out_)) {
    for (uint8_t byte : frame) {
      if (faults_.on_byte) faults_.on_byte(written_);
      ++written_;
      if (static_cast<int64_t>(carried_++) == faults_.damaged_byte) byte ^= faults_.damage_with;
      device_.feed(&byte, 1);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> FaultyLine::read(uint8_t* bytes, size_t size, Clock::time_point deadline) {
  if (inbox_.empty()) {
    std::this_thread::sleep_until(deadline);
    return 0;
  }
  const size_t got = std::min(faults_.split ? 1 : size, inbox_.size());
  std::copy_n(inbox_.begin(), got, bytes);
  inbox_.erase(inbox_.begin(), inbox_.begin() + got);
  return got;
}

}  // namespace petrel::extension
