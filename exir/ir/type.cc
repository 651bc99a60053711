// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/type.h"

#include <algorithm>
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

TensorType TensorType::dynamic(ScalarType dtype, Sizes bounds, std::vector<Sizes> samples) {
  bool is_static = true;
  for (size_t dim = 0; dim < bounds.size(); ++dim) {
    bool same = true;
    int64_t largest = samples[0][dim];
    for (const Sizes& sizes : samples) {
      same = same && sizes[dim] == samples[0][dim];
      largest = std::max(largest, sizes[dim]);
    }
    bounds[dim] = same ? samples[0][dim] : std::max(bounds[dim], largest);
    is_static = is_static && same;
  }
  TensorType type = contiguous(dtype, std::move(bounds));
  if (!is_static) type.samples = std::move(samples);
  return type;
}

bool TensorType::varies(size_t dim) const {
  for (const Sizes& at : samples) {
    if (at[dim] != samples[0][dim]) return true;
  }
  return false;
}

TensorType TensorType::at_sample(size_t k) const {
  TensorType type = *this;
  if (!is_dynamic()) return type;
  type.sizes = samples[k];
  type.samples.clear();
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
  for (int64_t size : sizes) n *= size;
  return n;
}

int64_t TensorType::nbytes() const { return numel() * static_cast<int64_t>(item_size(dtype)); }

bool TensorType::is_contiguous() const {
  for (size_t i = 0; i < dim_order.size(); ++i) {
    if (dim_order[i] != i) return false;
  }
  return true;
}

bool TensorType::operator==(const TensorType& other) const {
  return dtype == other.dtype && dim_order == other.dim_order && samples == other.samples &&
         (is_dynamic() || sizes == other.sizes);
}

absl::Status check_tensor_type(const TensorType& type) {
  if (type.rank() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank is ", type.rank(), ", must be at most ", kMaxRank));
  }
  if (type.is_dynamic()) {
    if (type.samples.size() != kSamples) {
      return absl::InvalidArgumentError(absl::StrCat("sizes are given at ", type.samples.size(),
                                                     " points, must be at ", kSamples));
    }
    for (const Sizes& at : type.samples) {
      if (at.size() != type.rank()) {
        return absl::InvalidArgumentError("the rank varies");
      }
      for (size_t i = 0; i < type.rank(); ++i) {
        if (at[i] >= 0 && at[i] <= type.sizes[i]) continue;
        return absl::InvalidArgumentError(absl::StrCat("dim ", i, " is ", at[i],
                                                       " at a sample point, must "
                                                       "be in [0, ",
                                                       type.sizes[i], "]"));
      }
    }
  }
  bool empty = false;
  for (size_t i = 0; i < type.rank(); ++i) {
    const int64_t size = type.sizes[i];
    if (size < 0 || size > std::numeric_limits<int32_t>::max()) {
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
        absl::StrCat("dim order is no permutation of ", type.rank(), " dims"));
  }
  return absl::OkStatus();
}

Type Type::scalar(Kind kind) {
  Type type;
  type.kind = kind;
  return type;
}

Type Type::integer(std::vector<int64_t> samples) {
  Type type = scalar(Kind::kInt);
  if (samples.size() == 1) samples.resize(kSamples, samples[0]);
  type.samples = std::move(samples);
  return type;
}

bool Type::operator==(const Type& other) const {
  return kind == other.kind && samples == other.samples && (!is_tensor() || tensor == other.tensor);
}

std::string to_string(const TensorType& type) {
  std::string text(scalar_type_name(type.dtype));
  absl::StrAppend(&text, "[");
  for (size_t dim = 0; dim < type.rank(); ++dim) {
    absl::StrAppend(&text, dim == 0 ? "" : ",", type.sizes[dim]);
    if (!type.varies(dim)) continue;
    for (const Sizes& at : type.samples) absl::StrAppend(&text, "|", at[dim]);
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
      return type.samples.empty() ? "int" : absl::StrCat("int|", absl::StrJoin(type.samples, "|"));
    case Type::Kind::kFloat:
      return "float";
    case Type::Kind::kBool:
      return "bool";
  }
  return "";
}

}  // namespace petrel::exir
