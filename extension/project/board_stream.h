// SPDX-License-Identifier: Apache-2.0
//
// The stream of bytes of a board: the serial port of one to hold in hands, the first UART of an
// emulated one, standard input and output of a program of the host. Closing it ends an
// emulator.
//
//   PETREL_ASSIGN_OR_RETURN(const auto stream, open_stream(project, kHostDriven));
//   PETREL_RETURN_IF_ERROR(stream->write("...", 1000));
//   PETREL_ASSIGN_OR_RETURN(const std::string bytes, stream->read(256, 1000));
#ifndef PETREL_EXTENSION_PROJECT_BOARD_STREAM_H_
#define PETREL_EXTENSION_PROJECT_BOARD_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "extension/project/project.h"

namespace petrel::extension {

class BoardStream {
 public:
  virtual ~BoardStream() = default;
  // What has come, at least one byte; "" at the end. DeadlineExceeded when nothing comes in time.
  virtual absl::StatusOr<std::string> read(size_t most, int64_t timeout_ms) = 0;
  virtual absl::Status write(absl::string_view bytes, int64_t timeout_ms) = 0;
};

// Starts the program of this driver where the board is emulated or the host, else opens the port
// of the device.
absl::StatusOr<std::unique_ptr<BoardStream>> open_stream(const Project& project,
                                                         const std::string& driver);

// How others reach that stream, as --device of `petrel run`: "exec:qemu-system-arm ...", or
// "serial:/dev/ttyACM0@115200".
absl::StatusOr<std::string> device_spec(const Project& project, const std::string& driver);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_BOARD_STREAM_H_
