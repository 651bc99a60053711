// SPDX-License-Identifier: Apache-2.0
//
// Small arrays written on a command line:
//
//   [[1,2],[3,4]]:float32     numbers in brackets as in JSON, and their dtype
//   [true,false]              of the dtype that the input has
//   0.5                       without dims
#ifndef PETREL_EXTENSION_CLI_ARRAY_LITERAL_H_
#define PETREL_EXTENSION_CLI_ARRAY_LITERAL_H_

#include <string>

#include "absl/status/statusor.h"
#include "extension/npy/npy.h"
#include "runtime/core/scalar_type.h"

namespace petrel::extension {

// Whether `text` is such an array rather than the name of a file.
bool is_array_literal(const std::string& text);

// Elements get the dtype that the text names, else `type`. InvalidArgument names
// the element that has no such value, and rows of different lengths.
absl::StatusOr<NpyArray> parse_array_literal(const std::string& text, runtime::ScalarType type);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_ARRAY_LITERAL_H_
