// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/match_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "extension/diff/replaced_nodes.h"

namespace petrel::extension {
namespace {

// What is cheap to compare of a value: none of it depends on the order of elements.
struct Sketch {
  size_t elements = 0;
  std::vector<int64_t> dims;  // above 1, ascending
  double mean = 0;
  double rms = 0;
  double magnitude = 0;  // the mean one
  double least = 0;
  double largest = 0;
};

Sketch sketch_of(const ValueTrace& trace, size_t place) {
  const TraceValue& value = trace.values[place];
  Sketch sketch;
  sketch.dims = dims_of(value);
  const Numbers numbers(value);
  sketch.elements = numbers.size();
  double sum = 0;
  double squares = 0;
  double magnitudes = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double number = numbers[i];
    sum += number;
    squares += number * number;
    magnitudes += std::fabs(number);
    sketch.least = std::min(sketch.least, number);
    sketch.largest = std::max(sketch.largest, number);
  }
  const auto count = static_cast<double>(std::max<size_t>(numbers.size(), 1));
  sketch.mean = sum / count;
  sketch.rms = std::sqrt(squares / count);
  sketch.magnitude = magnitudes / count;
  return sketch;
}

// NaN is like nothing.
bool are_like(const Sketch& a, const Sketch& b, double tolerance) {
  const double room = tolerance * std::max(a.rms, b.rms);
  return std::fabs(a.rms - b.rms) <= room && std::fabs(a.mean - b.mean) <= room &&
         std::fabs(a.magnitude - b.magnitude) <= room && std::fabs(a.least - b.least) <= 4 * room &&
         std::fabs(a.largest - b.largest) <= 4 * room;
}

// Values that can be compared, each after those that it is computed from, starting from
// the outputs: operands in their order, whatever order the program runs them in.
std::vector<size_t> dataflow_order(const ValueTrace& trace) {
  std::vector<size_t> order;
  std::vector<bool> is_known(trace.values.size(), false);
  std::vector<std::pair<size_t, size_t>> path;  // value, operands that were looked at
  const auto visit = [&](size_t root) {
    if (is_known[root]) return;
    is_known[root] = true;
    path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [value, next] = path.back();
      const std::vector<size_t>& inputs = trace.values[value].inputs;
      if (next == inputs.size()) {
        const TraceValue& done = trace.values[value];
        if (done.is_seen && !done.is_input) order.push_back(value);
        path.pop_back();
        continue;
      }
      const size_t input = inputs[next++];
      if (is_known[input]) continue;
      is_known[input] = true;
      path.emplace_back(input, 0);
    }
  };
  for (const size_t output : trace.outputs) visit(output);
  for (size_t value = 0; value < trace.values.size(); ++value) visit(value);
  return order;
}

// The same ones as they were made, rounds of loops one after another.
std::vector<size_t> order_of_run(const ValueTrace& trace) {
  std::vector<size_t> order;
  for (size_t i = 0; i < trace.values.size(); ++i) {
    if (trace.values[i].is_seen && !trace.values[i].is_input) order.push_back(i);
  }
  return order;
}

struct Alignment {
  int sum = 0;  // of scores
  std::vector<std::pair<size_t, size_t>> pairs;
};

class Aligner {
 public:
  Aligner(const ValueTrace& a, const ValueTrace& b)
      : a_(a), b_(b), a_sketches_(sketches_of(a)), b_sketches_(sketches_of(b)) {}

  // The pairs of the largest sum of scores that cross nowhere in these orders.
  Alignment align(const std::vector<size_t>& left, const std::vector<size_t>& right) const {
    const size_t rows = left.size();
    const size_t columns = right.size();
    std::vector<int> above(columns + 1, 0);
    std::vector<int> row(columns + 1, 0);
    std::vector<Step> steps((rows + 1) * (columns + 1), Step::kEnd);
    for (size_t i = 1; i <= rows; ++i) {
      row[0] = 0;
      for (size_t j = 1; j <= columns; ++j) {
        Step& step = steps[i * (columns + 1) + j];
        row[j] = above[j];
        step = Step::kSkipLeft;
        if (row[j - 1] > row[j]) {
          row[j] = row[j - 1];
          step = Step::kSkipRight;
        }
        const int both = above[j - 1] + score(left[i - 1], right[j - 1]);
        if (both > row[j]) {
          row[j] = both;
          step = Step::kPair;
        }
      }
      std::swap(above, row);
    }
    Alignment alignment;
    alignment.sum = above[columns];
    size_t i = rows;
    size_t j = columns;
    while (i > 0 && j > 0) {
      switch (steps[i * (columns + 1) + j]) {
        case Step::kPair:
          alignment.pairs.emplace_back(left[--i], right[--j]);
          break;
        case Step::kSkipLeft:
          --i;
          break;
        default:
          --j;
      }
    }
    return alignment;
  }

 private:
  enum class Step : uint8_t { kEnd, kPair, kSkipLeft, kSkipRight };
  static constexpr int kNever = -1000;

  // Of all values; those that are not compared have an empty one.
  static std::vector<Sketch> sketches_of(const ValueTrace& trace) {
    std::vector<Sketch> sketches(trace.values.size());
    for (const size_t value : order_of_run(trace)) sketches[value] = sketch_of(trace, value);
    return sketches;
  }

  // Whether `plain` is the clamp that `fused` has in it.
  static bool is_its_clamp(const ValueTrace& trace, const TraceValue& plain,
                           const TraceValue& fused) {
    if (!fused.has_clamp || plain.family != "clamp" || plain.inputs.size() != 1) return false;
    return trace.values[plain.inputs[0]].family == fused.family;
  }

