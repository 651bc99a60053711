// SPDX-License-Identifier: Apache-2.0
//
// The options of an export: one row each. `petrel export`, the keywords of
// petrel.export() in Python, the attributes of petrel_pte() in Bazel, the recipe
// that a program remembers and the table of docs/export.md all come from it.
//
//   flag("reorder", kKeepsGraph, "run operators in the order that ...",
//        [](const Words&, ExportOptions* options) { options->reorder = true; })
//
//   petrel export --reorder    petrel.export(reorder=True)    petrel_pte(reorder = True)
//
// To add an option, add its row to export_options.cc; `apply` puts it into the
// options of exir/driver/export.h. The rows live as long as the process.
#ifndef PETREL_EXTENSION_EXPORT_EXPORT_OPTION_H_
#define PETREL_EXTENSION_EXPORT_EXPORT_OPTION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "exir/driver/export.h"
#include "extension/export/option_row.h"

namespace petrel::extension {

struct ExportOption : OptionRow {
  // Part of the recipe: other weights for the program are made with it again.
  bool changes_graph;
  // Null for what each front end does by itself: backends are objects in Python.
  void (*apply)(const Words& words, exir::ExportOptions* options);
};

const std::vector<ExportOption>& export_options();

// Null when there is none.
const ExportOption* find_export_option(absl::string_view name);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_EXPORT_OPTION_H_
