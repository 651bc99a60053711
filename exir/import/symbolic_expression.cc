// SPDX-License-Identifier: Apache-2.0
#include "exir/import/symbolic_expression.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exir/ir/blob.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr long double kLargest = 4611686018427387904.0L;  // 2^62
constexpr int64_t kMaxPower = 16;

absl::Status refuse(const std::string& what) { return absl::InvalidArgumentError(what); }

}  // namespace

struct SymbolicExpression::Fraction {
  SizeExpression above;
  SizeExpression below = SizeExpression(1);

  bool is_whole() const { return below == SizeExpression(1); }
  bool is_negative_nowhere() const { return above.range().low >= 0 && below.range().low > 0; }
  // nullopt where a part overflowed; a whole quotient stands alone.
  static std::optional<Fraction> of(const MaybeSize& above, const MaybeSize& below) {
    if (!above || !below) return std::nullopt;
    const MaybeSize quotient = divide(*above, *below, true);
    const MaybeSize whole = quotient ? multiply(*quotient, *below) : std::nullopt;
    if (whole && *whole == *above) return Fraction{*quotient};
    return Fraction{*above, *below};
  }
};

void SymbolicExpression::collect_symbols(std::set<std::string>* out_symbols) const {
  if (kind_ == Kind::kSymbol) out_symbols->insert(symbol_);
  for (const SymbolicExpression& part : parts_) {
    part.collect_symbols(out_symbols);
  }
}

// Of operations on two.
std::optional<SymbolicExpression::Fraction> SymbolicExpression::combine(Kind kind,
                                                                        const Fraction& a,
                                                                        const Fraction& b) {
  const MaybeSize left = multiply(a.above, b.below);
  const MaybeSize right = multiply(b.above, a.below);
  const MaybeSize below = multiply(a.below, b.below);
  if (!left || !right) return std::nullopt;
  switch (kind) {
    case Kind::kAdd:
      return Fraction::of(add(*left, *right), below);
    case Kind::kMultiply:
      return Fraction::of(multiply(a.above, b.above), below);
    case Kind::kDivide:
      return Fraction::of(left, right);
    case Kind::kFloorDivide:
      return Fraction::of(divide(*left, *right, true), SizeExpression(1));
    case Kind::kCeilDivide: {
      const MaybeSize negative = multiply(*left, SizeExpression(-1));
      const MaybeSize floor = negative ? divide(*negative, *right, true) : std::nullopt;
      return floor ? Fraction::of(multiply(*floor, SizeExpression(-1)), SizeExpression(1))
                   : std::nullopt;
    }
    case Kind::kModulo:
      if (!a.is_whole() || !b.is_whole()) return std::nullopt;
      return Fraction::of(modulo(a.above, b.above, true), SizeExpression(1));
    case Kind::kMin:
    case Kind::kMax:
      if (!a.is_whole() || !b.is_whole()) return std::nullopt;
      return Fraction::of(
          kind == Kind::kMin ? smallest({a.above, b.above}) : largest({a.above, b.above}),
          SizeExpression(1));
    default:
      return std::nullopt;
  }
}

std::optional<SymbolicExpression::Fraction> SymbolicExpression::rounded(Kind kind,
                                                                        const Fraction& x) {
  if (x.is_whole() || kind == Kind::kSame) return x;
  const Fraction one{SizeExpression(1)};
  if (kind == Kind::kFloor) return combine(Kind::kFloorDivide, x, one);
  if (kind == Kind::kCeil) return combine(Kind::kCeilDivide, x, one);
  if (kind == Kind::kTruncate && x.is_negative_nowhere()) {
    return combine(Kind::kFloorDivide, x, one);
  }
  return std::nullopt;  // halves round to even
}

std::optional<SymbolicExpression::Fraction> SymbolicExpression::power(const Fraction& base,
                                                                      const Fraction& exponent) {
  if (!exponent.is_whole() || !exponent.above.is_constant()) return std::nullopt;
  const int64_t times = exponent.above.constant();
  if (times > kMaxPower || times < -kMaxPower) return std::nullopt;
  std::optional<Fraction> product = Fraction{SizeExpression(1)};
  for (int64_t i = 0; product && i < std::abs(times); ++i) {
    product = combine(times < 0 ? Kind::kDivide : Kind::kMultiply, *product, base);
  }
  return product;
}

