// SPDX-License-Identifier: Apache-2.0
//
// Finds the layers that must stay float for a model to keep to a budget
// (KeepBudget).
//
//   1  measure what the outputs gain when one layer stays float, layer by layer
//   2  keep those float that gain most: as few as meet the budget
//   3  give back each of them that the budget does not need
//
// All is measured on programs that are compiled and run, with the backends of
// the export where this process has them.
#ifndef PETREL_EXTENSION_QUANTIZE_KEEP_FLOAT_SEARCH_H_
#define PETREL_EXTENSION_QUANTIZE_KEEP_FLOAT_SEARCH_H_

#include <optional>

#include "absl/status/statusor.h"
#include "exir/driver/observe.h"
#include "exir/quantize/record.h"
#include "extension/quantize/calibrate.h"

namespace petrel::extension {

struct KeptFloat {
  exir::QuantizationRecord record;
  std::optional<LabelsTold> told;
};

// `observed` with the choices of `options` and what was seen of it; what is
// tried is put into its choices. The record says why each layer stays float.
// InvalidArgument telling what was measured when nothing meets the budget but a
// model of floats.
absl::StatusOr<KeptFloat> search_keep_float(const CalibrateOptions& options,
                                            exir::ObservedProgram* observed,
                                            const exir::SeenRanges& ranges,
                                            const exir::SeenHistograms& histograms);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_KEEP_FLOAT_SEARCH_H_
