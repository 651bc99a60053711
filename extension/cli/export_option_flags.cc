// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/export_option_flags.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "extension/cli/backend_choice.h"
#include "extension/export/generate_option.h"

namespace petrel::extension {
namespace {

std::string help_of(const OptionRow& option) {
  std::string help = option.help;
  if (option.kind == OptionKind::kBytes) absl::StrAppend(&help, "; also 500MB, 2GB");
  if (option.kind == OptionKind::kDataFiles) absl::StrAppend(&help, "; may be repeated");
  if (option.default_word[0] != '\0')
    absl::StrAppend(&help, " (default: ", option.default_word, ")");
  return help;
}

void add_option(CLI::App& verb, const OptionRow& option, OptionWords* given) {
  const std::string flag = absl::StrCat("--", option.name);
  const std::string name = option.name;
  if (option.kind == OptionKind::kFlag) {
    verb.add_flag_callback(
        flag, [=] { (*given)[name] = {}; }, help_of(option));
    return;
  }
  const bool is_list = option.kind == OptionKind::kTexts || option.kind == OptionKind::kDataFiles;
  CLI::Option* added =
      is_list
          ? verb.add_option_function<Words>(
                    flag, [=](const Words& words) { (*given)[name] = words; }, help_of(option))
                ->take_all()
                ->allow_extra_args(false)
          : verb.add_option_function<std::string>(
                flag, [=](const std::string& word) { (*given)[name] = {word}; }, help_of(option));
  added->type_name(operand_of(option))->check([&option](const std::string& word) {
    return check_word(option, word);
  });
}

}  // namespace

void add_export_options(CLI::App& verb, OptionWords* given) {
  add_backend_option(verb, given);  // its help names the backends of this binary
  for (const ExportOption& option : export_options()) {
    if (option.name != absl::string_view("backend")) add_option(verb, option, given);
  }
}

void add_export_option(CLI::App& verb, const char* name, OptionWords* given) {
  add_option(verb, *find_export_option(name), given);
}

void add_generate_options(CLI::App& verb, OptionWords* given) {
  add_backend_option(verb, given, OtherMethods::kNone);
  for (const OptionRow* row : generate_rows()) {
    if (row->name != absl::string_view("backend")) add_option(verb, *row, given);
  }
}

}  // namespace petrel::extension
