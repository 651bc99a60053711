// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/size_points.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

namespace petrel::exir {
namespace {

bool differ_at(const SizePoint& point, const SizeExpression& a, const SizeExpression& b) {
  const std::optional<int64_t> left = point.value_of(a);
  const std::optional<int64_t> right = point.value_of(b);
  return left && right && *left != *right;
}

// Adds a point where `a` and `b` differ, unless there is one.
void tell_apart(const SizeExpression& a, const SizeExpression& b,
                absl::Span<const SizeExpression> sizes, SizePoints* out) {
  for (const SizePoint& point : out->points) {
    if (differ_at(point, a, b)) return;
  }
  const std::optional<SymbolValues> values = find_difference(a, b);
  if (values) {
    out->points.push_back(point_at(*values, sizes));
  } else {
    out->alike.emplace_back(a, b);
  }
}

}  // namespace

std::optional<int64_t> SizePoint::value_of(const SizeExpression& size) const {
  if (!values_) return size.sample(sample_);
  return size.evaluate([this](const SizeSymbol& symbol) -> std::optional<int64_t> {
    const auto found = values_->find(symbol.name);
    if (found == values_->end()) return std::nullopt;
    return found->second;
  });
}

std::optional<TensorType> SizePoint::type_at(const TensorType& type) const {
  TensorType made = type;
  for (size_t dim = 0; dim < type.expressions.size(); ++dim) {
    const std::optional<int64_t> size = value_of(type.expressions[dim]);
    if (!size) return std::nullopt;
    made.sizes[dim] = *size;
  }
  made.expressions.clear();
  return made;
}

SizePoint point_at(const SymbolValues& values, absl::Span<const SizeExpression> sizes) {
  std::map<std::string, std::shared_ptr<const SizeSymbol>> symbols;
  for (const SizeExpression& size : sizes) size.collect_symbols(&symbols);
  SymbolValues all = values;
  for (const auto& [name, symbol] : symbols) {
    if (!symbol->is_unknown) all.emplace(name, symbol->samples[kFirstGeneralSample]);
  }
  return SizePoint(std::move(all));
}

SizePoints points_for(absl::Span<const SizeExpression> sizes) {
  SizePoints made;
  for (size_t k = kFirstGeneralSample; k < kSamples; ++k) made.points.emplace_back(k);
  std::vector<SizeExpression> distinct;
  for (const SizeExpression& size : sizes) {
    if (size.is_constant()) continue;
    if (std::find(distinct.begin(), distinct.end(), size) == distinct.end()) {
      distinct.push_back(size);
    }
  }
  for (size_t i = 0; i < distinct.size(); ++i) {
    tell_apart(distinct[i], SizeExpression(distinct[i].sample(kFirstGeneralSample)), distinct,
               &made);
    for (size_t j = 0; j < i; ++j) tell_apart(distinct[j], distinct[i], distinct, &made);
  }
  return made;
}

}  // namespace petrel::exir
