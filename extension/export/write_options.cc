// SPDX-License-Identifier: Apache-2.0
//
// Prints what is written from the tables of options.
//
//   write_options --docs
//   write_options --python export_call.py.in
//   write_options --gen-c-docs
//   write_options --gen-c-python gen_c_call.py.in
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "extension/export/export_option.h"
#include "extension/export/generate_option.h"
#include "extension/export/option_texts.h"

namespace petrel::extension {
namespace {

OptionRows export_rows(bool for_python) {
  OptionRows rows;
  for (const ExportOption& option : export_options()) {
    // What is applied by nobody are objects in Python, with keywords of their own.
    if (!for_python || option.apply != nullptr) rows.push_back(&option);
  }
  return rows;
}

OptionRows gen_c_rows(bool for_python) {
  OptionRows rows;
  for (const OptionRow* row : generate_rows()) {
    const ExportOption* of_export = find_export_option(row->name);
    const bool is_object = row == of_export && of_export->apply == nullptr;
    if (!for_python || !is_object) rows.push_back(row);
  }
  return rows;
}

int write(const std::string& mode, const char* path) {
  const bool is_gen_c = mode.rfind("--gen-c", 0) == 0;
  if (mode == "--docs" || mode == "--gen-c-docs") {
    std::fputs(docs_table(is_gen_c ? gen_c_rows(false) : export_rows(false)).c_str(), stdout);
    return 0;
  }
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "write_options: cannot read '%s'\n", path);
    return 1;
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const OptionRows rows = is_gen_c ? gen_c_rows(true) : export_rows(true);
  std::fputs(python_from_template(text, rows).c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace petrel::extension

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool is_docs = argc == 2 && (mode == "--docs" || mode == "--gen-c-docs");
  const bool is_python = argc == 3 && (mode == "--python" || mode == "--gen-c-python");
  if (!is_docs && !is_python) {
    std::fprintf(stderr,
                 "usage: write_options --docs | --python TEMPLATE | --gen-c-docs | "
                 "--gen-c-python TEMPLATE\n");
    return 2;
  }
  return petrel::extension::write(mode, is_python ? argv[2] : "");
}
