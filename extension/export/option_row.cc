// SPDX-License-Identifier: Apache-2.0
#include "extension/export/option_row.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "extension/export/option_words.h"

namespace petrel::extension {
namespace {

// "a, b or c".
std::string one_of(const std::vector<std::string>& choices) {
  if (choices.size() < 2) return absl::StrJoin(choices, "");
  return absl::StrCat(absl::StrJoin(choices.begin(), choices.end() - 1, ", "), " or ",
                      choices.back());
}

bool is_repeated(OptionKind kind) {
  return kind == OptionKind::kTexts || kind == OptionKind::kDataFiles;
}

// Whether the word becomes a path or a command, which C would end at a zero byte.
bool is_for_c(OptionKind kind) {
  return kind == OptionKind::kText || kind == OptionKind::kDataFile ||
         kind == OptionKind::kDataFiles;
}

// What is expected of a word; "" when it is that.
std::string expected(const OptionRow& option, const std::string& word) {
  switch (option.kind) {
    case OptionKind::kFlag:
      return "given without a value";
    case OptionKind::kChoice:
      return std::count(option.choices.begin(), option.choices.end(), word) > 0
                 ? ""
                 : one_of(option.choices);
    case OptionKind::kBytes:
      return bytes_of(word) ? "" : "a size from 1 to 2^62 bytes, such as 500000 or 2GB";
    case OptionKind::kDataFiles:
      return split_data_file(word).second.empty() ? "GLOB=FILE.ptd" : "";
    case OptionKind::kText:
    case OptionKind::kTexts:
      return word.empty() ? "a text that is not empty" : "";
    case OptionKind::kDataFile:
      return word.empty() ? "the name of a file" : "";
  }
  return "";
}

}  // namespace

std::string identifier_of(const OptionRow& option) {
  std::string name = option.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string operand_of(const OptionRow& option) {
  switch (option.kind) {
    case OptionKind::kFlag:
      return "";
    case OptionKind::kChoice:
      return absl::StrJoin(option.choices, "|");
    case OptionKind::kText:
    case OptionKind::kTexts:
      return "TEXT";
    case OptionKind::kBytes:
      return "BYTES";
    case OptionKind::kDataFile:
      return "FILE.ptd";
    case OptionKind::kDataFiles:
      return "GLOB=FILE.ptd";
  }
  return "";
}

std::string check_word(const OptionRow& option, const std::string& word) {
  if (is_for_c(option.kind) && word.find('\0') != std::string::npos) {
    return "must have no zero byte";
  }
  const std::string wanted = expected(option, word);
  return wanted.empty() ? "" : absl::StrCat("must be ", wanted, ", is '", word, "'");
}

std::string check_words(const OptionRow& option, const Words& words) {
  if (option.kind != OptionKind::kFlag) {
    if (words.empty()) return absl::StrCat("must be ", operand_of(option), ", has no value");
    if (words.size() > 1 && !is_repeated(option.kind)) {
      return absl::StrCat("must be one value, is ", words.size(), " of them");
    }
  }
  for (const std::string& word : words) {
    const std::string wrong = check_word(option, word);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace petrel::extension
