// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/diff.h"

#include <algorithm>
#include <utility>

namespace petrel::extension {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

std::vector<size_t> unmatched(const ValueTrace& trace, const std::vector<size_t>& row_of) {
  std::vector<size_t> values;
  for (size_t i = 0; i < trace.values.size(); ++i) {
    if (row_of[i] == kNone && !trace.values[i].is_input) values.push_back(i);
  }
  return values;
}

// Finds out of a differing row whether anything before it differs, too.
class Ancestors {
 public:
  Ancestors(const Diff& diff, const std::vector<size_t>& row_of) : diff_(diff), row_of_(row_of) {}

  void judge(DiffRow* row) const {
    std::vector<bool> is_known(diff_.b.values.size(), false);
    std::vector<size_t> left = diff_.b.values[row->b].inputs;
    row->is_culprit = true;
    while (!left.empty()) {
      const size_t value = left.back();
      left.pop_back();
      if (is_known[value]) continue;
      is_known[value] = true;
      if (row_of_[value] != kNone) {
        const bool is_within = diff_.rows[row_of_[value]].difference.is_within;
        row->is_culprit = row->is_culprit && is_within;
        continue;
      }
      if (diff_.b.values[value].is_input) continue;
      row->between.push_back(value);
      const std::vector<size_t>& inputs = diff_.b.values[value].inputs;
      left.insert(left.end(), inputs.begin(), inputs.end());
    }
    std::sort(row->between.begin(), row->between.end());
  }

 private:
  const Diff& diff_;
  const std::vector<size_t>& row_of_;
};

}  // namespace

Diff diff_traces(ValueTrace a, ValueTrace b, const Tolerance& tolerance) {
  Diff diff;
  const Matching matching = match_values(a, b);
  diff.how = matching.how;
  std::vector<size_t> row_of_a(a.values.size(), kNone);
  std::vector<size_t> row_of_b(b.values.size(), kNone);
  for (const auto& [first, second] : matching.pairs) {
    row_of_a[first] = row_of_b[second] = diff.rows.size();
    DiffRow row;
    row.a = first;
    row.b = second;
    row.difference = compare_values(a.values[first], b.values[second], tolerance);
    diff.rows.push_back(std::move(row));
  }
  diff.unmatched_a = unmatched(a, row_of_a);
  diff.unmatched_b = unmatched(b, row_of_b);
  diff.a = std::move(a);
  diff.b = std::move(b);
  const Ancestors ancestors(diff, row_of_b);
  for (size_t i = 0; i < diff.rows.size(); ++i) {
    if (diff.rows[i].difference.is_within) continue;
    diff.differing.push_back(i);
    ancestors.judge(&diff.rows[i]);
    if (diff.rows[i].is_culprit) diff.culprits.push_back(i);
  }
  return diff;
}

}  // namespace petrel::extension
