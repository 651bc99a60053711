// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/known_options.h"

#include <string_view>

#include "runtime/core/log.h"

namespace petrel::runtime {

Error refuse_unknown_options(const char* backend, Span<const BackendOption> options,
                             Span<const char* const> known) {
  for (const BackendOption& option : options) {
    bool is_known = false;
    for (const char* key : known) is_known = is_known || std::string_view(key) == option.key;
    if (is_known) continue;
    PETREL_LOG(Error, "backend %s has no option \"%s\"", backend, option.key);
    return Error::NotSupported;
  }
  return Error::Ok;
}

}  // namespace petrel::runtime
