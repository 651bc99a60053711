// SPDX-License-Identifier: Apache-2.0
//
// The array for one input from what the command was given: a file, an array written out, or
// ones when it was not given at all.
//
//   PETREL_ASSIGN_OR_RETURN(const NpyArray array, read_input("x.npy", wanted, &budget));
#ifndef PETREL_EXTENSION_CLI_INPUT_ARRAY_H_
#define PETREL_EXTENSION_CLI_INPUT_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "extension/npy/npy.h"
#include "runtime/core/budget.h"
#include "runtime/core/scalar_type.h"
#include "runtime/core/span.h"

namespace petrel::extension {

// What a method says of an input.
struct WantedInput {
  std::string name;  // "input 0 'x'"
  std::string method;
  runtime::ScalarType type = runtime::ScalarType::Float;
  runtime::Span<const int32_t> sizes;
  size_t nbytes = 0;
};

// `source` may be empty; `bytes` pays for ones. InvalidArgument for another dtype or rank than
// wanted; sizes may differ.
absl::StatusOr<NpyArray> read_input(const std::string& source, const WantedInput& wanted,
                                    runtime::Budget* bytes);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_INPUT_ARRAY_H_
