// SPDX-License-Identifier: Apache-2.0
//
// Two programs for kernels that show the same values: a model in floats, and what a record
// makes of it, so that whoever runs both learns what each layer lost.
//
//   PETREL_ASSIGN_OR_RETURN(const Trial trial, compile_trial(options, record));
//   output i of method m, in trial.floats and trial.quantised:  trial.methods[m].layers[i]
//
// Behind the layers come the outputs of the method that are f32.
#ifndef PETREL_EXIR_DRIVER_TRIAL_H_
#define PETREL_EXIR_DRIVER_TRIAL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/driver/export.h"
#include "exir/ir/program.h"
#include "exir/quantize/record.h"

namespace petrel::exir {

// A layer of exir/quantize/layers.h without its graph.
struct TrialLayer {
  std::string name;
  std::string product;  // the name of its first node
  std::string operators;
  std::string location;  // in the user's model
  bool is_quantised = false;
  std::string float_reason;
  std::string channels;  // of a product: what they were divided by, or why by nothing
  int64_t float_bytes = 0;
  int64_t stored_bytes = 0;
};

struct TrialMethod {
  std::vector<TrialLayer> layers;
  std::vector<size_t> outputs;  // places among the method's own, of those behind the layers
};

struct Trial {
  std::string floats;  // bytes of a `.pte`
  std::string quantised;
  std::map<std::string, TrialMethod> methods;
};

// Of the options those count that say what is compiled.
absl::StatusOr<Trial> compile_trial(const ExportOptions& options, const QuantizationRecord& record);

// A program for kernels that shows the shifts of products (exir/quantize/shift_graph.h).
struct ShiftProgram {
  std::string bytes;                                         // a `.pte`
  std::map<std::string, std::vector<std::string>> products;  // by method, one for each output
};

// `floats` as below.
absl::StatusOr<ShiftProgram> compile_shifts(const ExportOptions& options, const Program& floats,
                                            const QuantizationRecord& record);

// What an export of `options` with the record would write, everything inside. `floats` is the
// program before anything was lowered, as compile_observed() has it.
absl::StatusOr<std::string> compile_quantised(const ExportOptions& options, const Program& floats,
                                              const QuantizationRecord& record);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_TRIAL_H_
