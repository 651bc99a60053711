// SPDX-License-Identifier: Apache-2.0
//
// What the JSON of an archive takes once it is read, known before: RapidJSON keeps a list of
// ones in twenty times its text, and what reads it as much again. Archives that torch writes
// take about twice their text.
//
//   PETREL_RETURN_IF_ERROR(check_json_memory(text, max_depth, "models/model.json"));
#ifndef PETREL_EXIR_IMPORT_JSON_MEMORY_H_
#define PETREL_EXIR_IMPORT_JSON_MEMORY_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace petrel::exir {

// Also refuses text that is not JSON, is not UTF-8 or nests deeper than `max_depth`. Takes
// linear time and hardly any memory; nothing in the text makes it recurse.
absl::Status check_json_memory(std::string_view text, size_t max_depth, const std::string& name);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_JSON_MEMORY_H_
