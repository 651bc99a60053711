// SPDX-License-Identifier: Apache-2.0
//
// Models that are code in the verbs that run programs, in a module or on a device: the options
// --compiled and --device, and the inputs of a method from what the command was given.
#ifndef PETREL_EXTENSION_CLI_COMPILED_IO_H_
#define PETREL_EXTENSION_CLI_COMPILED_IO_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/compiled/compiled_module.h"
#include "extension/device/device_method.h"
#include "extension/npy/tensor_array.h"
#include "runtime/core/evalue.h"
#include "runtime/core/span.h"

namespace petrel::extension {

// Adds the flag to a verb that has all its other options, and lets it stand only beside those
// in `allowed`: the others are of programs.
void add_compiled_flag(CLI::App& verb, const std::vector<std::string>& allowed, bool* flag);

// Where a model runs that is on a device.
struct DeviceChoice {
  std::string spec;  // "": none
  double patience = 60;

  SessionOptions session(uint64_t max_input_bytes = kMostDeviceTensorBytes) const;
};

// As add_compiled_flag(); the program is then not needed.
void add_device_option(CLI::App& verb, const std::vector<std::string>& allowed,
                       DeviceChoice* device);

// What a method takes.
struct CodeInput {
  std::string name;
  std::string c_name;
  runtime::ScalarType type;
  runtime::Span<const int32_t> sizes;
  runtime::Span<const uint8_t> dim_order;
  size_t nbytes = 0;
  bool varies = false;
};

// The inputs of a method; owns what it was set to.
class CompiledInputs {
 public:
  // As MethodInputs::make; `max_bytes` is for inputs that are not given. The method has them
  // until others are set.
  static absl::StatusOr<CompiledInputs> set(CompiledMethod& method,
                                            const std::vector<std::string>& words,
                                            uint64_t max_bytes);
  static absl::StatusOr<CompiledInputs> set(DeviceMethod& method,
                                            const std::vector<std::string>& words,
                                            uint64_t max_bytes);

 private:
  using SetInput = std::function<absl::Status(size_t index, const runtime::Tensor& tensor)>;
  static absl::StatusOr<CompiledInputs> set(const std::string& method,
                                            const std::vector<CodeInput>& wanted,
                                            const std::vector<std::string>& words,
                                            uint64_t max_bytes, const SetInput& set_input);

  std::vector<std::shared_ptr<ArrayTensor>> tensors_;
};

// Where the outputs are now.
std::vector<runtime::EValue> outputs_of(CompiledMethod& method);
std::vector<runtime::EValue> outputs_of(DeviceMethod& method);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_COMPILED_IO_H_
