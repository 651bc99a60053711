// SPDX-License-Identifier: Apache-2.0
//
// What `petrel --version` prints: which build this is, and which files it reads
// and writes.
#ifndef PETREL_EXTENSION_CLI_VERSION_H_
#define PETREL_EXTENSION_CLI_VERSION_H_

#include <string>

namespace petrel::extension {

std::string version_text();

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_VERSION_H_
