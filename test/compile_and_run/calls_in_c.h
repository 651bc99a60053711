// SPDX-License-Identifier: Apache-2.0
//
// Calls of operators as generated C: what the compiler makes of them, and what becomes of that.
//
//   Program program;                                  a method for each call
//   PETREL_ASSIGN_OR_RETURN(const CallsInC made, calls_in_c(&program, "calls"));
//   made.can_fail                                     a step checks what it is given
//   run_by_kernels(*program.methods.at("m").graph);   what the interpreter says to the same
//   run_with_sanitizers(made, "calls", folder);       inputs of all kinds, in memory of their sizes
#ifndef PETREL_TEST_COMPILE_AND_RUN_CALLS_IN_C_H_
#define PETREL_TEST_COMPILE_AND_RUN_CALLS_IN_C_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/emit_c/emit_c.h"
#include "exir/ir/program.h"

namespace petrel::compile_and_run {

struct CallsInC {
  std::vector<exir::emit_c::CFile> files;
  size_t text_bytes = 0;
  bool can_fail = false;
};

// All passes are run on `program`; inputs and outputs lie with the caller. An error is what a user
// of `petrel gen-c` would read.
absl::StatusOr<CallsInC> calls_in_c(exir::Program* program, const std::string& name);

// The graph, after all passes, by the reference kernels: on zeros, of each sample of sizes that
// vary. FailedPrecondition where a kernel refuses it.
absl::Status run_by_kernels(const exir::Graph& graph);

// Whether C does no wrong where a kernel refuses: there are no elements to compute, slices are
// written over by elements of another dtype, which C converts as eager does, limits lie outside
// of the integers that they limit, or the one window of a dim would be far from the next.
bool is_harmless(const exir::Graph& graph);

// Bytes of inputs and outputs, at most.
int64_t io_bytes(const exir::Graph& graph);

// Compiles the files and runs each method some times under AddressSanitizer and UBSan.
// FailedPrecondition tells what these or the compiler say, and which method that was.
absl::Status run_with_sanitizers(const CallsInC& made, const std::string& name,
                                 const std::string& folder);

}  // namespace petrel::compile_and_run

#endif  // PETREL_TEST_COMPILE_AND_RUN_CALLS_IN_C_H_
