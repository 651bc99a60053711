// SPDX-License-Identifier: Apache-2.0
//
// Two runs compared value by value, and where they part: the nodes whose inputs are alike
// and whose result is not.
//
//   const Diff diff = diff_traces(std::move(a), std::move(b), Tolerance());
//   if (!diff.culprits.empty()) name(diff.b.values[diff.rows[diff.culprits[0]].b]);
#ifndef PETREL_EXTENSION_DIFF_DIFF_H_
#define PETREL_EXTENSION_DIFF_DIFF_H_

#include <cstddef>
#include <string>
#include <vector>

#include "extension/diff/compare_values.h"
#include "extension/diff/match_values.h"
#include "extension/diff/value_trace.h"

namespace petrel::extension {

struct DiffRow {
  size_t a = 0;  // places in the traces
  size_t b = 0;
  Difference difference;
  // It differs, and nothing that it was computed from does.
  bool is_culprit = false;
  // Of the second program: what has no match between this value and those that it was
  // computed from, at most kMostBetween of the last ones. The fault may lie in these.
  std::vector<size_t> between;
};

// Of one row, and of all together: each of thousands may follow from the same thousands.
inline constexpr size_t kMostBetween = 64;
inline constexpr size_t kMostBetweenOfAll = 1 << 14;

struct Diff {
  ValueTrace a;
  ValueTrace b;
  Matching::How how = Matching::How::kSameOperators;
  std::vector<DiffRow> rows;  // in the order in which the second program runs
  std::vector<size_t> unmatched_a;
  std::vector<size_t> unmatched_b;
  std::vector<size_t> differing;  // rows
  std::vector<size_t> culprits;   // rows
  // Whose bytes a device has others of than the first program.
  std::vector<std::string> other_parameters;

  bool is_equal() const { return differing.empty(); }
};

Diff diff_traces(ValueTrace a, ValueTrace b, const Tolerance& tolerance);

// The report for people, a line for each row, or for each that differs; and as JSON.
std::string to_text(const Diff& diff, bool all_rows);
std::string to_json(const Diff& diff);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_DIFF_H_
