// SPDX-License-Identifier: Apache-2.0
//
// The boards that are plugged in, and how one of several is meant.
//
//   for (const SerialDevice& device : list_devices("/sys")) device.port;   "/dev/ttyACM0"
//   PETREL_ASSIGN_OR_RETURN(const SerialDevice mine, find_device(board, "0240000034", devices));
#ifndef PETREL_EXTENSION_PROJECT_DEVICES_H_
#define PETREL_EXTENSION_PROJECT_DEVICES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/board/board.h"

namespace petrel::extension {

// A serial port, and the USB device that it belongs to, as far as there is one.
struct SerialDevice {
  std::string port;         // "/dev/ttyACM0"
  std::string serial;       // of the device
  std::string usb;          // "0d28:0204"
  std::string description;  // "ARM DAPLink CMSIS-DAP"
};

// Sorted by port. `sysfs` is where the kernel tells of its devices, /sys.
std::vector<SerialDevice> list_devices(const std::string& sysfs);

// The device of this serial number or port; without one the only device of this board.
// NotFound and FailedPrecondition (there are several) list those that there are.
absl::StatusOr<SerialDevice> find_device(const exir::Board& board, const std::string& word,
                                         const std::vector<SerialDevice>& devices);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_DEVICES_H_
