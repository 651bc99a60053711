// SPDX-License-Identifier: Apache-2.0
//
// What samples tell of the channels of products: factors that bring them together
// (exir/quantize/equalise_graph.h), and shifts that biases take back
// (exir/quantize/shift_graph.h).
//
//   watch_pairs(observed, &observers);
//   ... the observers see the samples ...
//   equalise_pairs(&observed, &observers);
//   PETREL_ASSIGN_OR_RETURN(record, observed.choose(...));
//   PETREL_RETURN_IF_ERROR(measure_shifts(options, observed.floats, &record));
#ifndef PETREL_EXTENSION_QUANTIZE_CHANNEL_CHOICES_H_
#define PETREL_EXTENSION_QUANTIZE_CHANNEL_CHOICES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/driver/observe.h"
#include "exir/quantize/record.h"
#include "extension/quantize/calibrate.h"
#include "extension/quantize/observer.h"

namespace petrel::extension {

// Pairs of products that integers compute.
void watch_pairs(const exir::ObservedProgram& observed, Observers* observers);

// Puts factors into the choices where they gain, and has the observers divide by them.
void equalise_pairs(exir::ObservedProgram* observed, Observers* observers);

// Names of products whose channels are so far apart that factors would gain, by method.
std::map<std::string, std::vector<std::string>> uneven_products(
    const exir::ObservedProgram& observed, const Observers& observers);

// Runs the samples with kernels that show each product in floats and in integers, and puts
// the shifts into the record. Methods without samples have none.
absl::Status measure_shifts(const CalibrateOptions& options, const exir::Program& floats,
                            exir::QuantizationRecord* record);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_CHANNEL_CHOICES_H_
