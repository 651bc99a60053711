// SPDX-License-Identifier: Apache-2.0
#include "exir/import/scalar_literal.h"

#include "exir/status_macros.h"

namespace petrel::exir {

absl::StatusOr<std::optional<Argument>> read_scalar(const std::string& tag, const Json& payload) {
  if (tag == "as_int") {
    PETREL_ASSIGN_OR_RETURN(int64_t value, payload.integer());
    return Argument(value);
  }
  if (tag == "as_float") {
    PETREL_ASSIGN_OR_RETURN(double value, payload.number());
    return Argument(value);
  }
  if (tag == "as_bool") {
    PETREL_ASSIGN_OR_RETURN(bool value, payload.boolean());
    return Argument(value);
  }
  return std::optional<Argument>();
}

}  // namespace petrel::exir
