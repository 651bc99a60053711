// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace petrel::exir {
namespace {

constexpr size_t kBins = 2048;
constexpr size_t kBlock = 256;  // elements whose bins are found together
// Zeros are counted in several places in turn: half of what relu makes is zeros, and each count
// would wait for the one before.
constexpr size_t kZeroSlots = 8;
// Ends that are tried on either side.
constexpr size_t kSteps = 256;

// Sums over bins, each taken at its middle.
struct Moments {
  double count = 0, sum = 0, squares = 0;

  // Of what these bins lose when all of them become `end`.
  double cut_to(double end) const { return squares - 2 * end * sum + end * end * count; }
};

Moments operator-(const Moments& a, const Moments& b) {
  return {a.count - b.count, a.sum - b.sum, a.squares - b.squares};
}

}  // namespace

Histogram::Histogram(const Range& range)
    : range_{std::min(range.min, 0.0f), std::max(range.max, 0.0f)},
      width_((static_cast<double>(range_.max) - static_cast<double>(range_.min)) / kBins),
      bins_per_one_(width_ == 0 ? 0 : 1 / width_),
      counts_(kBins + kZeroSlots, 0) {}

inline int32_t Histogram::bin_of(double number) const {
  const double place = (number - static_cast<double>(range_.min)) * bins_per_one_;
  return static_cast<int32_t>(std::min(std::max(0.0, place), static_cast<double>(kBins - 1)));
}

void Histogram::add(const float* elements, size_t count) {
  if (width_ == 0) return;
  std::array<int32_t, kBlock> bins, slots;
  std::array<float, kBlock> rest;
  uint64_t below = 0, zeros = 0;
  for (size_t first = 0; first < count; first += kBlock) {
    const size_t size = std::min(kBlock, count - first);
    const float* block = elements + first;
    if (size < kBlock) {
      std::copy(block, block + size, rest.begin());
      std::fill(rest.begin() + static_cast<ptrdiff_t>(size), rest.end(), 0.0f);
      block = rest.data();
    }
    // Loops of one length and without branches, of which compilers make vectors.
    int32_t negative = 0, zero = 0;
    for (size_t i = 0; i < kBlock; ++i) bins[i] = bin_of(static_cast<double>(block[i]));
    for (size_t i = 0; i < kBlock; ++i) {
      const auto slot = static_cast<int32_t>(kBins + i % kZeroSlots);
      slots[i] = block[i] == 0 ? slot : bins[i];
      negative += block[i] < 0 ? 1 : 0;
      zero += block[i] == 0 ? 1 : 0;
    }
    for (size_t i = 0; i < size; ++i) ++counts_[static_cast<size_t>(slots[i])];
    below += static_cast<uint64_t>(negative);
    zeros += static_cast<uint64_t>(zero) - (kBlock - size);
  }
  below_ += below;
  above_ += count - below - zeros;
}

void Histogram::add(const Histogram& other) {
  const bool is_same = range_.min == other.range_.min && range_.max == other.range_.max;
  if (width_ == 0) return;
  for (size_t i = 0; i < kBins; ++i) {
    if (other.counts_[i] == 0) continue;
    const double middle =
        static_cast<double>(other.range_.min) + (static_cast<double>(i) + 0.5) * other.width_;
    counts_[is_same ? i : static_cast<size_t>(bin_of(middle))] += other.counts_[i];
  }
  below_ += other.below_;
  above_ += other.above_;
}

Range Histogram::best_range() const {
  // before[i]: of the bins below bin i.
  std::vector<Moments> before(kBins + 1);
  for (size_t i = 0; i < kBins; ++i) {
    const double x = static_cast<double>(range_.min) + (static_cast<double>(i) + 0.5) * width_;
    const auto n = static_cast<double>(counts_[i]);
    before[i + 1] = {before[i].count + n, before[i].sum + n * x, before[i].squares + n * x * x};
  }
  const Moments& all = before[kBins];
  if (all.count == 0) return range_;
  const auto min = static_cast<double>(range_.min);
  const auto max = static_cast<double>(range_.max);
  Range best = range_;
  double least = std::numeric_limits<double>::infinity();
  // Ends at fractions of what lies below and above 0, which stays inside.
  for (size_t a = 0; a <= (min == 0 ? 0 : kSteps); ++a) {
    const double low = min * static_cast<double>(kSteps - a) / kSteps;
    const auto first = static_cast<size_t>((low - min) / width_);
    for (size_t b = 0; b <= (max == 0 ? 0 : kSteps); ++b) {
      const double high = max * static_cast<double>(kSteps - b) / kSteps;
      const double end = std::ceil((high - min) / width_);
      const size_t last = std::min(kBins, std::max(first, static_cast<size_t>(end)));
      const double scale = (high - low) / static_cast<double>(kMostLevel - kLeastLevel);
      // Rounding errors are spread evenly over a level.
      const double error = (before[last] - before[first]).count * scale * scale / 12 +
                           before[first].cut_to(low) + (all - before[last]).cut_to(high);
      if (error >= least) continue;
      least = error;
      best = {static_cast<float>(low), static_cast<float>(high)};
    }
  }
  return best;
}

Range Histogram::percentile_range(double percent) const {
  const double cut = 1 - percent / 100;
  // Bins whose numbers, with those further out, are not more than may be cut.
  const auto bins_to_cut = [&](uint64_t count, const auto& bin) {
    const double most = static_cast<double>(count) * cut;
    uint64_t passed = 0;
    for (size_t i = 0; i < kBins; ++i) {
      passed += counts_[bin(i)];
      if (static_cast<double>(passed) > most || passed == count) return i;
    }
    return size_t{0};
  };
  const size_t low = bins_to_cut(below_, [](size_t i) { return i; });
  const size_t high = bins_to_cut(above_, [](size_t i) { return kBins - 1 - i; });
  Range part = range_;
  const auto steps = [&](size_t bins) { return static_cast<double>(bins) * width_; };
  if (low > 0) part.min = static_cast<float>(static_cast<double>(range_.min) + steps(low));
  if (high > 0) part.max = static_cast<float>(static_cast<double>(range_.max) - steps(high));
  part.include({0, 0});
  return part;
}

Range Histogram::part(const RangeChoice& choice) const {
  switch (choice.kind) {
    case RangeChoice::Kind::kMinMax:
    case RangeChoice::Kind::kByOutputs:
      return range_;
    case RangeChoice::Kind::kLeastError:
      return best_range();
    case RangeChoice::Kind::kPercentile:
      return percentile_range(choice.percent);
  }
  return range_;
}

}  // namespace petrel::exir
