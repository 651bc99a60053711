// SPDX-License-Identifier: Apache-2.0
//
// Rows of text as columns, each as wide as its widest entry and two spaces apart:
//
//   layer  computes  dB
//   conv1  int8      41.2
//
// Nothing stands behind the last entry of a line, so what follows can compare texts.
#ifndef PETREL_EXTENSION_EXPORT_COLUMNS_H_
#define PETREL_EXTENSION_EXPORT_COLUMNS_H_

#include <string>
#include <vector>

namespace petrel::extension {

// `indent` goes in front of each line. Precondition: rows have equally many entries.
std::string columns(const std::vector<std::vector<std::string>>& rows,
                    const std::string& indent = "");

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_COLUMNS_H_
