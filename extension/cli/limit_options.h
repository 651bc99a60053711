// SPDX-License-Identifier: Apache-2.0
//
// --max-arena-bytes and its like: one option for each limit of runtime/core/limits.h,
// with the same name. Verbs that run programs have all of them, verbs that only load
// programs those that loading asks for.
#ifndef PETREL_EXTENSION_CLI_LIMIT_OPTIONS_H_
#define PETREL_EXTENSION_CLI_LIMIT_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "runtime/core/limits.h"

namespace petrel::extension {

enum class LimitsOf { kLoading, kRunning };

// Adds the options, which set `*limits`; it must outlive the verb.
void add_limit_options(CLI::App& verb, LimitsOf what, runtime::Limits* limits);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_LIMIT_OPTIONS_H_
