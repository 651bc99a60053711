// SPDX-License-Identifier: Apache-2.0
//
// Symbols of sizes that depend on data, and which an archive asserts to be equal: two masks
// that are computed alike are two symbols, until something needs both to be one.
//
//   _assert_scalar(eq_1), eq_1: "Equality(Symbol('u0', integer=True), Symbol('u1', integer=True))"
//     -> u1 is u0
#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "exir/import/tensor_meta.h"
#include "exir/ir/disjoint_sets.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// "Symbol('u0', integer=True)" at the start of `*text`, which it is taken from; "" if another
// expression stands there.
std::string take_symbol(absl::string_view* text) {
  if (!absl::ConsumePrefix(text, "Symbol('")) return "";
  const size_t quote = text->find('\'');
  const size_t close = text->find(')');
  if (quote == absl::string_view::npos || close == absl::string_view::npos || close < quote) {
    return "";
  }
  std::string name(text->substr(0, quote));
  text->remove_prefix(close + 1);
  return name;
}

std::pair<std::string, std::string> equal_symbols(absl::string_view text) {
  std::pair<std::string, std::string> names;
  if (!absl::ConsumePrefix(&text, "Equality(")) return names;
  names.first = take_symbol(&text);
  if (absl::ConsumePrefix(&text, ", ")) names.second = take_symbol(&text);
  return names;
}

// The truth values of the graph that its nodes assert. Each once: many nodes may assert one, and
// its text may be long.
absl::StatusOr<std::set<std::string>> asserted_truths(const Json& graph) {
  std::set<std::string> asserted;
  PETREL_ASSIGN_OR_RETURN(const Json node_list, graph.at("nodes"));
  PETREL_ASSIGN_OR_RETURN(const std::vector<Json> nodes, node_list.items());
  for (const Json& node : nodes) {
    PETREL_ASSIGN_OR_RETURN(const Json target, node.at("target"));
    PETREL_ASSIGN_OR_RETURN(const std::string_view called, target.text_view());
    if (called != "torch.ops.aten._assert_scalar.default") continue;
    PETREL_ASSIGN_OR_RETURN(const Json input_list, node.at("inputs"));
    PETREL_ASSIGN_OR_RETURN(const std::vector<Json> inputs, input_list.items());
    if (inputs.empty()) continue;
    PETREL_ASSIGN_OR_RETURN(const Json argument, inputs[0].at("arg"));
    const std::optional<Json> truth = argument.find("as_sym_bool");
    const std::optional<Json> name = truth ? truth->find("as_name") : std::nullopt;
    if (!name) continue;
    PETREL_ASSIGN_OR_RETURN(std::string text, name->text());
    asserted.insert(std::move(text));
  }
  return asserted;
}

}  // namespace

absl::Status Symbols::join_equal(const Json& graph) {
  const std::optional<Json> truth_values = graph.find("sym_bool_values");
  if (!truth_values) return absl::OkStatus();
  PETREL_ASSIGN_OR_RETURN(const auto members, truth_values->members());
  PETREL_ASSIGN_OR_RETURN(std::set<std::string> asserted, asserted_truths(graph));

  std::vector<std::string> names;
  for (const auto& [name, size] : bounded_) names.push_back(name);
  DisjointSets sets(names.size());
  const auto place_of = [&names](const std::string& name) {
    return static_cast<size_t>(std::lower_bound(names.begin(), names.end(), name) - names.begin());
  };
  for (const auto& [name, value] : members) {
    if (asserted.erase(name) == 0) continue;
    const std::optional<Json> made = value.find("as_expr");
    if (!made) continue;
    PETREL_ASSIGN_OR_RETURN(const Json expression, made->at("expr_str"));
    PETREL_ASSIGN_OR_RETURN(const std::string_view text, expression.text_view());
    const auto [first, second] = equal_symbols({text.data(), text.size()});
    // Sizes of inputs keep their own ranges.
    const bool are_found = absl::StartsWith(first, "u") && absl::StartsWith(second, "u") &&
                           bounded_.count(first) != 0 && bounded_.count(second) != 0;
    if (are_found) sets.join(place_of(first), place_of(second));
  }

  std::vector<SizeRange> ranges(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const SizeRange range = bounded_.at(names[i]).range();
    SizeRange& joined = ranges[sets.least(i)];
    if (sets.least(i) == i) joined = range;
    joined = {std::max(joined.low, range.low), std::min(joined.high, range.high)};
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const size_t least = sets.least(i);
    const SizeRange& range = ranges[least];
    if (range.is_empty() && least != i) {
      return absl::InvalidArgumentError(absl::StrCat("symbols '", names[least], "' and '", names[i],
                                                     "' are said to be equal, but their ranges ",
                                                     "do not meet"));
    }
    const SizeExpression one(names[least], range);
    if (one != bounded_.at(names[i])) bounded_[names[i]] = one;
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
