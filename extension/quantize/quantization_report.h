// SPDX-License-Identifier: Apache-2.0
//
// What quantising did to a model, layer by layer: as a table, as JSON and as a picture.
//
//   layer   operators          computes  dB    largest  range         weights
//   relu    convolution, relu  int8      44.1  0.031    0 to 3.2      2.3 kB to 0.7 kB
//   soft    _softmax           float     40.2  0.004
//
// Noise is that of the layer's result in the quantised model against the float one, both on
// kernels, over all samples: what the layer lost and what those before it did.
#ifndef PETREL_EXTENSION_QUANTIZE_QUANTIZATION_REPORT_H_
#define PETREL_EXTENSION_QUANTIZE_QUANTIZATION_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/driver/trial.h"
#include "exir/quantize/record.h"
#include "extension/quantize/calibrate.h"
#include "extension/quantize/compare_outputs.h"

namespace petrel::extension {

struct LayerReport {
  exir::TrialLayer layer;
  std::string computes;              // "int8", "int8 rows", "int4 rows", "float"
  std::optional<OutputNoise> noise;  // none without samples
  std::optional<exir::QuantizedValue> numbers;
};

struct MethodReport {
  size_t samples = 0;
  std::vector<LayerReport> layers;
  std::vector<OutputNoise> outputs;
};

struct QuantizationReport {
  std::map<std::string, MethodReport> methods;
  uint64_t float_bytes = 0;      // of the model in floats for kernels
  uint64_t quantised_bytes = 0;  // of all files that were written; 0 when none were
};

// Runs the samples that there are. Of the outputs the noise is that on kernels, until whoever
// wrote a program has measured that.
absl::StatusOr<QuantizationReport> measure_quantization(const CalibrateOptions& options,
                                                        const exir::QuantizationRecord& record);

// InvalidArgument listing the endings when `path` has none of them: .txt, .json, .svg.
absl::Status check_report_path(const std::string& path);
// The form that `path` ends with. Precondition: check_report_path(path) is OK.
std::string format_report(const QuantizationReport& report, const std::string& path);

std::string format_text(const QuantizationReport& report);
std::string format_json(const QuantizationReport& report);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_QUANTIZATION_REPORT_H_
