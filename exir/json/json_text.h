// SPDX-License-Identifier: Apache-2.0
//
// JSON as text, both ways, for files that strangers may have written: planning
// problems, manifests of compiled modules. No text makes it abort or takes more than
// linear time: nesting and the keys of an object are bounded, and so is the memory of what is
// read, by four times the text and 64 MiB. Bytes that are not UTF-8 are refused when read and
// replaced when written.
//
//   PETREL_ASSIGN_OR_RETURN(nlohmann::ordered_json json, parse_json("[1, 2]"));
//   std::string text = json_text(json);  // "[1,2]"

#ifndef PETREL_EXIR_JSON_JSON_TEXT_H_
#define PETREL_EXIR_JSON_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace petrel::exir {

// At most 1000 keys for each object and 100 arrays and objects inside each other.
// InvalidArgument names the line: "line 3: is not JSON at byte 5".
absl::StatusOr<nlohmann::ordered_json> parse_json(absl::string_view text);

// The same for files that have a key for each part of a model: any number of keys, found in
// logarithmic time, each once in its object.
absl::StatusOr<nlohmann::json> parse_unique_json(absl::string_view text);

// On one line.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_JSON_JSON_TEXT_H_
