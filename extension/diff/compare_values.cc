// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/compare_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace petrel::extension {
namespace {

using Dims = std::vector<int64_t>;

Dims without_ones(const Dims& shape) {
  Dims dims;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(dims),
               [](int64_t size) { return size != 1; });
  return dims;
}

// Goes through a value with these dims after its axes were put in the order `axes`: the place of
// each element before that.
class Walk {
 public:
  Walk(const Dims& dims, const std::vector<size_t>& axes) : index_(axes.size(), 0) {
    std::vector<size_t> strides(dims.size(), 1);
    for (size_t d = dims.size(); d-- > 1;) {
      strides[d - 1] = strides[d] * static_cast<size_t>(dims[d]);
    }
    for (const size_t axis : axes) {
      sizes_.push_back(static_cast<size_t>(dims[axis]));
      strides_.push_back(strides[axis]);
    }
  }

  size_t place() const { return place_; }

  void next() {
    for (size_t d = index_.size(); d-- > 0;) {
      place_ += strides_[d];
      if (++index_[d] < sizes_[d]) return;
      place_ -= sizes_[d] * strides_[d];
      index_[d] = 0;
    }
  }

 private:
  std::vector<size_t> index_, sizes_, strides_;
  size_t place_ = 0;
};

// Ranks above it are compared as they are, or with the channels last.
constexpr size_t kMaxRankOfAllOrders = 4;

// Orders of the axes of `b` in which its dims are those of `a`. One that is empty stands for
// the elements as they are, where no order fits.
std::vector<std::vector<size_t>> orders(const Dims& a, const Dims& b) {
  std::vector<std::vector<size_t>> found;
  std::vector<size_t> axes(b.size());
  for (size_t d = 0; d < axes.size(); ++d) axes[d] = d;
  const auto try_axes = [&] {
    bool fits = a.size() == b.size();
    for (size_t d = 0; fits && d < a.size(); ++d) fits = b[axes[d]] == a[d];
    if (fits) found.push_back(axes);
  };
  if (b.size() > kMaxRankOfAllOrders) {
    try_axes();
    std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
    try_axes();
  } else {
    do {
      try_axes();
    } while (std::next_permutation(axes.begin(), axes.end()));
  }
  if (found.empty()) found.emplace_back();
  return found;
}

// Masks are filled with infinity, or with the largest float where that would make NaN.
bool are_as_good_as_infinite(double a, double b) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return (a >= kLargest && b >= kLargest) || (a <= -kLargest && b <= -kLargest);
}

double square(double x) { return x * x; }

// The numbers of one order, and whether they stay within `room(element of a)`.
class Comparison {
 public:
  Comparison(double atol, double rtol, double rms, bool is_exact)
      : atol_(atol), rtol_(rtol), rms_(rms), is_exact_(is_exact) {}

  void add(size_t place, double a, double b) {
    if (is_exact_) {
      const bool is_same = a == b ? std::signbit(a) == std::signbit(b) : a != a && b != b;
      if (!is_same) note(place, a, b);
    }
    if (a == b || (std::isnan(a) && std::isnan(b)) || are_as_good_as_infinite(a, b)) {
      // Such a number would hide all others.
      if (!are_as_good_as_infinite(a, a) && std::isfinite(a)) signal_ += square(a);
      return;
    }
    if (!std::isfinite(a) || !std::isfinite(b)) {
      ++result_.only_nan;
      if (!is_exact_) note(place, a, b);
      return;
    }
    const double difference = std::fabs(a - b);
    signal_ += square(a);
    noise_ += square(difference);
    const bool is_beyond = difference > atol_ + rtol_ * std::max(std::fabs(a), rms_);
    if (difference > result_.max_abs) {
      result_.max_abs = difference;
      if (result_.beyond == 0 && result_.only_nan == 0 && !is_beyond) set(place, a, b);
    }
    if (is_beyond && !is_exact_) note(place, a, b);
  }

  double noise() const { return noise_; }

  Difference finish() {
    const double infinity = std::numeric_limits<double>::infinity();
    result_.sqnr = noise_ == 0    ? infinity
                   : signal_ == 0 ? -infinity
                                  : 10 * std::log10(signal_ / noise_);
    return result_;
  }

 private:
  void note(size_t place, double a, double b) {
    if (result_.beyond++ == 0) set(place, a, b);
  }
  void set(size_t place, double a, double b) {
    result_.at = place;
    result_.first = a;
    result_.second = b;
  }

  const double atol_;
  const double rtol_;
  const double rms_;
  const bool is_exact_;
  double signal_ = 0;
  double noise_ = 0;
  Difference result_;
};

// Where the second program writes integers with another scale than it reads them with, and
// the first reads them with that one, too, it is the writer that is wrong.
std::optional<ElementScale> scale_as_read(const TraceValue& a, const TraceValue& b) {
  return b.scale && b.read_scale && a.read_scale == b.read_scale ? b.read_scale : b.scale;
}

// Whether only integers are compared, and not what they stand for, which a device does not tell.
bool compares_levels(const TraceValue& a, const TraceValue& b, const Tolerance& tolerance) {
  return tolerance.is_exact && a.array.type == b.array.type;
}

double rms_of(const Numbers& numbers) {
  double squares = 0;
  size_t count = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double number = numbers[i];
    if (!std::isfinite(number)) continue;
    squares += square(number);
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

}  // namespace

Difference compare_values(const TraceValue& a, const TraceValue& b, const Tolerance& tolerance) {
  const bool is_raw = compares_levels(a, b, tolerance);
  const Numbers first(a, is_raw ? std::nullopt : a.scale);
  const Numbers second(b, is_raw ? std::nullopt : scale_as_read(a, b));
  const bool is_rounded = a.is_rounded || b.is_rounded;
  const bool is_narrow = a.is_narrow || b.is_narrow;
  const bool by_element = tolerance.atol || tolerance.rtol ||
                          (!is_rounded && !is_narrow && !tolerance.min_sqnr.has_value());
  const double atol = tolerance.atol.value_or(tolerance.rtol ? 0 : kAtol);
  const double rtol = tolerance.rtol.value_or(tolerance.atol ? 0 : kRtol);
  const double rms = rms_of(first);
  Difference best;
  double least = std::numeric_limits<double>::infinity();
  bool is_first = true;
  const Dims dims = without_ones(b.array.shape);
  for (const std::vector<size_t>& axes : orders(without_ones(a.array.shape), dims)) {
    const bool moves = !std::is_sorted(axes.begin(), axes.end());
    Walk walk(dims, axes);
    Comparison comparison(atol, rtol, rms, tolerance.is_exact);
    for (size_t i = 0; i < first.size(); ++i) {
      comparison.add(i, first[i], second[moves ? walk.place() : i]);
      if (moves) walk.next();
    }
    const double noise = comparison.noise();
    const Difference difference = comparison.finish();
    const bool is_less = difference.only_nan < best.only_nan ||
                         (difference.only_nan == best.only_nan && noise < least);
    if (is_first || is_less) {
      best = difference;
      least = noise;
      is_first = false;
    }
  }
  const double min_sqnr =
      tolerance.min_sqnr.value_or(is_rounded ? kMinSqnrOfRounded : kMinSqnrOfNarrow);
  best.is_within = best.only_nan == 0;
  if (tolerance.is_exact) {
    best.is_within = best.beyond == 0;
    return best;
  }
  if (by_element && best.beyond > 0) best.is_within = false;
  if ((tolerance.min_sqnr || !by_element) && best.sqnr < min_sqnr) best.is_within = false;
  return best;
}

}  // namespace petrel::extension
