// SPDX-License-Identifier: Apache-2.0
//
// Roundings of weights of 4 bits that err least on samples (exir/quantize/round_with_inputs.h):
// runs the observed program, sums up what each layer multiplies, and rounds its weight.
//
//   PETREL_ASSIGN_OR_RETURN(observed.roundings, round_weights(options, observed, &samples));
//
// The sums of large layers take much memory, as the square of the elements in a row; where
// those of all layers take more than kMostGramBytes, samples are run several times.
#ifndef PETREL_EXTENSION_QUANTIZE_ROUND_WEIGHTS_H_
#define PETREL_EXTENSION_QUANTIZE_ROUND_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "exir/driver/observe.h"
#include "extension/quantize/calibrate.h"

namespace petrel::extension {

inline constexpr uint64_t kMostGramBytes = uint64_t{1} << 30;

// `samples` gets their number by method. Precondition: `observed` sees rows.
absl::StatusOr<std::map<std::string, exir::ChosenRounding>> round_weights(
    const CalibrateOptions& options, const exir::ObservedProgram& observed,
    std::map<std::string, size_t>* samples);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_ROUND_WEIGHTS_H_
