// SPDX-License-Identifier: Apache-2.0
//
// What quantising cost: how far the outputs of the quantised program are from those of
// the floats, as a ratio of signal to noise over all samples.
//
//   decibels = 10 log10(sum float^2 / sum (float - quantised)^2)
#ifndef PETREL_EXTENSION_QUANTIZE_COMPARE_OUTPUTS_H_
#define PETREL_EXTENSION_QUANTIZE_COMPARE_OUTPUTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/quantize/calibrate.h"

namespace petrel::extension {

struct OutputNoise {
  size_t output = 0;
  double decibels = 0;  // infinite where nothing differs
  double largest = 0;   // difference
};

// A program of the same model, and its data.
struct QuantisedFiles {
  std::string program;
  std::vector<std::string> data;
};

// Of outputs of f32, by method; `floats` are the bytes of a program.
absl::StatusOr<std::map<std::string, std::vector<OutputNoise>>> compare_outputs(
    const CalibrateOptions& options, const std::string& floats, const QuantisedFiles& quantised);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_COMPARE_OUTPUTS_H_
