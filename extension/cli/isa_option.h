// SPDX-License-Identifier: Apache-2.0
//
// `--isa LEVEL` of the verbs that compute: up to which instruction set. Takes
// effect while the command line is parsed, before anything computes.
#ifndef PETREL_EXTENSION_CLI_ISA_OPTION_H_
#define PETREL_EXTENSION_CLI_ISA_OPTION_H_

#include <CLI/CLI.hpp>

namespace petrel::extension {

// `--isa list` prints the levels that this machine has and ends the command.
void add_isa_option(CLI::App& verb);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_ISA_OPTION_H_
