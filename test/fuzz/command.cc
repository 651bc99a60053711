// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/command.h"

#include <CLI/CLI.hpp>

#include "extension/cli/linked_backends.h"
#include "extension/cli/verb.h"

// None of these verbs compiles.
const std::vector<petrel::extension::LinkedBackend>& petrel::extension::linked_backends() {
  static const auto* const kNone = new std::vector<LinkedBackend>;
  return *kNone;
}

namespace petrel::fuzz {

int run_command(const std::vector<std::string>& words) {
  CLI::App app;
  int exit_code = extension::kDone;
  extension::add_verify_verb(app, &exit_code);
  extension::add_inspect_verb(app, &exit_code);
  extension::add_data_verb(app, &exit_code);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  app.parse(reversed);
  return exit_code;
}

}  // namespace petrel::fuzz
