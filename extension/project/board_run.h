// SPDX-License-Identifier: Apache-2.0
//
// Runs the standalone program of a project on its board, as far as that reaches files: on the
// host, and on emulators.
//
//   PETREL_ASSIGN_OR_RETURN(const RunReport report, run_on_board(project, 0, folder, 60000));
//   report.ticks, report.stack_used
//
// `folder` has input_N.bin, and gets output_N.bin (firmware/app/standalone.c).
#ifndef PETREL_EXTENSION_PROJECT_BOARD_RUN_H_
#define PETREL_EXTENSION_PROJECT_BOARD_RUN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/project/project.h"

namespace petrel::extension {

struct RunReport {
  uint64_t ticks = 0;
  uint32_t hz = 0;            // 0: there is no timer
  std::string timer_problem;  // "": the ticks are right
  uint32_t stack_used = 0;    // 0: not known
  uint32_t stack_bytes = 0;
};

// DeadlineExceeded where the board does not end in time, Internal for a fault, with what it
// said; FailedPrecondition for a status of the model that is not OK, or a stack that ran over.
absl::StatusOr<RunReport> run_on_board(const Project& project, size_t method,
                                       const std::string& folder, int64_t timeout_ms);

// The words that start the emulator of a board, or the program itself on the host; `serial` is
// what its first serial port is ("null", "stdio").
std::vector<std::string> emulator_words(const exir::Board& board, const std::string& image,
                                        const std::string& serial,
                                        const std::vector<std::string>& arguments);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_BOARD_RUN_H_
