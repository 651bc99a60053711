// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/type.h"

#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace petrel::exir {

TensorType TensorType::contiguous(ScalarType dtype, Sizes sizes) {
  TensorType type;
  type.dtype = dtype;
  type.dim_order.resize(sizes.size());
  std::iota(type.dim_order.begin(), type.dim_order.end(), uint8_t{0});
  type.sizes = std::move(sizes);
  return type;
}

int64_t TensorType::numel() const {
  // The other sizes of an empty tensor may have any product.
  for (int64_t size : sizes) {
    if (size == 0) return 0;
  }
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return n;
}

int64_t TensorType::nbytes() const {
  return numel() * static_cast<int64_t>(item_size(dtype));
}

bool TensorType::is_contiguous() const {
  for (size_t i = 0; i < dim_order.size(); ++i) {
    if (dim_order[i] != i) return false;
  }
  return true;
}

bool TensorType::operator==(const TensorType& other) const {
  return dtype == other.dtype && sizes == other.sizes &&
         dim_order == other.dim_order;
}

absl::Status check_tensor_type(const TensorType& type) {
  if (type.rank() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank is ", type.rank(), ", must be at most ", kMaxRank));
  }
  bool empty = false;
  for (size_t i = 0; i < type.rank(); ++i) {
    const int64_t size = type.sizes[i];
    if (size < 0 || size > std::numeric_limits<int32_t>::max()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "dim ", i, " is ", size, ", must be in [0, 2^31)"));
    }
    empty = empty || size == 0;
  }
  if (!empty) {
    int64_t bytes = static_cast<int64_t>(item_size(type.dtype));
    for (int64_t size : type.sizes) {
      if (__builtin_mul_overflow(bytes, size, &bytes)) {
        return absl::InvalidArgumentError(
            absl::StrCat("a tensor of sizes [", absl::StrJoin(type.sizes, ","),
                         "] has more than 2^63 bytes"));
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
        absl::StrCat("dim order is no permutation of ", type.rank(), " dims"));
  }
  return absl::OkStatus();
}

Type Type::scalar(Kind kind) {
  Type type;
  type.kind = kind;
  return type;
}

bool Type::operator==(const Type& other) const {
  return kind == other.kind && (!is_tensor() || tensor == other.tensor);
}

std::string to_string(const TensorType& type) {
  std::string text(scalar_type_name(type.dtype));
  absl::StrAppend(&text, "[", absl::StrJoin(type.sizes, ","), "]");
  if (!type.is_contiguous()) {
    absl::StrAppend(
        &text, "{",
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
      return "int";
    case Type::Kind::kFloat:
      return "float";
    case Type::Kind::kBool:
      return "bool";
  }
  return "";
}

}  // namespace petrel::exir
