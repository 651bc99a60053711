// SPDX-License-Identifier: Apache-2.0
//
// What quantising cost: how far the outputs of the quantised program are from those of
// the floats, as a ratio of signal to noise over samples.
//
//   decibels = 10 log10(sum float^2 / sum (float - quantised)^2)
#ifndef PETREL_EXTENSION_QUANTIZE_COMPARE_OUTPUTS_H_
#define PETREL_EXTENSION_QUANTIZE_COMPARE_OUTPUTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/quantize/calibrate.h"
#include "extension/quantize/calibration_data.h"

namespace petrel::extension {

struct OutputNoise {
  size_t output = 0;
  double decibels = 0;  // infinite where nothing differs
  double largest = 0;   // difference
  size_t samples = 0;   // that were compared
};

// A program of the same model, and its data.
struct QuantisedFiles {
  std::string name;     // for messages: where the program will be
  std::string program;  // where it is now
  std::vector<std::string> data;
};

// By method.
using NoiseByMethod = std::map<std::string, std::vector<OutputNoise>>;

// Those that are compared, by method; all of methods that are not named.
using ComparedSamples = std::map<std::string, WantsSample>;

// As many as tell the noise, spread evenly, where there are more. All of models with state, where
// a sample depends on those before.
ComparedSamples samples_to_compare(const Calibration& calibration);

// Of outputs of f32; `floats` are the bytes of a program.
absl::StatusOr<NoiseByMethod> compare_outputs(const CalibrateOptions& options,
                                              const std::string& floats,
                                              const QuantisedFiles& quantised,
                                              const ComparedSamples& compared);

// Of two programs in memory.
absl::StatusOr<NoiseByMethod> compare_outputs(const CalibrateOptions& options,
                                              const std::string& floats,
                                              const std::string& quantised);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_COMPARE_OUTPUTS_H_
