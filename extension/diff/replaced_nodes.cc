// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/replaced_nodes.h"

#include <algorithm>
#include <map>
#include <set>

#include "extension/diff/match_values.h"

namespace petrel::extension {
namespace {

class Places {
 public:
  Places(const ValueTrace& a, const ValueTrace& b, const ValuePairs& pairs)
      : a_(a), b_(b), is_matched_(a.values.size(), false) {
    for (size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
      if (!a.values[i].is_input || !b.values[i].is_input) break;  // they come first
      match(i, i);
    }
    for (const auto& [first, second] : pairs) match(first, second);
  }

  ValuePairs operands_of(size_t first, size_t second) const {
    ValuePairs found;
    const std::vector<size_t> ours = operands(a_, first);
    for (const size_t theirs : operands(b_, second)) {
      if (is_known(b_, theirs)) continue;
      for (const size_t own : ours) {
        if (may_be_one(own, theirs) && have_same_operands(own, theirs)) {
          found.emplace_back(own, theirs);
        }
      }
    }
    return found;
  }

  // What the value is without moves and conversions that have no match.
  size_t origin(const ValueTrace& trace, size_t value) const {
    for (;;) {
      const TraceValue& at = trace.values[value];
      const bool passes = at.family == "move" || at.family == "convert";
      if (is_known(trace, value) || !passes || at.inputs.size() != 1) return value;
      value = at.inputs[0];
    }
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

  std::vector<size_t> operands(const ValueTrace& trace, size_t value) const {
    std::vector<size_t> origins;
    for (const size_t input : trace.values[value].inputs) origins.push_back(origin(trace, input));
    return origins;
  }

  bool have_same_operands(size_t first, size_t second) const {
    const std::vector<size_t> list = operands(a_, first);
    const std::set<size_t> ours(list.begin(), list.end());
    std::set<size_t> theirs;
    for (const size_t operand : operands(b_, second)) {
      const auto found = counterparts_.find(operand);
      if (found == counterparts_.end()) return false;
      theirs.insert(found->second);
    }
    return ours == theirs;
  }

  const ValueTrace& a_;
  const ValueTrace& b_;
  std::vector<bool> is_matched_;
  std::map<size_t, size_t> counterparts_;  // of the second program
};

}  // namespace

ValuePairs replaced_nodes(const ValueTrace& a, const ValueTrace& b, const ValuePairs& pairs,
                          std::pair<size_t, size_t> of) {
  return Places(a, b, pairs).operands_of(of.first, of.second);
}

ValuePairs unmatched_outputs(const ValueTrace& a, const ValueTrace& b, const ValuePairs& pairs) {
  ValuePairs found;
  if (a.outputs.size() != b.outputs.size()) return found;
  const Places places(a, b, pairs);
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const std::pair<size_t, size_t> pair = {places.origin(a, a.outputs[i]),
                                            places.origin(b, b.outputs[i])};
    const bool is_new = std::find(found.begin(), found.end(), pair) == found.end();
    if (is_new && places.may_be_one(pair.first, pair.second)) found.push_back(pair);
  }
  return found;
}

}  // namespace petrel::extension
