// SPDX-License-Identifier: Apache-2.0
//
// Points at which what is written for numbers is tried: an assignment of a number
// to every symbol. The general sample points (size_symbol.h) and, for each two
// sizes that agree at all of those and are not proven to be equal, one where they
// differ:
//
//   s0 in [2, 1000], sizes s0 and min(s0, 998)
//   points     six general ones, all below 998, and s0 = 1000
//
// What is tried can only refute. Sizes that no point tells apart are named; who
// would take one of them for the other must not.
#ifndef PETREL_EXIR_IR_SIZE_POINTS_H_
#define PETREL_EXIR_IR_SIZE_POINTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "exir/ir/size_difference.h"
#include "exir/ir/size_expression.h"
#include "exir/ir/type.h"

namespace petrel::exir {

class SizePoint {
 public:
  explicit SizePoint(size_t sample) : sample_(sample) {}
  explicit SizePoint(SymbolValues values) : values_(std::move(values)) {}

  // nullopt where the point lacks a symbol: unknown ones have values at sample
  // points only.
  std::optional<int64_t> value_of(const SizeExpression& size) const;
  // The type with its sizes as numbers.
  std::optional<TensorType> type_at(const TensorType& type) const;

 private:
  size_t sample_ = 0;
  std::optional<SymbolValues> values_;
};

struct SizePoints {
  std::vector<SizePoint> points;
  // Pairs that are neither proven to be equal nor told apart by the points; the
  // second is a number where the first seems to be that number.
  std::vector<std::pair<SizeExpression, SizeExpression>> alike;
};

// For the sizes of what is tried, with repetitions.
SizePoints points_for(absl::Span<const SizeExpression> sizes);

// The point where `symbols` of `sizes` have these values, and their sample elsewhere.
SizePoint point_at(const SymbolValues& values, absl::Span<const SizeExpression> sizes);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_SIZE_POINTS_H_
