// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/diff.h"

#include <algorithm>
#include <set>
#include <utility>

#include "extension/diff/replaced_nodes.h"

namespace petrel::extension {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

// What the rows of a comparison say of values that follow from others.
class Rows {
 public:
  Rows(const ValueTrace& a, const ValueTrace& b, const std::vector<DiffRow>& rows)
      : a_(a),
        b_(b),
        rows_(rows),
        is_matched_(a.values.size(), false),
        row_of_(b.values.size(), kNone) {
    for (size_t i = 0; i < rows.size(); ++i) {
      is_matched_[rows[i].a] = true;
      row_of_[rows[i].b] = i;
    }
  }

  // Whether it differs and nothing does that it was computed from.
  bool is_culprit(const DiffRow& row) const {
    if (row.difference.is_within) return false;
    const std::set<size_t> origins = matched_before(b_, row.b, nullptr);
    return std::all_of(origins.begin(), origins.end(), [&](size_t value) {
      return row_of_[value] == kNone || rows_[row_of_[value]].difference.is_within;
    });
  }

  // Whether the two values have nothing in common that they were computed from: then they
  // only look like one value.
  bool is_mistaken(const DiffRow& row) const {
    const std::set<size_t> first = matched_before(a_, row.a, nullptr);
    std::set<size_t> second;  // as values of the first program
    for (const size_t value : matched_before(b_, row.b, nullptr)) {
      second.insert(row_of_[value] == kNone ? value : rows_[row_of_[value]].a);
    }
    if (first.empty() && second.empty()) return false;
    if (second.count(row.a) != 0) return false;  // a conversion of the same value
    return std::none_of(first.begin(), first.end(),
                        [&](size_t value) { return second.count(value) != 0; });
  }

  std::vector<size_t> between(const DiffRow& row) const {
    std::vector<size_t> values;
    matched_before(b_, row.b, &values);
    std::sort(values.begin(), values.end());
    return values;
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

  // The nearest values with a row, and inputs, that `value` follows from; those on the way
  // go to `others`.
  std::set<size_t> matched_before(const ValueTrace& trace, size_t value,
                                  std::vector<size_t>* others) const {
    std::set<size_t> found;
    std::set<size_t> seen;
    std::vector<size_t> left = trace.values[value].inputs;
    while (!left.empty()) {
      const size_t next = left.back();
      left.pop_back();
      if (!seen.insert(next).second) continue;
      if (is_known(trace, next)) {
        found.insert(next);
        continue;
      }
      if (others != nullptr) others->push_back(next);
      const std::vector<size_t>& inputs = trace.values[next].inputs;
      left.insert(left.end(), inputs.begin(), inputs.end());
    }
    return found;
  }

  const ValueTrace& a_;
  const ValueTrace& b_;
  const std::vector<DiffRow>& rows_;
  std::vector<bool> is_matched_;
  std::vector<size_t> row_of_;
};

bool is_output(const ValueTrace& trace, size_t value) {
  return std::find(trace.outputs.begin(), trace.outputs.end(), value) != trace.outputs.end();
}

// Takes out culprits that are none, until all are; each time something goes. What both programs
// return is one value, whatever it looks like.
void drop_mistakes(const ValueTrace& a, const ValueTrace& b, std::vector<DiffRow>* rows) {
  for (;;) {
    std::vector<DiffRow> kept;
    const Rows known(a, b, *rows);
    for (const DiffRow& row : *rows) {
      const bool is_sure = is_output(a, row.a) && is_output(b, row.b);
      const bool is_wrong = b.values[row.b].is_part || known.is_mistaken(row);
      if (is_sure || !known.is_culprit(row) || !is_wrong) kept.push_back(row);
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
                  std::vector<DiffRow>* rows) {
  for (;;) {
    const Rows known(a, b, *rows);
    const ValuePairs pairs = pairs_of(*rows);
    std::set<std::pair<size_t, size_t>> found;
    for (const DiffRow& row : *rows) {
      if (!known.is_culprit(row)) continue;
      for (const auto& pair : replaced_nodes(a, b, pairs, {row.a, row.b})) found.insert(pair);
    }
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
  const Matching matching = match_values(a, b);
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
    drop_mistakes(diff.a, diff.b, &diff.rows);
    add_replaced(diff.a, diff.b, row_of, &diff.rows);
  }
  const Rows known(diff.a, diff.b, diff.rows);
  diff.unmatched_a = known.unmatched(diff.a);
  diff.unmatched_b = known.unmatched(diff.b);
  for (size_t i = 0; i < diff.rows.size(); ++i) {
    DiffRow& row = diff.rows[i];
    if (row.difference.is_within) continue;
    diff.differing.push_back(i);
    row.between = known.between(row);
    row.is_culprit = known.is_culprit(row);
    if (row.is_culprit) diff.culprits.push_back(i);
  }
  return diff;
}

}  // namespace petrel::extension
