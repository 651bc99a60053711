// SPDX-License-Identifier: Apache-2.0
//
// The archives that a verb compiles: MODEL.pt2, which is method 'forward', and every
// --method NAME=FILE.pt2.
#ifndef PETREL_EXTENSION_CLI_METHOD_FILES_H_
#define PETREL_EXTENSION_CLI_METHOD_FILES_H_

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace petrel::extension {

struct MethodFiles {
  std::string model;
  std::vector<std::string> methods;
};

void add_method_files(CLI::App& verb, MethodFiles* given);

// Fills `methods`, method to path; "" or what is wrong.
std::string read_method_files(const MethodFiles& given,
                              std::map<std::string, std::string>* methods);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_METHOD_FILES_H_
