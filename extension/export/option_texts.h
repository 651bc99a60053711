// SPDX-License-Identifier: Apache-2.0
//
// What is written from the table of export options: petrel.export() of Python,
// made from a template by //extension/python, and the table of docs/export.md,
// which a test compares.
//
//   template line        becomes
//   @KEYWORDS@           reorder: bool = False,
//   @HELP@               reorder           run operators in the order that ...
//   @VALUES@             "reorder": reorder,
#ifndef PETREL_EXTENSION_EXPORT_OPTION_TEXTS_H_
#define PETREL_EXTENSION_EXPORT_OPTION_TEXTS_H_

#include <string>

namespace petrel::extension {

// The template with its marked lines replaced, each indented as its mark is.
std::string python_from_template(const std::string& text);

// Rows of Markdown with a heading.
std::string docs_table();

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_OPTION_TEXTS_H_
