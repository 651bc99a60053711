// SPDX-License-Identifier: Apache-2.0
//
// A program run the way a stranger's would be: loaded with small limits, every
// method made and executed twice, with inputs of its own making that change between
// the executions, in memory of exact sizes. Breaking a promise of schema/README.md
// ends the process (oracle.h).
//
//   const ProgramResult result = run_program(data, size, registry, small_limits());
//   result.calls[0].outputs[0].bytes
//
// The result owns copies; nothing of the program is left.

#ifndef PETREL_TEST_FUZZ_PROGRAM_RUN_H_
#define PETREL_TEST_FUZZ_PROGRAM_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/evalue.h"
#include "runtime/core/limits.h"
#include "runtime/executor/registry.h"

namespace petrel::fuzz {

struct OutputCopy {
  runtime::Tag tag = runtime::Tag::None;
  double number = 0;
  // Of a tensor.
  runtime::ScalarType type = runtime::ScalarType::Byte;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> bytes;
};

// One execution of one method.
struct Call {
  std::string method;
  runtime::Error error = runtime::Error::Ok;
  std::vector<OutputCopy> outputs;
};

struct ProgramResult {
  runtime::Error load = runtime::Error::Ok;
  std::vector<Call> calls;
};

// An execution costs some milliseconds at most.
runtime::Limits small_limits();

// Only the portable kernels, with the backends of `all`.
const runtime::Registry& reference_registry(const runtime::Registry& all);

ProgramResult run_program(const uint8_t* data, size_t size, const runtime::Registry& registry,
                          const runtime::Limits& limits);

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_PROGRAM_RUN_H_
