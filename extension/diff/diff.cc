// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/diff.h"

#include <algorithm>
#include <set>
#include <utility>

#include "extension/diff/replaced_nodes.h"

namespace petrel::extension {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

// Inputs of all values.
uint64_t count_inputs(const ValueTrace& trace) {
  uint64_t count = 0;
  for (const TraceValue& value : trace.values) count += value.inputs.size();
  return count;
}

// What the rows of a comparison say of values that follow from others.
class Rows {
 public:
  Rows(const ValueTrace& a, const ValueTrace& b, const std::vector<DiffRow>& rows)
      : a_(a),
        b_(b),
        rows_(rows),
        is_matched_(a.values.size(), false),
        row_of_(b.values.size(), kNone),
        differs_(b.values.size(), false) {
    for (size_t i = 0; i < rows.size(); ++i) {
      is_matched_[rows[i].a] = true;
      row_of_[rows[i].b] = i;
    }
    for (size_t i = 0; i < b.values.size(); ++i) {
      differs_[i] = row_of_[i] != kNone ? !rows[row_of_[i]].difference.is_within
                                        : !b.values[i].is_input && follows_from_difference(i);
    }
  }

  // Whether it differs and nothing does that it was computed from.
  bool is_culprit(const DiffRow& row) const {
    return !row.difference.is_within && !follows_from_difference(row.b);
  }

  // Whether the two values have nothing in common that they were computed from: then they
  // only look like one value. False where there are no steps to find that out.
  bool is_mistaken(const DiffRow& row, CompareSteps* steps) const {
    const std::set<size_t> first = matched_before(a_, row.a, steps);
    std::set<size_t> second;  // as values of the first program
    for (const size_t value : matched_before(b_, row.b, steps)) {
      second.insert(row_of_[value] == kNone ? value : rows_[row_of_[value]].a);
    }
    if (!steps->take() || (first.empty() && second.empty())) return false;
    if (second.count(row.a) != 0) return false;  // a conversion of the same value
    return std::none_of(first.begin(), first.end(),
                        [&](size_t value) { return second.count(value) != 0; });
  }

  // The last `most` values without a row that this one follows from through others of them.
  std::vector<size_t> between(const DiffRow& row, size_t most) const {
    std::set<size_t> left = unknown_inputs(row.b);
    std::set<size_t> values;
    while (!left.empty() && values.size() < most) {
      const size_t last = *left.rbegin();
      left.erase(last);
      values.insert(last);
      left.merge(unknown_inputs(last));
    }
    return {values.begin(), values.end()};
  }

  // Those of one program that are in no row.
  std::vector<size_t> unmatched(const ValueTrace& trace) const {
    std::vector<size_t> values;
    for (size_t i = 0; i < trace.values.size(); ++i) {
      if (!is_known(trace, i)) values.push_back(i);
    }
    return values;
  }

 private:
  // Inputs of the method have no row, and are alike by definition.
  bool is_known(const ValueTrace& trace, size_t value) const {
    return trace.values[value].is_input ||
           (&trace == &a_ ? is_matched_[value] : row_of_[value] != kNone);
  }

  // Whether one of the nearest values with a row that `value` follows from differs.
  bool follows_from_difference(size_t value) const {
    const std::vector<size_t>& inputs = b_.values[value].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](size_t input) { return differs_[input]; });
  }

  std::set<size_t> unknown_inputs(size_t value) const {
    std::set<size_t> unknown;
    for (const size_t input : b_.values[value].inputs) {
      if (!is_known(b_, input)) unknown.insert(input);
    }
    return unknown;
  }

  // The nearest values with a row, and inputs, that `value` follows from.
  std::set<size_t> matched_before(const ValueTrace& trace, size_t value,
                                  CompareSteps* steps) const {
    std::set<size_t> found;
    std::vector<bool> is_seen(trace.values.size(), false);
    std::vector<size_t> left = {value};
    if (!steps->take(1 + is_seen.size() / 64)) return found;
    while (!left.empty()) {
      const std::vector<size_t>& inputs = trace.values[left.back()].inputs;
      left.pop_back();
      if (!steps->take(1 + inputs.size())) break;
      for (const size_t input : inputs) {
        if (is_seen[input]) continue;
        is_seen[input] = true;
        if (is_known(trace, input)) {
          found.insert(input);
        } else {
          left.push_back(input);
        }
      }
    }
    return found;
  }

  const ValueTrace& a_;
  const ValueTrace& b_;
  const std::vector<DiffRow>& rows_;
  std::vector<bool> is_matched_;
  std::vector<size_t> row_of_;
  // Of the second program: its row does, or without one something that it follows from.
  std::vector<bool> differs_;
};

