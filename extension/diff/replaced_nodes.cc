// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/replaced_nodes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "extension/diff/match_values.h"

namespace petrel::extension {
namespace {

class Places {
 public:
  Places(const ValueTrace& a, const ValueTrace& b, const ValuePairs& pairs, CompareSteps* steps)
      : a_(a), b_(b), steps_(*steps), is_matched_(a.values.size(), false) {
    for (size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
      if (!a.values[i].is_input || !b.values[i].is_input) break;  // they come first
      match(i, i);
    }
    for (const auto& [first, second] : pairs) match(first, second);
  }

  void add_operands_of(size_t first, size_t second, std::set<std::pair<size_t, size_t>>* found) {
    std::map<size_t, std::set<size_t>> ours;  // with what they are computed from
    for (const size_t own : operands(a_, first)) {
      if (!is_known(a_, own)) ours.try_emplace(own, operands(a_, own));
    }
    for (const size_t theirs : operands(b_, second)) {
      if (is_known(b_, theirs)) continue;
      const std::optional<std::set<size_t>> before = counterparts_of(operands(b_, theirs));
      for (const auto& [own, operands] : ours) {
        if (!steps_.take(before ? before->size() + 1 : 1)) return;
        if (before == operands && may_be_one(own, theirs)) found->emplace(own, theirs);
      }
    }
  }

  // What the value is without moves and conversions that have no match.
  size_t origin(const ValueTrace& trace, size_t value) {
    while (steps_.take()) {
      const TraceValue& at = trace.values[value];
      const bool passes = at.family == "move" || at.family == "convert";
      if (is_known(trace, value) || !passes || at.inputs.size() != 1) break;
      value = at.inputs[0];
    }
    return value;
  }

  bool may_be_one(size_t first, size_t second) const {
    if (is_known(a_, first) || is_known(b_, second)) return false;
    const TraceValue& a = a_.values[first];
    const TraceValue& b = b_.values[second];
    return a.is_seen && b.is_seen && has_numbers(a) && has_numbers(b) && dims_of(a) == dims_of(b);
  }

 private:
  void match(size_t first, size_t second) {
    is_matched_[first] = true;
    counterparts_.emplace(second, first);
  }

  bool is_known(const ValueTrace& trace, size_t value) const {
    return &trace == &a_ ? is_matched_[value] : counterparts_.count(value) != 0;
  }

  std::set<size_t> operands(const ValueTrace& trace, size_t value) {
    std::set<size_t> origins;
    for (const size_t input : trace.values[value].inputs) origins.insert(origin(trace, input));
    return origins;
  }

  // As values of the first program; none where one of them has no match.
  std::optional<std::set<size_t>> counterparts_of(const std::set<size_t>& theirs) const {
    std::set<size_t> ours;
    for (const size_t value : theirs) {
      const auto found = counterparts_.find(value);
      if (found == counterparts_.end()) return std::nullopt;
      ours.insert(found->second);
    }
    return ours;
  }

  const ValueTrace& a_;
  const ValueTrace& b_;
  CompareSteps& steps_;
  std::vector<bool> is_matched_;
  std::map<size_t, size_t> counterparts_;  // of the second program
};

}  // namespace

ValuePairs replaced_nodes(const ValueTrace& a, const ValueTrace& b, const ValuePairs& pairs,
                          const ValuePairs& of, CompareSteps* steps) {
  Places places(a, b, pairs, steps);
  std::set<std::pair<size_t, size_t>> found;
  for (const auto& [first, second] : of) places.add_operands_of(first, second, &found);
  return {found.begin(), found.end()};
}

ValuePairs unmatched_outputs(const ValueTrace& a, const ValueTrace& b, const ValuePairs& pairs,
                             CompareSteps* steps) {
  ValuePairs found;
  if (a.outputs.size() != b.outputs.size()) return found;
  Places places(a, b, pairs, steps);
  std::set<std::pair<size_t, size_t>> known;
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const std::pair<size_t, size_t> pair = {places.origin(a, a.outputs[i]),
                                            places.origin(b, b.outputs[i])};
    if (!places.may_be_one(pair.first, pair.second) || !known.insert(pair).second) continue;
    found.push_back(pair);
  }
  return found;
}

}  // namespace petrel::extension
