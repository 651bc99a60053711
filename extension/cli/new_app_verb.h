// SPDX-License-Identifier: Apache-2.0
//
// `petrel new-app NAME`, a verb as in extension/cli/verb.h.
#ifndef PETREL_EXTENSION_CLI_NEW_APP_VERB_H_
#define PETREL_EXTENSION_CLI_NEW_APP_VERB_H_

#include <CLI/CLI.hpp>

namespace petrel::extension {

void add_new_app_verb(CLI::App& app, int* exit_code);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_NEW_APP_VERB_H_
