// SPDX-License-Identifier: Apache-2.0
//
// `petrel project`: firmware around a generated model, from its source to its outputs.
#ifndef PETREL_EXTENSION_CLI_PROJECT_VERB_H_
#define PETREL_EXTENSION_CLI_PROJECT_VERB_H_

#include <CLI/CLI.hpp>

namespace petrel::extension {

void add_project_verb(CLI::App& app, int* exit_code);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_PROJECT_VERB_H_
