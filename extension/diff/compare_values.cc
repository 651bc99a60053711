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

// A value whose axis `from` was put before axis `to`, as the places that its elements had.
struct MovedAxis {
  Dims dims;
  std::vector<size_t> places;
};

MovedAxis move_axis(const Dims& dims, size_t from, size_t to) {
  std::vector<size_t> axes(dims.size());
  for (size_t d = 0; d < axes.size(); ++d) axes[d] = d;
  axes.erase(axes.begin() + static_cast<ptrdiff_t>(from));
  axes.insert(axes.begin() + static_cast<ptrdiff_t>(to), from);
  std::vector<size_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * static_cast<size_t>(dims[d]);
  }
  MovedAxis moved;
  size_t count = 1;
  for (const size_t axis : axes) {
    moved.dims.push_back(dims[axis]);
    count *= static_cast<size_t>(dims[axis]);
  }
  if (moved.dims.empty()) return moved;
  std::vector<int64_t> index(dims.size(), 0);
  moved.places.reserve(count);
  for (size_t n = 0; n < count; ++n) {
    size_t place = 0;
    for (size_t d = 0; d < axes.size(); ++d) {
      place += static_cast<size_t>(index[d]) * strides[axes[d]];
    }
    moved.places.push_back(place);
    for (size_t d = axes.size(); d-- > 0;) {
      if (++index[d] < moved.dims[d]) break;
      index[d] = 0;
    }
  }
  return moved;
}

// Orders of the elements of `b` in which its dims are those of `a`. Empty for "as they are".
std::vector<std::vector<size_t>> orders(const Dims& a, const Dims& b) {
  std::vector<std::vector<size_t>> found;
  if (a == b) found.emplace_back();
  for (size_t axis = 0; axis + 1 < b.size(); ++axis) {
    const size_t last = b.size() - 1;
    MovedAxis channels_first = move_axis(b, last, axis);
    if (channels_first.dims == a) found.push_back(std::move(channels_first.places));
    MovedAxis channels_last = move_axis(b, axis, last);
    if (axis + 1 < last && channels_last.dims == a) {
      found.push_back(std::move(channels_last.places));
    }
  }
  if (found.empty()) found.emplace_back();
  return found;
}

double square(double x) { return x * x; }

// The numbers of one order, and whether they stay within `room(element of a)`.
class Comparison {
 public:
  Comparison(double atol, double rtol, double rms) : atol_(atol), rtol_(rtol), rms_(rms) {}

  void add(size_t place, double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) {
      if (std::isfinite(a)) signal_ += square(a);
      return;
    }
    if (!std::isfinite(a) || !std::isfinite(b)) {
      ++result_.only_nan;
      note(place, a, b);
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
    if (is_beyond) note(place, a, b);
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
  double signal_ = 0;
  double noise_ = 0;
  Difference result_;
};

double rms_of(const std::vector<double>& numbers) {
  double squares = 0;
  size_t count = 0;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    squares += square(number);
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

}  // namespace

Difference compare_values(const TraceValue& a, const TraceValue& b, const Tolerance& tolerance) {
  const std::vector<double> first = a.numbers();
  const std::vector<double> second = b.numbers();
  const bool is_rounded = a.is_rounded || b.is_rounded;
  const bool by_element =
      tolerance.atol || tolerance.rtol || (!is_rounded && !tolerance.min_sqnr.has_value());
  const double atol = tolerance.atol.value_or(tolerance.rtol ? 0 : kAtol);
  const double rtol = tolerance.rtol.value_or(tolerance.atol ? 0 : kRtol);
  const double rms = rms_of(first);
  Difference best;
  double least = std::numeric_limits<double>::infinity();
  bool is_first = true;
  for (const std::vector<size_t>& order :
       orders(without_ones(a.array.shape), without_ones(b.array.shape))) {
    Comparison comparison(atol, rtol, rms);
    for (size_t i = 0; i < first.size(); ++i) {
      comparison.add(i, first[i], second[order.empty() ? i : order[i]]);
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
  const double min_sqnr = tolerance.min_sqnr.value_or(kMinSqnrOfRounded);
  best.is_within = best.only_nan == 0;
  if (by_element && best.beyond > 0) best.is_within = false;
  if ((tolerance.min_sqnr || !by_element) && best.sqnr < min_sqnr) best.is_within = false;
  return best;
}

}  // namespace petrel::extension
