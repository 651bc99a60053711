// SPDX-License-Identifier: Apache-2.0
//
// The options of generated C: one row each, from which `petrel gen-c`, the keywords of
// petrel.gen_c() in Python and the table of docs/portable_c.md come; petrel_c_model() in
// Bazel passes its attributes on. Those that say how memory is planned are rows of
// export_option.h.
//
//   petrel gen-c --io caller    petrel.gen_c(io="caller")    petrel_c_model(io = "caller")
//
// To add an option, add its row to generate_options.cc; `apply` puts it into the options of
// exir/driver/generate.h. The rows live as long as the process.
#ifndef PETREL_EXTENSION_EXPORT_GENERATE_OPTION_H_
#define PETREL_EXTENSION_EXPORT_GENERATE_OPTION_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "exir/driver/generate.h"
#include "extension/export/option_row.h"

namespace petrel::extension {

struct GenerateOption : OptionRow {
  // InvalidArgument for words that are no value of the option, beyond what check_word() sees.
  absl::Status (*apply)(const Words& words, exir::GenerateOptions* options);
};

const std::vector<GenerateOption>& generate_options();

// All rows, those of planning too.
std::vector<const OptionRow*> generate_rows();

// Null when there is none.
const OptionRow* find_generate_row(absl::string_view name);

// InvalidArgument says all that is wrong with the options, each in a line of its own, before
// anything is compiled. Precondition: check_words() found nothing wrong with any option.
absl::Status apply_generate_options(const OptionWords& given, exir::GenerateOptions* options);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_EXPORT_GENERATE_OPTION_H_
