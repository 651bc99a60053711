// SPDX-License-Identifier: Apache-2.0
//
// Refuses options that a backend does not have, by name: a misspelt option must
// not be one that has no effect.
//
//   constexpr const char* kKnown[] = {"num_threads"};
//   PETREL_RETURN_IF_ERROR(
//       refuse_unknown_options("MyBackend", context.runtime_specs(), kKnown));
//   PETREL_RETURN_IF_ERROR(                        // of a backend without any
//       refuse_unknown_options("MyBackend", context.runtime_specs(), {}));

#ifndef PETREL_RUNTIME_BACKEND_KNOWN_OPTIONS_H_
#define PETREL_RUNTIME_BACKEND_KNOWN_OPTIONS_H_

#include "runtime/backend/options.h"
#include "runtime/core/error.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

// NotSupported, and a message with the first key that is not among `known`.
Error refuse_unknown_options(const char* backend, Span<const BackendOption> options,
                             Span<const char* const> known);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_BACKEND_KNOWN_OPTIONS_H_
