// SPDX-License-Identifier: Apache-2.0
//
// Chooses scales for a float model by running it on samples in this process, with the
// kernels of this binary: no Python, no torch.
//
//   CalibrateOptions options;
//   options.model.methods["forward"] = "model.pt2";
//   options.samples["forward"] = {"inputs.npz"};
//   PETREL_ASSIGN_OR_RETURN(const Calibration calibration, calibrate(options));
//   write(format_record(calibration.record));
#ifndef PETREL_EXTENSION_QUANTIZE_CALIBRATE_H_
#define PETREL_EXTENSION_QUANTIZE_CALIBRATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/driver/export.h"
#include "exir/quantize/range_choice.h"
#include "exir/quantize/record.h"
#include "runtime/executor/registry.h"

namespace petrel::extension {

// What quantising may cost; layers stay float until it costs no more.
struct KeepBudget {
  std::optional<double> min_sqnr;  // dB of every output
  // A .npy file of whole numbers, one for each sample of a method: the place of the largest
  // element of its first output. "" for none.
  std::string labels;
  std::string labels_method;
  double max_drop = 0.5;  // of accuracy, in percent of the samples

  bool is_empty() const { return !min_sqnr && labels.empty(); }
};

// InvalidArgument naming a number that no measurement can be compared with.
absl::Status check_budget(const KeepBudget& budget);

struct CalibrateOptions {
  // Methods, backends and what else decides the graph; where outputs go is not used.
  exir::ExportOptions model;
  exir::QuantScheme scheme = exir::QuantScheme::kStaticInt8;
  int64_t group = exir::kDefaultGroup;  // of weights of 4 bits
  // Files of samples by method (calibration_data.h). Under the static scheme each method
  // that has something to quantise must have one.
  std::map<std::string, std::vector<std::string>> samples;
  // Under the static scheme. Those that need histograms run the samples twice, kByOutputs some
  // of them, and then each of its trials.
  exir::RangeChoice ranges;
  // Round weights of 4 bits so that layers err least on the samples, not to the nearest.
  bool round_with_samples = false;
  // Under the static scheme: bring channels between two products together, and take back by
  // biases what integers shift.
  bool equalise = false;
  bool correct_bias = false;
  // Methods in the order in which they run: what one leaves in shared state is there for
  // the next. Those that are not named follow by name.
  std::vector<std::string> order;
  // Globs over names of nodes that stay float.
  std::vector<std::string> keep_float;
  KeepBudget budget;
  // Null: default_registry() of the binary.
  const runtime::Registry* registry = nullptr;
};

// How products of recurrent cells compute on backends (cell_trials.h).
enum class CellForm { kNone, kLevels, kRows, kAllRows, kFloat };

// Samples whose label the first output tells.
struct LabelsTold {
  size_t labels = 0;
  size_t in_floats = 0;
  size_t quantised = 0;
};

struct Calibration {
  exir::QuantizationRecord record;
  std::map<std::string, size_t> samples;  // that scales come from, by method
  bool has_state = false;                 // that methods keep between samples
  std::string floats;                     // the float model on kernels, a `.pte`
  exir::RangeChoice ranges;               // those of the record
  CellForm cells = CellForm::kNone;
  std::optional<LabelsTold> told;  // where the budget has labels
  // Products whose channels are far apart, by method; none where they were equalised.
  std::map<std::string, std::vector<std::string>> uneven;
};

// The methods that have samples, in the order in which they run.
std::vector<std::string> methods_in_order(const CalibrateOptions& options);

// Errors name the file and sample, or the method and value.
absl::StatusOr<Calibration> calibrate(const CalibrateOptions& options);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_CALIBRATE_H_
