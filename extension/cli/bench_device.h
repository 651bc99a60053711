// SPDX-License-Identifier: Apache-2.0
//
// `petrel bench --device`: how long a method takes by the timer of its device, step by step, and
// how much stack it needs.
#ifndef PETREL_EXTENSION_CLI_BENCH_DEVICE_H_
#define PETREL_EXTENSION_CLI_BENCH_DEVICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "extension/cli/compiled_io.h"

namespace petrel::extension {

struct DeviceBench {
  DeviceChoice device;
  std::string method;
  std::vector<std::string> inputs;
  uint64_t max_input_bytes = 0;
  double seconds = 0.5;  // that all runs which count take together
  int calibrate_ms = 0;  // 0: the timer is believed
  std::string picture;   // a file for the times of all steps; "": none
  bool json = false;
};

// Prints; returns the exit code.
int bench_device(const DeviceBench& bench);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_BENCH_DEVICE_H_
