// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/command.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "extension/cli/linked_backends.h"
#include "extension/cli/verb.h"

// None of these verbs compiles.
const std::vector<petrel::extension::LinkedBackend>& petrel::extension::linked_backends() {
  static const auto* const kNone = new std::vector<LinkedBackend>;
  return *kNone;
}

namespace petrel::fuzz {

namespace {

// A verb with its options. To describe them takes as long as to run it, and options keep what
// they were given: there is one for each form of a command.
struct Command {
  explicit Command(const std::string& verb) {
    if (verb == "verify") extension::add_verify_verb(app, &exit_code);
    if (verb == "inspect") extension::add_inspect_verb(app, &exit_code);
    if (verb == "data") extension::add_data_verb(app, &exit_code);
  }
  CLI::App app;
  int exit_code = extension::kDone;
};

Command& command_of(const std::vector<std::string>& words) {
  static auto* const commands = new std::map<std::string, std::unique_ptr<Command>>;
  std::string form;
  for (const std::string& word : words) form += word[0] == '/' ? "FILE " : word + " ";
  std::unique_ptr<Command>& command = (*commands)[form];
  if (command == nullptr) command = std::make_unique<Command>(words[0]);
  return *command;
}

}  // namespace

int run_command(const std::vector<std::string>& words) {
  Command& command = command_of(words);
  command.exit_code = extension::kDone;
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  command.app.parse(reversed);
  return command.exit_code;
}

}  // namespace petrel::fuzz
