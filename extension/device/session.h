// SPDX-License-Identifier: Apache-2.0
//
// A conversation with a device: one request at a time, each answered once or refused, over a
// stream that may lose, damage, double and delay whatever it carries.
//
//   PETREL_ASSIGN_OR_RETURN(auto session, Session::open(std::move(transport), SessionOptions()));
//   PETREL_ASSIGN_OR_RETURN(const Bytes answer, session->ask(PETREL_RPC_READ, payload));
//
// Invariant: every call ends within the times of the options; an action is done once, however
// often its request had to be sent. Owns the transport.
//
// Aborted means that the device was started anew: what it was told before is gone, and hello()
// begins again.
#ifndef PETREL_EXTENSION_DEVICE_SESSION_H_
#define PETREL_EXTENSION_DEVICE_SESSION_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "extension/device/frame.h"
#include "extension/device/transport.h"

namespace petrel::extension {

// No device has more.
inline constexpr uint64_t kMostDeviceTensorBytes = uint64_t{1} << 30;

struct SessionOptions {
  // Until a device has said hello, which may be starting.
  std::chrono::milliseconds start_timeout = std::chrono::seconds(10);
  // Until a request is sent again; grows with each time.
  std::chrono::milliseconds retry_after = std::chrono::milliseconds(100);
  // Without any sign of life before a request is given up.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  // The same while the device does what it was asked for: of the longest kernel.
  std::chrono::milliseconds run_patience = std::chrono::seconds(60);
  // Of one request, however many signs of life there are.
  std::chrono::milliseconds longest_request = std::chrono::hours(24);
  // Of all that a device says of its model, in however many pieces.
  std::chrono::milliseconds info_patience = std::chrono::minutes(10);
  // Of all inputs and outputs that the device says it has: the host makes as much memory.
  uint64_t max_input_bytes = kMostDeviceTensorBytes;
  // Of one call that is driven from here: a step that jumps back would run for ever.
  uint32_t max_steps = 1'000'000;
  // Lines that the device logs; else they go to standard error.
  std::function<void(const std::string& line)> on_log;
};

// What HELLO says.
struct DeviceHello {
  uint16_t longest_request = 0;
  int crc_bits = 32;
  uint32_t features = 0;  // PETREL_RPC_HAS_...
  uint32_t boot_count = 0;
  uint32_t timer_hz = 0;
  int timer_bits = 0;
  uint32_t timer_flags = 0;
  uint32_t build_id = 0;
  std::string model_hash;  // the first 32 digits of its SHA-256

  bool has(uint32_t feature) const { return (features & feature) != 0; }
  // What sleeps meanwhile cannot be measured.
  bool timer_stops_in_sleep() const { return (timer_flags & 1) != 0; }
};

struct SessionStats {
  uint64_t requests = 0;
  uint64_t resent = 0;
  uint64_t damaged = 0;  // frames that came
};

class Session {
 public:
  // Says hello. FailedPrecondition for a device of another protocol.
  static absl::StatusOr<std::unique_ptr<Session>> open(std::unique_ptr<Transport> transport,
                                                       std::string name, SessionOptions options);

  // Begins anew.
  absl::Status hello();
  const DeviceHello& told() const { return hello_; }

  // `detail`, where not null, gets that of a refusal. Given up at `end`, if that is before
  // the times of the options.
  absl::StatusOr<Bytes> ask(uint8_t type, const Bytes& payload, uint32_t* detail = nullptr,
                            Transport::Clock::time_point end = Transport::Clock::time_point::max());

  // Most bytes of an answer that the device is told to give.
  static constexpr size_t kLongestAnswer = 1024;

  const std::string& name() const { return name_; }
  const SessionOptions& options() const { return options_; }
  SessionStats stats() const;

 private:
  using Clock = Transport::Clock;

  Session(std::unique_ptr<Transport> transport, std::string name, SessionOptions options)
      : transport_(std::move(transport)), name_(std::move(name)), options_(std::move(options)) {}

  // What has come of a request.
  struct Reply {
    bool is_there = false;
    bool is_busy = false;
    bool is_coming = false;  // some bytes were
    bool has_to_resend = false;
    absl::Status failed;
    Bytes payload;
    int crc_bits = 0;
  };
  absl::StatusOr<Reply> converse(const Message& request, uint32_t* detail, Clock::time_point end);
  absl::Status wait_for(const Message& request, Clock::time_point until, Reply* reply,
                        uint32_t* detail);
  void take(const Message& message, const Message& request, Reply* reply, uint32_t* detail) const;
  absl::Status send(const Message& request);
  absl::Status silent(const Message& request, bool is_busy) const;
  absl::Status late(const Message& request) const;
  absl::Status read_hello(const Bytes& payload, int crc_bits);

  std::unique_ptr<Transport> transport_;
  const std::string name_;
  const SessionOptions options_;
  FrameReader reader_;
  DeviceHello hello_;
  uint16_t session_ = 0;
  uint16_t sequence_ = 0;
  std::chrono::milliseconds round_trip_{0};  // of the last request
  SessionStats stats_;
};

// "READ"; for messages.
std::string request_name(uint8_t type);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_SESSION_H_
