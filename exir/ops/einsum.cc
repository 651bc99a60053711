// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/einsum.h"

#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// "a...b" -> "a.b"
absl::StatusOr<std::string> read_labels(absl::string_view text) {
  constexpr absl::string_view kDots = "...";
  std::string labels;
  bool has_ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::ascii_isalpha(static_cast<unsigned char>(text[i]))) {
      labels.push_back(text[i]);
    } else if (!has_ellipsis && text.substr(i, kDots.size()) == kDots) {
      has_ellipsis = true;
      labels.push_back(kEinsumEllipsis);
      i += kDots.size() - 1;
    } else {
      return absl::InvalidArgumentError(absl::StrCat("argument 'equation' has '", text,
                                                     "', must be letters and at most one ..."));
    }
  }
  return labels;
}

// Where nothing is said of the result: the dims of ellipses, then what is there once.
std::string labels_of_result(const std::vector<std::string>& operands) {
  std::map<char, int> counts;
  for (const std::string& labels : operands) {
    for (const char label : labels) ++counts[label];
  }
  std::string result(1, kEinsumEllipsis);
  for (const auto& [label, count] : counts) {
    if (count == 1 && label != kEinsumEllipsis) result.push_back(label);
  }
  return result;
}

absl::Status check_result(const EinsumEquation& equation) {
  const std::string& result = equation.result;
  for (size_t i = 0; i < result.size(); ++i) {
    if (result.find(result[i], i + 1) != std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("argument 'equation' has '", result.substr(i, 1), "' twice in its result"));
    }
    bool is_known = result[i] == kEinsumEllipsis;
    for (const std::string& labels : equation.operands) {
      is_known = is_known || labels.find(result[i]) != std::string::npos;
    }
    if (!is_known) {
      return absl::InvalidArgumentError(
          absl::StrCat("argument 'equation' has no operand with '", result.substr(i, 1), "'"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EinsumEquation> read_einsum(absl::string_view equation) {
  const std::string text = absl::StrReplaceAll(equation, {{" ", ""}});
  const size_t arrow = text.find("->");
  EinsumEquation made;
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(text).substr(0, arrow), ',')) {
    PETREL_ASSIGN_OR_RETURN(std::string labels, read_labels(part));
    made.operands.push_back(std::move(labels));
  }
  if (arrow == std::string::npos) {
    made.result = labels_of_result(made.operands);
  } else {
    PETREL_ASSIGN_OR_RETURN(made.result, read_labels(absl::string_view(text).substr(arrow + 2)));
  }
  PETREL_RETURN_IF_ERROR(check_result(made));
  return made;
}

}  // namespace petrel::exir
