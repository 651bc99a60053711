// SPDX-License-Identifier: Apache-2.0
//
// The verbs of the command that look into files, in this process.
//
//   run_command({"inspect", path, "--json"});

#ifndef PETREL_TEST_FUZZ_COMMAND_H_
#define PETREL_TEST_FUZZ_COMMAND_H_

#include <string>
#include <vector>

namespace petrel::fuzz {

// The exit code of `petrel WORDS` for verify, inspect and data.
int run_command(const std::vector<std::string>& words);

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_COMMAND_H_
