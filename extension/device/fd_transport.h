// SPDX-License-Identifier: Apache-2.0
//
// A transport over one file descriptor that polls: a socket, a pty or a serial port. Owns the
// descriptor, and the process at its other end where it has started one.
#ifndef PETREL_EXTENSION_DEVICE_FD_TRANSPORT_H_
#define PETREL_EXTENSION_DEVICE_FD_TRANSPORT_H_

#include <sys/types.h>

#include <string>

#include "extension/device/transport.h"

namespace petrel::extension {

class FdTransport final : public Transport {
 public:
  // `fd` does not block. `child` is 0 or leads a group of processes of its own.
  FdTransport(int fd, std::string name, pid_t child = 0);
  ~FdTransport() override;
  FdTransport(const FdTransport&) = delete;
  FdTransport& operator=(const FdTransport&) = delete;

  absl::Status write(absl::Span<const uint8_t> bytes, Clock::time_point deadline) override;
  absl::StatusOr<size_t> read(uint8_t* bytes, size_t size, Clock::time_point deadline) override;

 private:
  // False by the deadline.
  bool wait(short events, Clock::time_point deadline) const;
  absl::Status gone(const std::string& why);

  const int fd_;
  const std::string name_;
  pid_t child_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_FD_TRANSPORT_H_
