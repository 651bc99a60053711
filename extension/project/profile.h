// SPDX-License-Identifier: Apache-2.0
//
// How long each step of a model takes on a board, as firmware/app/profile.c tells it: of its
// layout, memory and kernels as they will be for good, since nothing else is in that firmware.
//
//   PETREL_ASSIGN_OR_RETURN(const BoardProfile profile, read_profile(*stream, 60000));
//   profile.methods[0].steps[3].ticks     20410, the least of some runs
#ifndef PETREL_EXTENSION_PROJECT_PROFILE_H_
#define PETREL_EXTENSION_PROJECT_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/project/board_stream.h"

namespace petrel::extension {

struct StepTicks {
  std::string name;  // "op3_int8_convolution"
  uint64_t ticks = 0;
};

struct MethodTicks {
  std::string name;
  std::vector<StepTicks> steps;  // in the order in which they ran first
};

struct BoardProfile {
  int64_t hz = 0;
  std::vector<MethodTicks> methods;

  uint64_t ticks() const;  // of all steps
};

// FailedPrecondition where the board has no timer, or one that overflows or stands still, or
// where the model fails; DeadlineExceeded when the board says nothing more.
absl::StatusOr<BoardProfile> read_profile(BoardStream& stream, int64_t timeout_ms);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_PROFILE_H_
