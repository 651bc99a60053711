// SPDX-License-Identifier: Apache-2.0
//
// One method of a loaded program, run on samples: arrays for the inputs that are tensors,
// what the program was made with for the others.
//
//   PETREL_ASSIGN_OR_RETURN(MethodRunner runner, MethodRunner::open(*module, "forward"));
//   PETREL_ASSIGN_OR_RETURN(const auto outputs, runner.run(file.sample(0)));
//
// The module outlives it; outputs hold until the next run.
#ifndef PETREL_EXTENSION_QUANTIZE_METHOD_RUNNER_H_
#define PETREL_EXTENSION_QUANTIZE_METHOD_RUNNER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/levels/levels.h"
#include "extension/module/module.h"
#include "extension/npy/tensor_array.h"
#include "extension/quantize/calibration_data.h"

namespace petrel::extension {

class MethodRunner {
 public:
  static absl::StatusOr<MethodRunner> open(Module& module, const std::string& method);

  // Inputs that are tensors, and their places among all inputs.
  const std::vector<CalibrationInput>& inputs() const { return inputs_; }
  const std::vector<size_t>& places() const { return places_; }

  // Precondition: a sample of inputs(). Outputs that are integers which stand for numbers are
  // given as these, until the next run.
  absl::StatusOr<std::vector<runtime::EValue>> run(const std::vector<NpyArray>& sample);

 private:
  MethodRunner(Module& module, std::string method) : module_(&module), method_(std::move(method)) {}
  absl::Status failed(const char* what, runtime::Error error) const;

  Module* module_;
  std::string method_;
  size_t num_inputs_ = 0;
  std::vector<CalibrationInput> inputs_;
  std::vector<size_t> places_;
  std::vector<std::vector<uint8_t>> orders_;  // of dimensions, by tensor
  // What integers stand for at inputs that are tensors, and at outputs; inputs() are floats
  // there.
  std::vector<std::optional<Levels>> input_levels_;
  std::vector<std::optional<Levels>> output_levels_;
  std::vector<std::shared_ptr<ArrayTensor>> numbers_;  // of outputs
};

// A program in memory with the kernels and backends of `registry`, null for those of the
// binary. The bytes are copied.
class LoadedBytes {
 public:
  static absl::StatusOr<LoadedBytes> load(const std::string& bytes,
                                          const runtime::Registry* registry);
  Module& module() const { return *module_; }

 private:
  std::vector<uint64_t> memory_;  // aligned as programs must be
  std::unique_ptr<Module> module_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_METHOD_RUNNER_H_
