// SPDX-License-Identifier: Apache-2.0
#include "extension/export/option_words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace petrel::extension {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 62;

}  // namespace

void apply_options(const OptionWords& given, exir::ExportOptions* options) {
  for (const ExportOption& option : export_options()) {
    const auto words = given.find(option.name);
    if (words != given.end() && option.apply != nullptr) option.apply(words->second, options);
  }
  options->recipe = make_recipe(given);
}

std::vector<std::string> make_recipe(const OptionWords& given) {
  std::vector<std::string> recipe;
  for (const ExportOption& option : export_options()) {
    if (!option.changes_graph) continue;
    const auto words = given.find(option.name);
    if (words == given.end()) {
      // Another version may have another default.
      if (option.default_word[0] != '\0') {
        recipe.push_back(absl::StrCat(option.name, "=", option.default_word));
      }
    } else if (option.kind == OptionKind::kFlag) {
      recipe.push_back(option.name);
    } else {
      for (const std::string& word : words->second) {
        recipe.push_back(absl::StrCat(option.name, "=", word));
      }
    }
  }
  return recipe;
}

absl::StatusOr<OptionWords> read_recipe(const std::vector<std::string>& lines) {
  OptionWords words;
  for (const std::string& line : lines) {
    const size_t equals = line.find('=');
    const ExportOption* option = find_export_option(line.substr(0, equals));
    const bool has_word = equals != std::string::npos;
    const std::string word = has_word ? line.substr(equals + 1) : "";
    if (option == nullptr || !option->changes_graph ||
        has_word == (option->kind == OptionKind::kFlag) ||
        (has_word && !check_word(*option, word).empty())) {
      return absl::FailedPreconditionError(
          absl::StrCat("the program was made with '", line, "', which this version does not know"));
    }
    Words& of_option = words[option->name];
    if (has_word) of_option.push_back(word);
  }
  return words;
}

std::optional<uint64_t> bytes_of(const std::string& word) {
  const size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  uint64_t number = 0;
  if (!absl::SimpleAtoi(word.substr(0, digits), &number)) return std::nullopt;
  std::string unit = absl::AsciiStrToLower(word.substr(digits));
  if (!unit.empty() && unit.back() == 'b') unit.pop_back();
  const bool is_binary = unit.size() == 2 && unit[1] == 'i';
  if (is_binary) unit.pop_back();
  uint64_t scale = 1;
  if (!unit.empty()) {
    const size_t power = std::string("kmgt").find(unit);
    if (unit.size() != 1 || power == std::string::npos) return std::nullopt;
    for (size_t i = 0; i <= power; ++i) scale *= is_binary ? 1024 : 1000;
  }
  if (number == 0 || number > kMaxBytes / scale) return std::nullopt;
  return number * scale;
}

std::pair<std::string, std::string> split_data_file(const std::string& word) {
  const size_t equals = word.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) return {};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

}  // namespace petrel::extension
