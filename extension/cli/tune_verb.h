// SPDX-License-Identifier: Apache-2.0
//
// `petrel tune`: measures in which tile XNNPACK computes products of floats fastest on this
// processor, and writes the table that `--tiles` reads.
#ifndef PETREL_EXTENSION_CLI_TUNE_VERB_H_
#define PETREL_EXTENSION_CLI_TUNE_VERB_H_

#include <CLI/CLI.hpp>

namespace petrel::extension {

void add_tune_verb(CLI::App& app, int* exit_code);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_TUNE_VERB_H_
