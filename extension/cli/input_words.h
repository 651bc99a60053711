// SPDX-License-Identifier: Apache-2.0
//
// Which input each --input of a command line is for:
//
//   --input x.npy               the next input that has none yet
//   --input tokens=x.npy        the input of this name
//   --input 'tokens=[1,2,3]'    an array written out (array_literal.h)
//   --input linux_=x.npy        the input that C calls so, of models that are code
//
// A file whose name has a '=' is a file when it is there and no input has the
// name before the '='.
#ifndef PETREL_EXTENSION_CLI_INPUT_WORDS_H_
#define PETREL_EXTENSION_CLI_INPUT_WORDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace petrel::extension {

// The file or the array for each of the inputs called `names`, "" where none is
// given. A name is "" when the program does not say it. Code also knows inputs by
// `c_names`, one for each; no such name is another input's. InvalidArgument for a
// name that there is not, one that is given twice, and too many inputs.
absl::StatusOr<std::vector<std::string>> assign_inputs(
    const std::vector<std::string>& words, const std::vector<std::string>& names,
    const std::string& method, const std::vector<std::string>& c_names = {});

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_INPUT_WORDS_H_
