// SPDX-License-Identifier: Apache-2.0
//
// The rows of the tables of options as options of a verb:
//
//   OptionWords given;
//   add_export_options(verb, &given);   // "--weight-keys name" -> given["weight-keys"]
//
// A word that is not a value of its option is wrong usage.
#ifndef PETREL_EXTENSION_CLI_EXPORT_OPTION_FLAGS_H_
#define PETREL_EXTENSION_CLI_EXPORT_OPTION_FLAGS_H_

#include "CLI/CLI.hpp"
#include "extension/export/export_option.h"

namespace petrel::extension {

// `given` must live until the command line is parsed.
void add_export_options(CLI::App& verb, OptionWords* given);

// One of them, which must exist.
void add_export_option(CLI::App& verb, const char* name, OptionWords* given);

// Of generated C.
void add_generate_options(CLI::App& verb, OptionWords* given);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_EXPORT_OPTION_FLAGS_H_
