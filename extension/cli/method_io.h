// SPDX-License-Identifier: Apache-2.0
//
// Inputs and outputs of a method as NumPy arrays.
//
// An array has the elements in logical order; a method may want another order
// in memory (channels last), and gets it.
#ifndef PETREL_EXTENSION_CLI_METHOD_IO_H_
#define PETREL_EXTENSION_CLI_METHOD_IO_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/module/module.h"
#include "extension/npy/npy.h"

namespace petrel::extension {

// The inputs of one call; owns what its values refer to.
class MethodInputs {
 public:
  // `words` give inputs by position or name (input_words.h); tensors that get
  // none are ones. Inputs that are not tensors take the value the program was
  // made with. InvalidArgument names the input that does not fit.
  static absl::StatusOr<MethodInputs> make(Module& module, const std::string& method,
                                           const std::vector<std::string>& words);

  const std::vector<runtime::EValue>& values() const { return values_; }

 private:
  struct Holder;
  std::vector<std::shared_ptr<Holder>> holders_;
  std::vector<runtime::EValue> values_;
};

// A copy of `tensor` in logical order.
NpyArray to_npy(const runtime::Tensor& tensor);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_METHOD_IO_H_
