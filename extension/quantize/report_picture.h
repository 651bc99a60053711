// SPDX-License-Identifier: Apache-2.0
//
// A report as a picture: one row for each layer, in the order of the model, with a bar as
// long as its signal to noise; layers of integers and of floats have two colours.
#ifndef PETREL_EXTENSION_QUANTIZE_REPORT_PICTURE_H_
#define PETREL_EXTENSION_QUANTIZE_REPORT_PICTURE_H_

#include <string>

#include "extension/quantize/quantization_report.h"

namespace petrel::extension {

// A whole SVG document.
std::string format_svg(const QuantizationReport& report);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_QUANTIZE_REPORT_PICTURE_H_
