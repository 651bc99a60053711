// SPDX-License-Identifier: Apache-2.0
//
// What is compiled to run in this process, as near to what the options ask for as it has backends.
//
//   exir::compile_quantised(options_to_run(options), ...)
#ifndef PETREL_EXTENSION_QUANTIZE_RUNNABLE_OPTIONS_H_
#define PETREL_EXTENSION_QUANTIZE_RUNNABLE_OPTIONS_H_

#include "exir/driver/export.h"
#include "extension/quantize/calibrate.h"

namespace petrel::extension {

// On kernels where the process lacks a backend of any method.
exir::ExportOptions options_to_run(const CalibrateOptions& options);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_RUNNABLE_OPTIONS_H_