std::optional<SymbolicExpression::Fraction> SymbolicExpression::exact(
    const Symbols& symbols) const {
  if (kind_ == Kind::kNumber) {
    // Most floats in sizes are short binary fractions.
    long double above = number_;
    int64_t below = 1;
    while (above != std::floor(above) && below < int64_t{1} << 20) {
      above *= 2;
      below *= 2;
    }
    if (above != std::floor(above) || std::fabs(above) >= kLargest) return std::nullopt;
    return Fraction::of(SizeExpression(static_cast<int64_t>(above)), SizeExpression(below));
  }
  if (kind_ == Kind::kSymbol) return Fraction{symbols.at(symbol_)};
  std::optional<Fraction> all = parts_[0].exact(symbols);
  for (size_t i = 1; all && i < parts_.size(); ++i) {
    const std::optional<Fraction> part = parts_[i].exact(symbols);
    if (!part) return std::nullopt;
    all = kind_ == Kind::kPower ? power(*all, *part) : combine(kind_, *all, *part);
  }
  if (all && kind_ >= Kind::kFloor) all = rounded(kind_, *all);
  return all;
}

absl::StatusOr<long double> SymbolicExpression::value_at(const Symbols& symbols, size_t k) const {
  if (kind_ == Kind::kNumber) return number_;
  if (kind_ == Kind::kSymbol) return static_cast<long double>(symbols.at(symbol_).sample(k));
  PETREL_ASSIGN_OR_RETURN(long double all, parts_[0].value_at(symbols, k));
  for (size_t i = 1; i < parts_.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(const long double part, parts_[i].value_at(symbols, k));
    const bool divides = kind_ == Kind::kFloorDivide || kind_ == Kind::kCeilDivide ||
                         kind_ == Kind::kDivide || kind_ == Kind::kModulo;
    if (divides && part == 0) return refuse("a size is divided by what may be zero");
    all = kind_ == Kind::kAdd           ? all + part
          : kind_ == Kind::kMultiply    ? all * part
          : kind_ == Kind::kPower       ? std::pow(all, part)
          : kind_ == Kind::kMin         ? std::min(all, part)
          : kind_ == Kind::kMax         ? std::max(all, part)
          : kind_ == Kind::kFloorDivide ? std::floor(all / part)
          : kind_ == Kind::kCeilDivide  ? std::ceil(all / part)
          : kind_ == Kind::kDivide      ? all / part
                                        : all - std::floor(all / part) * part;
  }
  switch (kind_) {
    case Kind::kFloor:
      return std::floor(all);
    case Kind::kCeil:
      return std::ceil(all);
    case Kind::kTruncate:
      return std::trunc(all);
    case Kind::kRound:
      return std::nearbyint(all);
    default:
      return all;
  }
}

void SymbolicExpression::append_text(std::string* out) const {
  absl::StrAppend(out, static_cast<int>(kind_), "(", symbol_);
  for (const SymbolicExpression& part : parts_) part.append_text(out);
  absl::StrAppend(out, ")");
}

absl::StatusOr<SizeExpression> SymbolicExpression::size(const Symbols& symbols) const {
  std::set<std::string> names;
  collect_symbols(&names);
  for (const std::string& name : names) {
    if (symbols.count(name) == 0) return refuse(absl::StrCat("symbol ", name, " has no range"));
  }
  SampleValues samples{};
  for (size_t k = 0; k < kSamples; ++k) {
    PETREL_ASSIGN_OR_RETURN(const long double value, value_at(symbols, k));
    if (value != std::floor(value) || std::fabs(value) > kLargest) {
      return refuse("a size is not an integer below 2^62");
    }
    samples[k] = static_cast<int64_t>(value);
  }
  if (const std::optional<Fraction> fraction = exact(symbols); fraction && fraction->is_whole()) {
    bool agrees = true;
    for (size_t k = 0; k < kSamples; ++k) {
      agrees = agrees && fraction->above.sample(k) == samples[k];
    }
    if (agrees) return fraction->above;
  }
  std::string identity;
  append_text(&identity);
  const auto* bytes = reinterpret_cast<const uint8_t*>(identity.data());
  const std::string digest = to_hex(sha256_of(absl::MakeConstSpan(bytes, identity.size())));
  return SizeExpression(std::make_shared<const SizeSymbol>(
      absl::StrCat("u_", digest.substr(0, 32)), SizeRange(), samples, /*is_unknown=*/true));
}

}  // namespace petrel::exir
