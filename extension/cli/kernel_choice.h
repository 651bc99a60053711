// SPDX-License-Identifier: Apache-2.0
//
// The values of `--kernels`.
#ifndef PETREL_EXTENSION_CLI_KERNEL_CHOICE_H_
#define PETREL_EXTENSION_CLI_KERNEL_CHOICE_H_

#include <CLI/CLI.hpp>
#include <string>

#include "runtime/executor/registry.h"

namespace petrel::extension {

// Adds the option, which sets `*choice`.
void add_kernels_option(CLI::App& verb, std::string* choice);

// "optimized": everything this binary has. "reference": only the portable
// kernels, and the same backends.
const runtime::Registry& registry_of(const std::string& choice);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_KERNEL_CHOICE_H_
