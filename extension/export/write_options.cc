// SPDX-License-Identifier: Apache-2.0
//
// Prints what is written from the table of export options.
//
//   write_options --docs
//   write_options --python export_call.py.in
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "extension/export/option_texts.h"

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--docs" && argc == 2) {
    std::fputs(petrel::extension::docs_table().c_str(), stdout);
    return 0;
  }
  if (mode != "--python" || argc != 3) {
    std::fprintf(stderr, "usage: write_options --docs | --python TEMPLATE\n");
    return 2;
  }
  std::ifstream file(argv[2]);
  if (!file) {
    std::fprintf(stderr, "write_options: cannot read '%s'\n", argv[2]);
    return 1;
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::fputs(petrel::extension::python_from_template(text).c_str(), stdout);
  return 0;
}
