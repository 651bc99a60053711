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

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "exir/driver/export.h"

namespace petrel::extension {

enum class OptionKind {
  kFlag,       // given or not
  kChoice,     // one of `choices`
  kText,       // any text but an empty one
  kBytes,      // a size: bytes, or "500MB", "2GiB"
  kDataFile,   // a .ptd file to write
  kDataFiles,  // GLOB=FILE.ptd, may be repeated
  kTexts,      // texts, may be repeated
};

// What was given for one option: a word per value, none for a flag.
using Words = std::vector<std::string>;
// What was given, by name of the option.
using OptionWords = std::map<std::string, Words>;

struct ExportOption {
  const char* name;  // "weight-keys": --weight-keys, weight_keys in Python and Bazel
  OptionKind kind;
  std::vector<std::string> choices;
  const char* default_word;  // what counts when the option is not given; "" for nothing
  // Part of the recipe: other weights for the program are made with it again.
  bool changes_graph;
  const char* help;
  // Null for what each front end does by itself: backends are objects in Python.
  void (*apply)(const Words& words, exir::ExportOptions* options);
};

const std::vector<ExportOption>& export_options();

// Null when there is none.
const ExportOption* find_export_option(absl::string_view name);

// "weight_keys" for "weight-keys".
std::string identifier_of(const ExportOption& option);

// What the user writes behind --name: "BYTES", "none|some" for a choice; "" for a
// flag.
std::string operand_of(const ExportOption& option);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_EXPORT_OPTION_H_
