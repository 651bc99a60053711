// SPDX-License-Identifier: Apache-2.0
//
// The numbers of an archive: one member of a tagged union.
//
//   {"as_int": 3}   {"as_float": 0.5}   {"as_bool": true}
#ifndef PETREL_EXIR_IMPORT_SCALAR_LITERAL_H_
#define PETREL_EXIR_IMPORT_SCALAR_LITERAL_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "exir/import/json.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// nullopt when `tag` is that of no number.
absl::StatusOr<std::optional<Argument>> read_scalar(const std::string& tag, const Json& payload);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_SCALAR_LITERAL_H_
