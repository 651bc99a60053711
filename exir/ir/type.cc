// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/type.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Sizes are 32-bit in a program.
constexpr int64_t kLargestSize = std::numeric_limits<int32_t>::max();

int64_t saturating_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

}  // namespace

TensorType TensorType::contiguous(ScalarType dtype, Sizes sizes) {
  TensorType type;
  type.dtype = dtype;
  type.dim_order.resize(sizes.size());
  std::iota(type.dim_order.begin(), type.dim_order.end(), uint8_t{0});
  type.sizes = std::move(sizes);
  return type;
}

TensorType TensorType::dynamic(ScalarType dtype, std::vector<SizeExpression> sizes,
                               const Sizes& bounds) {
  bool is_static = true;
  Sizes most;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    const SizeExpression& size = sizes[dim];
    is_static = is_static && size.is_constant();
    most.push_back(size.range().high);
    if (size.is_constant() || (!size.has_unknown() && most[dim] <= kLargestSize)) continue;
    most[dim] = dim < bounds.size() ? bounds[dim] : 0;
    for (size_t k = 0; k < kSamples; ++k) most[dim] = std::max(most[dim], size.sample(k));
  }
  TensorType type = contiguous(dtype, std::move(most));
  if (!is_static) type.expressions = std::move(sizes);
  return type;
}

SizeExpression TensorType::size(size_t dim) const {
  return is_dynamic() ? expressions[dim] : SizeExpression(sizes[dim]);
}

std::vector<SizeExpression> TensorType::all_sizes() const {
  return is_dynamic() ? expressions : std::vector<SizeExpression>(sizes.begin(), sizes.end());
}

TensorType TensorType::at_sample(size_t k) const {
  TensorType type = *this;
  for (size_t dim = 0; dim < expressions.size(); ++dim)
    type.sizes[dim] = expressions[dim].sample(k);
  type.expressions.clear();
  return type;
}

TensorType TensorType::without_order() const {
  TensorType type = *this;
  std::iota(type.dim_order.begin(), type.dim_order.end(), uint8_t{0});
  return type;
}

int64_t TensorType::numel() const {
  // The other sizes of an empty tensor may have any product.
  for (int64_t size : sizes) {
    if (size == 0) return 0;
  }
  int64_t n = 1;
  for (int64_t size : sizes) n = saturating_product(n, size);
  return n;
}

int64_t TensorType::nbytes() const {
  return saturating_product(numel(), static_cast<int64_t>(item_size(dtype)));
}

bool TensorType::is_contiguous() const {
  for (size_t i = 0; i < dim_order.size(); ++i) {
    if (dim_order[i] != i) return false;
  }
  return true;
}

bool TensorType::operator==(const TensorType& other) const {
  return dtype == other.dtype && dim_order == other.dim_order && expressions == other.expressions &&
         (is_dynamic() || sizes == other.sizes);
}

namespace {

absl::Status check_expressions(const TensorType& type) {
  if (!type.is_dynamic()) return absl::OkStatus();
  if (type.expressions.size() != type.rank()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank is ", type.rank(), ", but ", type.expressions.size(), " sizes are expressions"));
  }
  for (size_t i = 0; i < type.rank(); ++i) {
    for (size_t k = 0; k < kSamples; ++k) {
      const int64_t at = type.expressions[i].sample(k);
      if (at >= 0 && at <= type.sizes[i]) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "dim ", i, " is ", at, " at a sample point, must be in [0, ", type.sizes[i], "]"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status check_tensor_type(const TensorType& type) {
  if (type.rank() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank is ", type.rank(), ", must be at most ", kMaxRank));
  }
  PETREL_RETURN_IF_ERROR(check_expressions(type));
  bool empty = false;
  for (size_t i = 0; i < type.rank(); ++i) {
    const int64_t size = type.sizes[i];
    if (size < 0 || size > kLargestSize) {
      return absl::InvalidArgumentError(
          absl::StrCat("dim ", i, " is ", size, ", must be in [0, 2^31)"));
    }
    empty = empty || size == 0;
  }
  if (!empty) {
    int64_t bytes = static_cast<int64_t>(item_size(type.dtype));
    for (int64_t size : type.sizes) {
      if (__builtin_mul_overflow(bytes, size, &bytes)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "a tensor of sizes [", absl::StrJoin(type.sizes, ","), "] has more than 2^63 bytes"));
      }
    }
  }
  std::vector<bool> seen(type.rank(), false);
  bool permutation = type.dim_order.size() == type.rank();
  for (size_t i = 0; permutation && i < type.rank(); ++i) {
    const uint8_t dim = type.dim_order[i];
    permutation = dim < type.rank() && !seen[dim];
    if (permutation) seen[dim] = true;
  }
  if (!permutation) {
    return absl::InvalidArgumentError(
        absl::StrCat("dim order is not a permutation of ", type.rank(), " dims"));
  }
  return absl::OkStatus();
}

Type Type::scalar(Kind kind) {
  Type type;
  type.kind = kind;
  return type;
}

Type Type::integer(SizeExpression number) {
  Type type = scalar(Kind::kInt);
  type.number = std::move(number);
  return type;
}

bool Type::operator==(const Type& other) const {
  return kind == other.kind && number == other.number && (!is_tensor() || tensor == other.tensor);
}

bool agree(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype || a.dim_order != b.dim_order || a.rank() != b.rank()) return false;
  for (size_t dim = 0; dim < a.rank(); ++dim) {
    if (!SizeExpression::agree(a.size(dim), b.size(dim))) return false;
  }
  return true;
}

bool agree(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.number.has_value() != b.number.has_value()) return false;
  if (a.number && !SizeExpression::agree(*a.number, *b.number)) return false;
  return !a.is_tensor() || agree(a.tensor, b.tensor);
}

bool agrees_by_data(const TensorType& found, const TensorType& ruled) {
  if (found.dtype != ruled.dtype || found.rank() != ruled.rank()) return false;
  for (size_t dim = 0; dim < found.rank(); ++dim) {
    const SizeExpression rule = ruled.size(dim);
    if (rule.has_unknown() ? found.sizes[dim] > ruled.sizes[dim]
                           : !SizeExpression::agree(found.size(dim), rule)) {
      return false;
    }
  }
  return true;
}

std::string to_string(const TensorType& type) {
  std::string text(scalar_type_name(type.dtype));
  absl::StrAppend(&text, "[");
  for (size_t dim = 0; dim < type.rank(); ++dim) {
    absl::StrAppend(&text, dim == 0 ? "" : ",", to_string(type.size(dim)));
  }
  absl::StrAppend(&text, "]");
  if (!type.is_contiguous()) {
    absl::StrAppend(&text, "{",
                    absl::StrJoin(type.dim_order, ",",
                                  [](std::string* out, uint8_t dim) {
                                    absl::StrAppend(out, static_cast<int>(dim));
                                  }),
                    "}");
  }
  return text;
}

std::string to_string(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      return to_string(type.tensor);
    case Type::Kind::kInt:
      return type.number ? absl::StrCat("int(", to_string(*type.number), ")") : "int";
    case Type::Kind::kFloat:
      return "float";
    case Type::Kind::kBool:
      return "bool";
  }
  return "";
}

}  // namespace petrel::exir
