// SPDX-License-Identifier: Apache-2.0
#include "extension/export/option_texts.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace petrel::extension {
namespace {

constexpr size_t kColumns = 88;     // of Python's doc string
constexpr size_t kHelpColumn = 18;  // where explanations begin, after names

// The type and the default of a keyword of Python.
std::string annotation(const OptionRow& option) {
  switch (option.kind) {
    case OptionKind::kFlag:
      return "bool = False";
    case OptionKind::kChoice: {
      const std::string choices =
          absl::StrCat("Literal[\"", absl::StrJoin(option.choices, "\", \""), "\"]");
      // In Python a function may plan memory, too.
      const bool may_be_function = absl::string_view(option.name) == "planner";
      return absl::StrCat(may_be_function ? absl::StrCat("Union[", choices, ", Planner]") : choices,
                          " = \"", option.default_word, "\"");
    }
    case OptionKind::kText:
    case OptionKind::kDataFile:
      return option.default_word[0] == '\0' ? "Optional[str] = None"
                                            : absl::StrCat("str = \"", option.default_word, "\"");
    case OptionKind::kBytes:
      return "Union[None, int, str] = None";
    case OptionKind::kDataFiles:
      return "Optional[Mapping[str, str]] = None";
    case OptionKind::kTexts:
      return "Sequence[str] = ()";
  }
  return "Any";
}

// The explanation of a keyword, broken into lines beside its name.
std::string help_lines(const OptionRow& option, size_t indent) {
  std::string text = option.help;
  if (option.kind == OptionKind::kBytes) text += ": bytes, or \"500MB\"";
  if (option.kind == OptionKind::kDataFile) text += " (a plain name)";
  if (option.kind == OptionKind::kDataFiles) text += ", {\"encoder.*\": \"encoder.ptd\"}";
  std::vector<std::string> lines;
  std::string line = absl::StrFormat("%-*s", kHelpColumn, identifier_of(option));
  if (line.size() > kHelpColumn) {
    lines.push_back(line);
    line = std::string(kHelpColumn, ' ');
  }
  bool is_empty = true;
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    if (!is_empty && indent + line.size() + 1 + word.size() > kColumns) {
      lines.push_back(line);
      line = std::string(kHelpColumn, ' ');
      is_empty = true;
    }
    absl::StrAppend(&line, is_empty ? "" : " ", word);
    is_empty = false;
  }
  lines.push_back(line);
  return absl::StrJoin(lines, "\n");
}

using Write = std::function<std::string(const OptionRow&, size_t indent)>;

std::string write_all(const OptionRows& rows, const std::string& indent, const Write& write) {
  std::string out;
  for (const OptionRow* row : rows) {
    for (absl::string_view line : absl::StrSplit(write(*row, indent.size()), '\n')) {
      absl::StrAppend(&out, indent, line, "\n");
    }
  }
  return out;
}

}  // namespace

std::string python_from_template(const std::string& text, const OptionRows& rows) {
  const std::vector<std::pair<std::string, Write>> marks = {
      {"@KEYWORDS@",
       [](const OptionRow& option, size_t) {
         return absl::StrCat(identifier_of(option), ": ", annotation(option), ",");
       }},
      {"@HELP@", help_lines},
      {"@VALUES@",
       [](const OptionRow& option, size_t) {
         return absl::StrCat("\"", option.name, "\": ", identifier_of(option), ",");
       }},
  };
  std::string out;
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (const std::string& line : lines) {
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    std::string written = line + "\n";
    for (const auto& [mark, write] : marks) {
      if (line.substr(indent) == mark) written = write_all(rows, line.substr(0, indent), write);
    }
    out += written;
  }
  return out;
}

std::string docs_table(const OptionRows& rows) {
  std::string table = "| option | value | |\n|---|---|---|\n";
  for (const OptionRow* row : rows) {
    const OptionRow& option = *row;
    std::string help = absl::StrReplaceAll(option.help, {{"|", "\\|"}});
    if (option.default_word[0] != '\0')
      absl::StrAppend(&help, " (default: ", option.default_word, ")");
    absl::StrAppend(&table, "| `--", option.name, "` | ",
                    absl::StrReplaceAll(operand_of(option), {{"|", ", "}}), " | ", help, " |\n");
  }
  return table;
}

}  // namespace petrel::extension
