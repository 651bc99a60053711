// SPDX-License-Identifier: Apache-2.0
//
// How long a method takes on a device, by the device's own timer: as many runs in a row as the
// timer needs to tell them well, repeated until the mean is known well.
//
//   PETREL_ASSIGN_OR_RETURN(const DeviceTimes times, time_method(*method, DeviceTimePlan()));
//   times.mean_seconds    of one run, give or take times.relative_error
//
// A timer that is coarse gets more runs, one that overflows fewer, at last one by steps; one that
// does not count, or not even the longest step, is an error.
#ifndef PETREL_EXTENSION_DEVICE_DEVICE_TIME_H_
#define PETREL_EXTENSION_DEVICE_DEVICE_TIME_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/device/device_method.h"

namespace petrel::extension {

struct DeviceTimePlan {
  double max_error = 0.01;    // of the mean, at which repeating ends
  double min_seconds = 0.02;  // of runs in a row
  int min_repeats = 3;
  int max_repeats = 30;
};

struct DeviceTimes {
  uint32_t number = 0;          // runs in a row
  std::vector<double> seconds;  // of one run, by repeat
  double mean_seconds = 0;
  // Of the mean: its standard error, and what one tick is of a figure, whichever is more.
  double relative_error = 0;
  double ticks = 0;       // of one run
  bool by_steps = false;  // the timer is too short for a run: the sum of its steps, timed alone
};

// Unimplemented without a timer; FailedPrecondition for one that stands still in sleep where the
// model has devices, for which the processor may wait asleep. Inputs are those of the method.
absl::StatusOr<DeviceTimes> time_method(DeviceMethod& method, const DeviceTimePlan& plan);

struct DeviceStepTime {
  size_t step = 0;
  double ticks = 0;
  double share = 0;  // of all
};

// Each step that took part, in order; the least of `repeats` runs. Errors as of time_method().
absl::StatusOr<std::vector<DeviceStepTime>> profile_method(DeviceMethod& method, int repeats);

// A line for each step, with its kernel and the user's source line.
std::string profile_text(const DeviceMethod& method, const std::vector<DeviceStepTime>& steps,
                         uint32_t timer_hz);

struct DeviceCalibration {
  double measured_hz = 0;
  double relative_error = 0;  // of that figure: what the line adds to the time
  double drift = 0;           // measured_hz / what the board says - 1
};

// Lets the timer run for that long beside the clock of this machine. OutOfRange when the timer
// cannot count so long.
absl::StatusOr<DeviceCalibration> calibrate_timer(Device& device, std::chrono::milliseconds time);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DEVICE_DEVICE_TIME_H_
