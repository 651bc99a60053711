// SPDX-License-Identifier: Apache-2.0
//
// The compiler halves of the backends that this command was built with.
#ifndef PETREL_EXTENSION_CLI_BACKEND_CHOICE_H_
#define PETREL_EXTENSION_CLI_BACKEND_CHOICE_H_

#include <string>
#include <vector>

#include "exir/backend/backend.h"

namespace petrel::extension {

// Values of `--backend`.
std::vector<std::string> backend_names();

// Null for "none". Precondition: `name` is one of backend_names().
const exir::Backend* find_backend(const std::string& name);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_BACKEND_CHOICE_H_
