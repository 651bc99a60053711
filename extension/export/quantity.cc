// SPDX-License-Identifier: Apache-2.0
#include "extension/export/quantity.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace petrel::extension {

std::string format_bytes(uint64_t bytes) {
  if (bytes < 10000) return absl::StrCat(bytes, " B");
  if (bytes < 10000000) return absl::StrFormat("%.1f kB", static_cast<double>(bytes) / 1e3);
  return absl::StrFormat("%.1f MB", static_cast<double>(bytes) / 1e6);
}

std::string format_seconds(double seconds) {
  if (seconds < 1e-3) return absl::StrFormat("%.1f us", seconds * 1e6);
  if (seconds < 1.0) return absl::StrFormat("%.2f ms", seconds * 1e3);
  return absl::StrFormat("%.2f s", seconds);
}

std::string format_decibels(double decibels) {
  if (std::isinf(decibels) && decibels > 0) return "exact";
  return absl::StrFormat("%.1f", decibels);
}

}  // namespace petrel::extension
