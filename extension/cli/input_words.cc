// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/input_words.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "extension/cli/array_literal.h"

namespace petrel::extension {
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The input of this name, or how many there are.
size_t find_input(const std::string& name, const std::vector<std::string>& names,
                  const std::vector<std::string>& c_names) {
  if (name.empty()) return names.size();
  for (const std::vector<std::string>* spelling : {&names, &c_names}) {
    const auto found = std::find(spelling->begin(), spelling->end(), name);
    if (found != spelling->end()) return static_cast<size_t>(found - spelling->begin());
  }
  return names.size();
}

std::string names_text(const std::vector<std::string>& names, const std::string& method) {
  std::vector<std::string> known;
  for (const std::string& name : names) {
    if (!name.empty()) known.push_back(name);
  }
  if (known.empty()) return absl::StrCat("but method '", method, "' does not name its inputs");
  return absl::StrCat("but the inputs of method '", method, "' are ", absl::StrJoin(known, ", "));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> assign_inputs(const std::vector<std::string>& words,
                                                       const std::vector<std::string>& names,
                                                       const std::string& method,
                                                       const std::vector<std::string>& c_names) {
  std::vector<std::string> sources(names.size());
  std::vector<std::string> in_order;
  for (const std::string& word : words) {
    // A variable of a shell that is not set, which must not count as an input left out.
    if (word.empty()) return absl::InvalidArgumentError("an input is an empty word");
    const size_t equals = word.find('=');
    if (equals == std::string::npos || is_array_literal(word)) {
      in_order.push_back(word);
      continue;
    }
    const std::string name = word.substr(0, equals);
    const size_t found = find_input(name, names, c_names);
    if (found == names.size()) {
      if (!exists(word)) {
        return absl::InvalidArgumentError(
            absl::StrCat("input '", word, "' is given, ", names_text(names, method)));
      }
      in_order.push_back(word);
      continue;
    }
    std::string& source = sources[found];
    if (!source.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("input '", name, "' is given twice"));
    }
    source = word.substr(equals + 1);
    if (source.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", name, "' is given without a value"));
    }
  }
  size_t next = 0;
  for (const std::string& word : in_order) {
    while (next < sources.size() && !sources[next].empty()) ++next;
    if (next == sources.size()) {
      return absl::InvalidArgumentError(absl::StrCat(words.size(), " inputs are given, method '",
                                                     method, "' takes ", sources.size()));
    }
    sources[next] = word;
  }
  return sources;
}

}  // namespace petrel::extension
