// SPDX-License-Identifier: Apache-2.0
//
// Scripts that let a shell complete the words of a command, written from the
// verbs and options that its parser knows:
//
//   std::string script = bash_completion(app);   // eval it in ~/.bashrc
//
// Verbs, options and the choices of options are completed; everything else is a
// file. An option's choices are those of its type name, a|b, or of CLI::IsMember.
#ifndef PETREL_EXTENSION_CLI_COMPLETION_H_
#define PETREL_EXTENSION_CLI_COMPLETION_H_

#include <string>

#include "CLI/CLI.hpp"

namespace petrel::extension {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_COMPLETION_H_
