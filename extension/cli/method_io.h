// SPDX-License-Identifier: Apache-2.0
//
// The inputs of a method from what the command was given.
#ifndef PETREL_EXTENSION_CLI_METHOD_IO_H_
#define PETREL_EXTENSION_CLI_METHOD_IO_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/module/module.h"
#include "extension/npy/tensor_array.h"

namespace petrel::extension {

// The inputs of one call; owns what its values refer to.
class MethodInputs {
 public:
  // `words` give inputs by position or name (input_words.h); tensors that get
  // none are ones. Inputs that are not tensors take the value the program was
  // made with. With `in_floats`, floats are given for integers that stand for
  // numbers. InvalidArgument names the input that does not fit.
  static absl::StatusOr<MethodInputs> make(Module& module, const std::string& method,
                                           const std::vector<std::string>& words,
                                           bool in_floats = false);

  const std::vector<runtime::EValue>& values() const { return values_; }

 private:
  std::vector<std::shared_ptr<ArrayTensor>> tensors_;
  std::vector<runtime::EValue> values_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_METHOD_IO_H_
