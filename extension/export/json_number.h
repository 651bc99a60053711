// SPDX-License-Identifier: Apache-2.0
//
// A number in JSON, which has none for "nan", "inf" and "-inf": these are texts.
#ifndef PETREL_EXTENSION_EXPORT_JSON_NUMBER_H_
#define PETREL_EXTENSION_EXPORT_JSON_NUMBER_H_

#include <cmath>
#include <nlohmann/json.hpp>

namespace petrel::extension {

inline nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_JSON_NUMBER_H_