std::vector<bool> outputs_of(const ValueTrace& trace) {
  std::vector<bool> is_output(trace.values.size(), false);
  for (const size_t value : trace.outputs) is_output[value] = true;
  return is_output;
}

// Takes out culprits that are none, until all are; each time something goes. What both programs
// return is one value, whatever it looks like.
void drop_mistakes(const ValueTrace& a, const ValueTrace& b, std::vector<DiffRow>* rows,
                   CompareSteps* steps) {
  const std::vector<bool> is_output_a = outputs_of(a);
  const std::vector<bool> is_output_b = outputs_of(b);
  const uint64_t inputs = count_inputs(b);
  while (steps->take(inputs + a.values.size() + b.values.size())) {
    std::vector<DiffRow> kept;
    const Rows known(a, b, *rows);
    for (const DiffRow& row : *rows) {
      const bool may_go = known.is_culprit(row) && !(is_output_a[row.a] && is_output_b[row.b]);
      if (!may_go || !(b.values[row.b].is_part || known.is_mistaken(row, steps))) {
        kept.push_back(row);
      }
    }
    if (kept.size() == rows->size()) return;
    *rows = std::move(kept);
  }
}

ValuePairs pairs_of(const std::vector<DiffRow>& rows) {
  ValuePairs pairs;
  for (const DiffRow& row : rows) pairs.emplace_back(row.a, row.b);
  return pairs;
}

// Adds what stands before nodes whose results differ, until nothing new does.
template <typename RowOf>
void add_replaced(const ValueTrace& a, const ValueTrace& b, const RowOf& row_of,
                  std::vector<DiffRow>* rows, CompareSteps* steps) {
  const uint64_t inputs = count_inputs(b);
  while (steps->take(inputs + a.values.size() + b.values.size())) {
    const Rows known(a, b, *rows);
    ValuePairs culprits;
    for (const DiffRow& row : *rows) {
      if (known.is_culprit(row)) culprits.emplace_back(row.a, row.b);
    }
    const ValuePairs found = replaced_nodes(a, b, pairs_of(*rows), culprits, steps);
    if (found.empty()) return;
    std::set<size_t> taken;  // of the second program, once each
    for (const auto& pair : found) {
      if (taken.insert(pair.second).second) rows->push_back(row_of(pair));
    }
    std::sort(rows->begin(), rows->end(),
              [](const DiffRow& x, const DiffRow& y) { return x.b < y.b; });
  }
}

}  // namespace

Diff diff_traces(ValueTrace a, ValueTrace b, const Tolerance& tolerance) {
  Diff diff;
  CompareSteps steps;
  const Matching matching = match_values(a, b, &steps);
  diff.how = matching.how;
  diff.a = std::move(a);
  diff.b = std::move(b);
  const auto row_of = [&](const std::pair<size_t, size_t>& pair) {
    DiffRow row;
    row.a = pair.first;
    row.b = pair.second;
    row.difference = compare_values(diff.a.values[row.a], diff.b.values[row.b], tolerance);
    return row;
  };
  for (const auto& pair : matching.pairs) diff.rows.push_back(row_of(pair));
  if (matching.how != Matching::How::kSameOperators) {
    drop_mistakes(diff.a, diff.b, &diff.rows, &steps);
    add_replaced(diff.a, diff.b, row_of, &diff.rows, &steps);
  }
  const Rows known(diff.a, diff.b, diff.rows);
  diff.unmatched_a = known.unmatched(diff.a);
  diff.unmatched_b = known.unmatched(diff.b);
  size_t most_between = kMostBetweenOfAll;
  for (size_t i = 0; i < diff.rows.size(); ++i) {
    DiffRow& row = diff.rows[i];
    if (row.difference.is_within) continue;
    diff.differing.push_back(i);
    row.between = known.between(row, std::min(kMostBetween, most_between));
    most_between -= row.between.size();
    row.is_culprit = known.is_culprit(row);
    if (row.is_culprit) diff.culprits.push_back(i);
  }
  return diff;
}

}  // namespace petrel::extension
