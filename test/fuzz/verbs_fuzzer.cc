// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the file of the verbs that look into files: verify, inspect (as text
// and as JSON, with the picture of its plan) and data list, in this process.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "extension/cli/linked_backends.h"
#include "extension/cli/verb.h"
#include "test/fuzz/memory_file.h"

// None of these verbs compiles.
const std::vector<petrel::extension::LinkedBackend>& petrel::extension::linked_backends() {
  static const auto* const kNone = new std::vector<LinkedBackend>;
  return *kNone;
}

namespace petrel::fuzz {
namespace {

// The exit code of `petrel WORDS`.
int run_command(std::vector<std::string> words) {
  CLI::App app;
  int exit_code = extension::kDone;
  extension::add_verify_verb(app, &exit_code);
  extension::add_inspect_verb(app, &exit_code);
  extension::add_data_verb(app, &exit_code);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  app.parse(reversed);
  return exit_code;
}

}  // namespace
}  // namespace petrel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel;
  static const fuzz::MemoryFile file;
  const std::string path = file.write(data, size);
  const int verified = fuzz::run_command({"verify", path});
  const int inspected = fuzz::run_command({"inspect", path});
  fuzz::require(verified == inspected, "verify and inspect disagree on a file");
  if (verified != extension::kDone) return 0;
  fuzz::require(fuzz::run_command({"inspect", path, "--json"}) == inspected,
                "inspect depends on how it prints");
  (void)fuzz::run_command({"inspect", path, "--plan-svg", "/dev/null"});
  (void)fuzz::run_command({"data", "list", path});
  return 0;
}
