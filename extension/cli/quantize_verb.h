// SPDX-License-Identifier: Apache-2.0
//
// `petrel quantize`: compiles float archives into a program of integers, and says what that
// cost.
#ifndef PETREL_EXTENSION_CLI_QUANTIZE_VERB_H_
#define PETREL_EXTENSION_CLI_QUANTIZE_VERB_H_

#include <CLI/CLI.hpp>

namespace petrel::extension {

void add_quantize_verb(CLI::App& app, int* exit_code);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_QUANTIZE_VERB_H_
