// SPDX-License-Identifier: Apache-2.0
//
// The compiler's half of the quickstart.
#ifndef PETREL_EXAMPLES_QUICKSTART_EXPORT_DIGITS_H_
#define PETREL_EXAMPLES_QUICKSTART_EXPORT_DIGITS_H_

#include <string>

#include "absl/status/status.h"

namespace petrel::examples {

// Compiles the archive at `model` into FOLDER/digits.pte and FOLDER/digits.ptd,
// draws the memory plan as FOLDER/plan.svg, and, for comparison, the one of the
// same model without a backend as FOLDER/plan_kernels.svg. Prints what became
// of it.
absl::Status export_digits(const std::string& model, const std::string& folder);

}  // namespace petrel::examples

#endif  // PETREL_EXAMPLES_QUICKSTART_EXPORT_DIGITS_H_
