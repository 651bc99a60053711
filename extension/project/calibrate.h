// SPDX-License-Identifier: Apache-2.0
//
// Compares the timer of a board with the clock of this machine: firmware/app/calibrate.c says
// when it begins and ends to count, and this reads when that comes.
//
//   PETREL_ASSIGN_OR_RETURN(const BoardCalibration found, calibrate(*stream, 60000));
//   found.hz, found.told_hz, found.spread
#ifndef PETREL_EXTENSION_PROJECT_CALIBRATE_H_
#define PETREL_EXTENSION_PROJECT_CALIBRATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "extension/project/board_stream.h"

namespace petrel::extension {

// A spread above which measurements tell no frequency: something else took time.
inline constexpr double kMostSpread = 0.05;

struct BoardCalibration {
  double hz = 0;        // ticks in a second of this machine, the median of all measurements
  double spread = 0;    // of the measurements, from the least to the most, as a share of hz
  double seconds = 0;   // that all took together
  int64_t told_hz = 0;  // what the board says of itself
  int bits = 0;
};

// FailedPrecondition where the board has no timer or that does not count; DeadlineExceeded when
// the board says nothing more; Internal for what it says and makes no sense.
absl::StatusOr<BoardCalibration> calibrate(BoardStream& stream, int64_t timeout_ms);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_CALIBRATE_H_
