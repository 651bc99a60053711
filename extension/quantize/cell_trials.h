// SPDX-License-Identifier: Apache-2.0
//
// How the products of recurrent cells (exir/quantize/recurrent_products.h) compute on backends.
// State in 8 bits is coarse, and what is rounded comes back step by step. Tried are:
//
//   kLevels    integers of one scale, as all products
//   kRows      integers; rows of their inputs get scales at run time, gates and state are floats
//   kAllRows   so do all products of matrices
//   kFloat     floats, as the ExecuTorch wheel leaves cells
//
// Levels are taken where outputs err hardly more with them than with kFloat, else that with rows
// with which they err less, else kFloat.
#ifndef PETREL_EXTENSION_QUANTIZE_CELL_TRIALS_H_
#define PETREL_EXTENSION_QUANTIZE_CELL_TRIALS_H_

#include "absl/status/statusor.h"
#include "exir/driver/observe.h"
#include "extension/quantize/trials.h"

namespace petrel::extension {

// Puts the choice into those of trials->observed(); kNone where there are no cells. Ranges are
// not cut. Errors name the method and sample.
absl::StatusOr<CellForm> try_cells(const exir::SeenRanges& ranges, Trials* trials);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_CELL_TRIALS_H_
