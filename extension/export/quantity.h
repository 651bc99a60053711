// SPDX-License-Identifier: Apache-2.0
//
// Sizes, times and ratios as people read them.
#ifndef PETREL_EXTENSION_EXPORT_QUANTITY_H_
#define PETREL_EXTENSION_EXPORT_QUANTITY_H_

#include <cstdint>
#include <string>

namespace petrel::extension {

// "1.5 MB", "640 B".
std::string format_bytes(uint64_t bytes);
// "12.3 ms", "1.20 s".
std::string format_seconds(double seconds);
// "41.2"; "exact" where nothing differs.
std::string format_decibels(double decibels);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_QUANTITY_H_
