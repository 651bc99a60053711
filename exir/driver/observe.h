// SPDX-License-Identifier: Apache-2.0
//
// A program to calibrate with: the float model on kernels and backends, whose outputs are the
// values that need a scale when it is quantised.
//
//   PETREL_ASSIGN_OR_RETURN(const ObservedProgram observed, compile_observed(options));
//   ... run observed.bytes on samples; ranges["forward"]["relu"].include(...) ...
//   PETREL_ASSIGN_OR_RETURN(record, observed.choose(ranges, {}));
//
// Nodes and names are those that an export with the same options quantises.
#ifndef PETREL_EXIR_DRIVER_OBSERVE_H_
#define PETREL_EXIR_DRIVER_OBSERVE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/backend/backend_selection.h"
#include "exir/driver/export.h"
#include "exir/ir/program.h"
#include "exir/quantize/quantize_graph.h"
#include "exir/quantize/range_choice.h"
#include "exir/quantize/record.h"

namespace petrel::exir {

// Of one method: names of values.
struct ObservedMethod {
  std::vector<std::string> inputs;   // all of the method's, tensors or not
  std::set<std::string> seen_there;  // inputs that need a scale
  std::vector<std::string> outputs;  // of the observed program
  // Of these, values [N, C, H, W] that the program shows as [N, H, W, C], which is how XNNPACK has
  // images.
  std::set<std::string> channels_last;
  // Values of these that samples may leave without a scale: only integers alone need one.
  std::set<std::string> optional;

  // False of methods that have nothing to quantise, and of schemes that need no samples.
  bool needs_samples() const { return !outputs.empty(); }
};

// What was seen, by method.
using SeenRanges = std::map<std::string, Ranges>;
using SeenHistograms = std::map<std::string, Histograms>;

struct ObservedProgram {
  std::string bytes;        // a `.pte`
  std::string float_bytes;  // the same with the outputs of the model
  std::map<std::string, ObservedMethod> methods;
  Program floats;                                     // before anything was lowered
  Program expanded;                                   // the same, whose values are observed
  std::map<std::string, MethodQuantization> choices;  // scheme and nodes kept float, by method
  RangeChoice range_choice;
  // Chosen with what was seen; a record takes those of its layers.
  std::map<std::string, ChosenRounding> roundings;

  // For histograms of a second look: what values share (shared_ranges). InvalidArgument
  // naming the method and value that nothing was seen of.
  absl::StatusOr<SeenRanges> shared(const SeenRanges& ranges) const;
  // Values without histograms show all that was seen, others what `range_choice` says.
  absl::StatusOr<QuantizationRecord> choose(const SeenRanges& ranges,
                                            const SeenHistograms& histograms) const;
};

// What is chosen before anything was seen.
struct ObserveOptions {
  QuantScheme scheme = QuantScheme::kStaticInt8;
  int64_t group = kDefaultGroup;
  // Under kDynamicInt4: show what layers multiply, for roundings.
  bool see_rows = false;
  RangeChoice ranges;
  // Backends of this process that run both programs; they show the same values.
  BackendSelection runs_on;
  // Globs over names of nodes; each must match one that would be quantised.
  std::vector<std::string> keep_float;
};

absl::StatusOr<ObservedProgram> compile_observed(const ExportOptions& options,
                                                 const ObserveOptions& wanted);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_OBSERVE_H_