  // Positive for values that may be one, more for those that look it.
  int score(size_t left, size_t right) const {
    const Sketch& x = a_sketches_[left];
    const Sketch& y = b_sketches_[right];
    if (x.elements != y.elements) return kNever;
    const TraceValue& a = a_.values[left];
    const TraceValue& b = b_.values[right];
    const int sum = x.dims == y.dims ? 2 : 0;
    const double tolerance = a.is_rounded || b.is_rounded ? 0.05
                             : a.is_narrow || b.is_narrow ? 0.01
                                                          : 1e-3;
    const bool like = are_like(x, y, tolerance);
    if (is_its_clamp(a_, a, b) || is_its_clamp(b_, b, a)) return sum + (like ? 7 : 5);
    const bool moves =
        a.family == "move" || b.family == "move" || a.family == "convert" || b.family == "convert";
    // A move says nothing by its numbers, which others have as well.
    if (moves) return a.op == b.op && a.array.shape == b.array.shape ? sum + 2 : kNever;
    if (a.family == b.family) return sum + (a.has_clamp == b.has_clamp ? 2 : 1) + (like ? 4 : 0);
    // What one program does in one step and the other in several ends with the same numbers.
    return like && x.elements > 1 ? sum + 3 : kNever;
  }

  const ValueTrace& a_;
  const ValueTrace& b_;
  const std::vector<Sketch> a_sketches_;
  const std::vector<Sketch> b_sketches_;
};

// The order of dataflow is one for all schedules of a program; that of the run tells rounds of a
// loop apart, whose values look alike.
std::vector<std::pair<size_t, size_t>> aligned(const ValueTrace& a, const ValueTrace& b) {
  const Aligner aligner(a, b);
  Alignment by_dataflow = aligner.align(dataflow_order(a), dataflow_order(b));
  Alignment by_run = aligner.align(order_of_run(a), order_of_run(b));
  return by_run.sum > by_dataflow.sum ? std::move(by_run.pairs) : std::move(by_dataflow.pairs);
}

int64_t count(const TraceValue& value) {
  int64_t count = 1;
  for (const int64_t size : value.array.shape) count *= size;
  return count;
}

// Whether their elements lie in one order: kernels have no other, and XNNPACK has images in theirs.
bool are_in_order(const TraceValue& a, const TraceValue& b) {
  constexpr size_t kImageRank = 4;
  return a.array.shape == b.array.shape && a.array.shape.size() < kImageRank;
}

// A conversion stands for the value that it converts, moved before or not. Where only the
// second program has it, that value's counterpart is its own.
void match_conversions(const ValueTrace& a, const ValueTrace& b, Matching* matching) {
  std::map<size_t, size_t> counterparts;
  for (const auto& [first, second] : matching->pairs) counterparts[second] = first;
  for (size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
    if (!a.values[i].is_input || !b.values[i].is_input) break;  // they come first
    counterparts[i] = i;
  }
  for (size_t i = 0; i < b.values.size(); ++i) {
    const TraceValue& value = b.values[i];
    const bool moves = value.family == "move";
    if ((value.family != "convert" && !moves) || counterparts.count(i) != 0) continue;
    if (value.inputs.size() != 1) continue;
    const auto counterpart = counterparts.find(value.inputs[0]);
    if (counterpart == counterparts.end()) continue;
    const TraceValue& first = a.values[counterpart->second];
    const bool is_view = value.array.data.size() > 0 &&
                         are_in_order(first, b.values[value.inputs[0]]) &&
                         count(first) == count(value) && !moves;
    if (dims_of(first) != dims_of(value) && !is_view) continue;
    counterparts[i] = counterpart->second;
    if (moves || !value.is_seen || !has_numbers(value)) continue;
    matching->pairs.emplace_back(counterpart->second, i);
  }
}

bool have_same_operators(const ValueTrace& a, const ValueTrace& b) {
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    [](const TraceValue& x, const TraceValue& y) {
                      return x.op == y.op && x.array.shape == y.array.shape &&
                             x.array.type == y.array.type && x.inputs == y.inputs &&
                             x.is_seen == y.is_seen;
                    });
}

}  // namespace

std::vector<int64_t> dims_of(const TraceValue& value) {
  std::vector<int64_t> dims;
  for (const int64_t size : value.array.shape) {
    if (size != 1) dims.push_back(size);
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

bool has_numbers(const TraceValue& value) {
  using runtime::ScalarType;
  const ScalarType type = value.array.type;
  return value.scale.has_value() || type == ScalarType::Float || type == ScalarType::Half ||
         type == ScalarType::BFloat16;
}

Matching match_values(const ValueTrace& a, const ValueTrace& b, CompareSteps* steps) {
  Matching matching;
  if (have_same_operators(a, b)) {
    for (size_t i = 0; i < a.values.size(); ++i) {
      if (!a.values[i].is_input && a.values[i].is_seen) matching.pairs.emplace_back(i, i);
    }
    return matching;
  }
  matching.how = Matching::How::kAlignment;
  matching.pairs = aligned(a, b);
  match_conversions(a, b, &matching);
  const ValuePairs outputs = unmatched_outputs(a, b, matching.pairs, steps);
  matching.pairs.insert(matching.pairs.end(), outputs.begin(), outputs.end());
  std::sort(matching.pairs.begin(), matching.pairs.end(),
            [](const auto& x, const auto& y) { return x.second < y.second; });
  return matching;
}

std::string to_string(Matching::How how) {
  switch (how) {
    case Matching::How::kSameOperators:
      return "operators, which are the same";
    case Matching::How::kAlignment:
      return "alignment of operators";
  }
  return "";
}

}  // namespace petrel::extension
