// SPDX-License-Identifier: Apache-2.0
//
// The compiler halves of the backends that a petrel command was built with, by
// the names that its options take. petrel_cli.bzl writes the definition:
//
//   petrel_cli(name = "petrel", backends = ["//backends/xnnpack", "//mine"])
#ifndef PETREL_EXTENSION_CLI_LINKED_BACKENDS_H_
#define PETREL_EXTENSION_CLI_LINKED_BACKENDS_H_

#include <vector>

#include "exir/backend/backend.h"

namespace petrel::extension {

struct LinkedBackend {
  const char* name;  // "xnnpack"
  const exir::Backend* (*backend)();
};

// The first is what `petrel export` uses when no backend is named.
const std::vector<LinkedBackend>& linked_backends();

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_LINKED_BACKENDS_H_
