// SPDX-License-Identifier: Apache-2.0
//
// `petrel project tune`: takes what `gen-c` takes, and writes a record for its --tuning.
#ifndef PETREL_EXTENSION_CLI_PROJECT_TUNE_H_
#define PETREL_EXTENSION_CLI_PROJECT_TUNE_H_

#include <CLI/CLI.hpp>

namespace petrel::extension {

void add_project_tune(CLI::App& project_verb, int* exit_code);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_PROJECT_TUNE_H_
