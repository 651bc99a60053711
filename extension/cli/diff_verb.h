// SPDX-License-Identifier: Apache-2.0
//
// `petrel diff`: compares what two programs compute. Unlike other verbs it stores what
// `diff` does: 0 nothing differs, 1 something does, 2 they cannot be compared.
#ifndef PETREL_EXTENSION_CLI_DIFF_VERB_H_
#define PETREL_EXTENSION_CLI_DIFF_VERB_H_

#include <CLI/CLI.hpp>

namespace petrel::extension {

void add_diff_verb(CLI::App& app, int* exit_code);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_DIFF_VERB_H_
