// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the file of the verbs that look into files: verify, inspect (as text
// and as JSON, with the picture of its plan) and data list, in this process.

#include <string>

#include "extension/cli/verb.h"
#include "test/fuzz/command.h"
#include "test/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel;
  static fuzz::MemoryFile file;
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
