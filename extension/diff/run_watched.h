// SPDX-License-Identifier: Apache-2.0
//
// One run of a watched program on arrays: by the name of the input, or by its place among
// those that are tensors ("0"). All tensors must be given.
//
//   PETREL_ASSIGN_OR_RETURN(ValueTrace trace, run_watched(*program, "forward", {{"0", image}}));
#ifndef PETREL_EXTENSION_DIFF_RUN_WATCHED_H_
#define PETREL_EXTENSION_DIFF_RUN_WATCHED_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "extension/diff/value_trace.h"
#include "extension/diff/watched_program.h"
#include "extension/npy/npy.h"

namespace petrel::extension {

// InvalidArgument naming the input that is missing or does not fit, or the array that is of
// none.
absl::StatusOr<ValueTrace> run_watched(WatchedProgram& program, const std::string& method,
                                       std::map<std::string, NpyArray> arrays);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_RUN_WATCHED_H_
