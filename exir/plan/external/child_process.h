// SPDX-License-Identifier: Apache-2.0
//
// Runs a command with some input and collects what it writes, for a limited
// time. No zombie, open file or process of the command is left behind,
// whatever happens; a command that stops reading is not an error by itself.
//
//   absl::StatusOr<std::string> sorted = run_command("sort", "b\na\n", 1000);

#ifndef PETREL_EXIR_PLAN_EXTERNAL_CHILD_PROCESS_H_
#define PETREL_EXIR_PLAN_EXTERNAL_CHILD_PROCESS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace petrel::exir::plan {

// What the command, run by /bin/sh, wrote to its standard output. Errors, all
// naming the command: DeadlineExceeded after `timeout_ms`; Aborted when it
// exits with another code than 0 or is killed, with the last line of its
// standard error; ResourceExhausted beyond 256 MiB of output; Internal when
// the system lets no process start.
absl::StatusOr<std::string> run_command(const std::string& command, const std::string& input,
                                        int64_t timeout_ms);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_EXTERNAL_CHILD_PROCESS_H_
