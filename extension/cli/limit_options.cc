// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/limit_options.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "extension/export/option_words.h"

namespace petrel::extension {

namespace {

// The only one that Program::load asks for.
bool is_of_loading(const runtime::LimitRow& row) {
  return row.value == &runtime::Limits::max_arena_bytes;
}

}  // namespace

void add_limit_options(CLI::App& verb, LimitsOf what, runtime::Limits* limits) {
  for (const runtime::LimitRow& row : runtime::kLimitRows) {
    if (what == LimitsOf::kLoading && !is_of_loading(row)) continue;
    std::string name = absl::StrCat("--", row.name);
    std::replace(name.begin(), name.end(), '_', '-');
    uint64_t* const value = &(limits->*row.value);
    verb.add_option_function<std::string>(
            name,
            [name, value](const std::string& word) {
              const std::optional<uint64_t> number = bytes_of(word);
              if (!number) {
                throw CLI::ValidationError(
                    name, absl::StrCat("must be a number such as 500000 or 2G, is '", word, "'"));
              }
              *value = *number;
            },
            absl::StrCat("at most so many: ", row.help, " (default: ", *value, ")"))
        ->type_name("N");
  }
}

}  // namespace petrel::extension
