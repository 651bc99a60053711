// SPDX-License-Identifier: Apache-2.0
//
// Compiled modules in the verbs that run programs: a flag --compiled, and the inputs of a
// method from what the command was given.
#ifndef PETREL_EXTENSION_CLI_COMPILED_IO_H_
#define PETREL_EXTENSION_CLI_COMPILED_IO_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/compiled/compiled_module.h"
#include "extension/npy/tensor_array.h"
#include "runtime/core/evalue.h"

namespace petrel::extension {

// Adds the flag to a verb that has all its other options, and lets it stand only beside those
// in `allowed`: the others are of programs.
void add_compiled_flag(CLI::App& verb, const std::vector<std::string>& allowed, bool* flag);

// The inputs of a method; owns what it was set to.
class CompiledInputs {
 public:
  // As MethodInputs::make; `max_bytes` is for inputs that are not given. The method has them
  // until others are set.
  static absl::StatusOr<CompiledInputs> set(CompiledMethod& method,
                                            const std::vector<std::string>& words,
                                            uint64_t max_bytes);

 private:
  std::vector<std::shared_ptr<ArrayTensor>> tensors_;
};

// Where the outputs are now.
std::vector<runtime::EValue> outputs_of(CompiledMethod& method);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_COMPILED_IO_H_
