// SPDX-License-Identifier: Apache-2.0
//
// What was given for options, as words: checked, applied, and kept in a program
// as its recipe.
//
//   OptionWords given = {{"reorder", {}}, {"weight-keys", {"name"}}};
//   options.backends = ...;               // first: some options say how they are used
//   apply_options(given, &options);       // options.recipe, too
//
// Words that are applied have been checked. A recipe has one line per word of the
// options that change the graph:
//
//   backend=xnnpack
//   whole-methods
//   partition=cost
#ifndef PETREL_EXTENSION_EXPORT_OPTION_WORDS_H_
#define PETREL_EXTENSION_EXPORT_OPTION_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "extension/export/export_option.h"

namespace petrel::extension {

// Precondition: every name is that of an option and check_words() found nothing
// wrong with its words.
void apply_options(const OptionWords& given, exir::ExportOptions* options);

std::vector<std::string> make_recipe(const OptionWords& given);

// FailedPrecondition for a line that this version does not know.
absl::StatusOr<OptionWords> read_recipe(const std::vector<std::string>& lines);

// 2000000000 for "2GB", 2147483648 for "2GiB"; nothing for what is not a size
// from 1 to 2^62.
std::optional<uint64_t> bytes_of(const std::string& word);

// The halves of GLOB=FILE.ptd, empty when it is not of that form. The name of a
// weight may contain '=', that of a file hardly.
std::pair<std::string, std::string> split_data_file(const std::string& word);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_OPTION_WORDS_H_
