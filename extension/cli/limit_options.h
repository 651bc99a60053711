// SPDX-License-Identifier: Apache-2.0
//
// --max-arena-bytes and its like, of the verbs that run programs: one option for
// each limit of runtime/core/limits.h, with the same name.
#ifndef PETREL_EXTENSION_CLI_LIMIT_OPTIONS_H_
#define PETREL_EXTENSION_CLI_LIMIT_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "runtime/core/limits.h"

namespace petrel::extension {

// Adds the options, which set `*limits`; it must outlive the verb.
void add_limit_options(CLI::App& verb, runtime::Limits* limits);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_LIMIT_OPTIONS_H_
