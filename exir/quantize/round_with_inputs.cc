// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/round_with_inputs.h"

#include <algorithm>
#include <cmath>

#include "exir/quantize/group_scheme.h"

namespace petrel::exir {
namespace {

using Matrix = std::vector<double>;  // square, row by row

// Of the mean of the diagonal, added to it: least of these with which the matrix is regular.
constexpr double kDampings[] = {0.01, 0.1, 1};

// The lower factor L of L L^T; empty when the matrix is not positive definite.
Matrix cholesky(Matrix a, size_t k) {
  for (size_t j = 0; j < k; ++j) {
    double* const row = &a[j * k];
    double left = row[j];
    for (size_t i = 0; i < j; ++i) left -= row[i] * row[i];
    if (!(left > 0) || !std::isfinite(left)) return {};
    row[j] = std::sqrt(left);
    for (size_t r = j + 1; r < k; ++r) {
      double* const below = &a[r * k];
      double sum = below[j];
      for (size_t i = 0; i < j; ++i) sum -= below[i] * row[i];
      below[j] = sum / row[j];
    }
  }
  for (size_t j = 0; j < k; ++j) std::fill(&a[j * k] + j + 1, &a[j * k] + k, 0.0);
  return a;
}

// L^-1 of a lower factor.
Matrix invert_lower(const Matrix& lower, size_t k) {
  Matrix inverse(k * k, 0);
  for (size_t r = 0; r < k; ++r) {
    double* const out = &inverse[r * k];
    for (size_t i = 0; i < r; ++i) {
      const double factor = lower[r * k + i];
      if (factor == 0) continue;
      const double* const above = &inverse[i * k];
      for (size_t c = 0; c <= i; ++c) out[c] -= factor * above[c];
    }
    const double scale = 1 / lower[r * k + r];
    for (size_t c = 0; c < r; ++c) out[c] *= scale;
    out[r] = scale;
  }
  return inverse;
}

// The upper factor U with U^T U = G^-1, in the order in which columns are rounded: row i of
// it, divided by its first element, says how much of the error of column i each later
// column takes. G is reversed, so that its lower factor gives it without the inverse.
Matrix upper_of_inverse(const Matrix& gram, size_t k) {
  double mean = 0;
  for (size_t i = 0; i < k; ++i) mean += gram[i * k + i] / static_cast<double>(k);
  if (!(mean > 0)) mean = 1;
  for (const double damping : kDampings) {
    Matrix reversed(k * k);
    for (size_t i = 0; i < k; ++i) {
      for (size_t j = 0; j < k; ++j) reversed[i * k + j] = gram[(k - 1 - i) * k + (k - 1 - j)];
      double& diagonal = reversed[i * k + i];
      // Never seen: without a share in any error.
      if (diagonal == 0) diagonal = mean;
      diagonal += damping * mean;
    }
    const Matrix lower = cholesky(std::move(reversed), k);
    if (lower.empty()) continue;
    const Matrix inverse = invert_lower(lower, k);
    Matrix upper(k * k);
    for (size_t i = 0; i < k; ++i) {
      for (size_t j = 0; j < k; ++j) upper[i * k + j] = inverse[(k - 1 - i) * k + (k - 1 - j)];
    }
    return upper;
  }
  return {};
}

int8_t level_of(double value, double scale) {
  return static_cast<int8_t>(std::clamp(std::nearbyint(value / scale),
                                        static_cast<double>(kLeastLevel4),
                                        static_cast<double>(kMostLevel4)));
}

// One row of a weight; `upper` as upper_of_inverse() says.
void round_row(const float* weight, const Matrix& upper, size_t k, size_t group, int8_t* levels,
               float* scales) {
  std::vector<double> left(weight, weight + k);
  std::vector<float> part(group);
  for (size_t i = 0; i < k; ++i) {
    if (i % group == 0) {
      std::transform(left.begin() + static_cast<ptrdiff_t>(i),
                     left.begin() + static_cast<ptrdiff_t>(i + group), part.begin(),
                     [](double value) { return static_cast<float>(value); });
      scales[i / group] = quantize_group(part.data(), group, levels + i);
    }
    const auto scale = static_cast<double>(scales[i / group]);
    levels[i] = level_of(left[i], scale);
    const double* const row = &upper[i * k];
    const double error = (left[i] - scale * levels[i]) / row[i];
    for (size_t j = i + 1; j < k; ++j) left[j] -= error * row[j];
  }
}

}  // namespace

void GramMatrix::add(const float* rows, size_t count) {
  // Some rows at once: the sums of a large matrix go through memory once for all of them.
  constexpr size_t kRows = 8;
  std::vector<double> block(kRows * size_);
  for (size_t first = 0; first < count; first += kRows) {
    const size_t taken = std::min(kRows, count - first);
    std::copy(rows + first * size_, rows + (first + taken) * size_, block.begin());
    std::fill(block.begin() + static_cast<ptrdiff_t>(taken * size_), block.end(), 0.0);
    for (size_t i = 0; i < size_; ++i) {
      double* const sums = &sums_[i * size_];
      for (size_t r = 0; r < taken; ++r) {
        const double* const row = &block[r * size_];
        const double factor = row[i];
        if (factor == 0) continue;
        for (size_t j = i; j < size_; ++j) sums[j] += factor * row[j];
      }
    }
  }
}

void GramMatrix::add(const GramMatrix& other) {
  for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
}

RoundedWeight round_to_nearest(const std::vector<float>& weight, size_t k, size_t group) {
  RoundedWeight rounded;
  rounded.levels.resize(weight.size());
  rounded.scales.resize(k == 0 ? 0 : weight.size() / group);
  for (size_t g = 0; g < rounded.scales.size(); ++g) {
    rounded.scales[g] = quantize_group(&weight[g * group], group, &rounded.levels[g * group]);
  }
  return rounded;
}

RoundedWeight round_with_inputs(const std::vector<float>& weight, size_t n, size_t k, size_t group,
                                const GramMatrix& gram) {
  const Matrix upper = upper_of_inverse(gram.sums(), k);
  if (upper.empty()) return round_to_nearest(weight, k, group);
  RoundedWeight rounded;
  rounded.levels.resize(n * k);
  rounded.scales.resize(n * (k / group));
  for (size_t row = 0; row < n; ++row) {
    round_row(&weight[row * k], upper, k, group, &rounded.levels[row * k],
              &rounded.scales[row * (k / group)]);
  }
  return rounded;
}

}  // namespace petrel::exir
