// SPDX-License-Identifier: Apache-2.0
//
// What is written from tables of options: petrel.export() and petrel.gen_c() of Python,
// made from templates by //extension/python, and the tables of docs/export.md and
// docs/portable_c.md, which a test compares.
//
//   template line        becomes
//   @KEYWORDS@           reorder: bool = False,
//   @HELP@               reorder           run operators in the order that ...
//   @VALUES@             "reorder": reorder,
#ifndef PETREL_EXTENSION_EXPORT_OPTION_TEXTS_H_
#define PETREL_EXTENSION_EXPORT_OPTION_TEXTS_H_

#include <string>
#include <vector>

#include "extension/export/option_row.h"

namespace petrel::extension {

using OptionRows = std::vector<const OptionRow*>;

// The template with its marked lines replaced, each indented as its mark is.
std::string python_from_template(const std::string& text, const OptionRows& rows);

// Rows of Markdown with a heading.
std::string docs_table(const OptionRows& rows);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_OPTION_TEXTS_H_
