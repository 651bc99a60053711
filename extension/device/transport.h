// SPDX-License-Identifier: Apache-2.0
//
// A stream of bytes to a device. Every call ends by its deadline, whatever the device does.
//
//   PETREL_ASSIGN_OR_RETURN(auto transport, open_transport("serial:/dev/ttyACM0@115200"));
//   PETREL_RETURN_IF_ERROR(transport->write(bytes, deadline));
//   PETREL_ASSIGN_OR_RETURN(const size_t got, transport->read(buffer, sizeof buffer, deadline));
//
//   exec:COMMAND          standard input and output of a command, which ends with the transport
//   serial:PATH[@BAUD]    a serial port or pty, 115200 where nothing is said
//   tcp:HOST:PORT         a socket that something listens on
//   unix:PATH             likewise
#ifndef PETREL_EXTENSION_DEVICE_TRANSPORT_H_
#define PETREL_EXTENSION_DEVICE_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace petrel::extension {

class Transport {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Transport() = default;
  // All of them. DeadlineExceeded when the device takes no more; Unavailable when it is gone.
  virtual absl::Status write(absl::Span<const uint8_t> bytes, Clock::time_point deadline) = 0;
  // What has come, as soon as something has; 0 by the deadline. Unavailable when the device is
  // gone.
  virtual absl::StatusOr<size_t> read(uint8_t* bytes, size_t size, Clock::time_point deadline) = 0;
};

// InvalidArgument for what is no spec; NotFound or Unavailable, with the reason, for what cannot
// be opened within `timeout`.
absl::StatusOr<std::unique_ptr<Transport>> open_transport(
    const std::string& spec, std::chrono::milliseconds timeout = std::chrono::seconds(5));

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_TRANSPORT_H_
