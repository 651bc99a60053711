// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/promotion.h"

namespace petrel::exir::rules {
namespace {

constexpr int kDimensioned = 0;
constexpr int kRankZero = 1;
constexpr int kNumber = 2;

int category(ScalarType type) {
  if (is_floating_point(type)) return 2;
  return is_integral(type) ? 1 : 0;
}

bool is_wide_unsigned(ScalarType type) {
  return type == ScalarType::kUInt16 || type == ScalarType::kUInt32 || type == ScalarType::kUInt64;
}

}  // namespace

absl::StatusOr<ScalarType> promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (category(a) == 2) {
    const bool halves = item_size(a) == 2 && item_size(b) == 2;
    if (halves) return ScalarType::kFloat;
    return item_size(a) > item_size(b) ? a : b;
  }
  if (is_wide_unsigned(a) || is_wide_unsigned(b)) {
    return invalid("dtypes ", std::string(scalar_type_name(a)), " and ",
                   std::string(scalar_type_name(b)), " do not mix");
  }
  // u8 and i8 are the only two of one size: both fit i16.
  if (item_size(a) == item_size(b)) return ScalarType::kShort;
  return item_size(a) > item_size(b) ? a : b;
}

absl::Status Promotion::join(int level, ScalarType type) {
  std::optional<ScalarType>& slot = levels_[level];
  if (!slot) {
    slot = type;
    return absl::OkStatus();
  }
  PETREL_ASSIGN_OR_RETURN(slot, promote_types(*slot, type));
  return absl::OkStatus();
}

absl::Status Promotion::add(ScalarType dtype, size_t rank) {
  return join(rank > 0 ? kDimensioned : kRankZero, dtype);
}

absl::Status Promotion::add_number(const Argument& number) {
  if (number.is_float()) return join(kNumber, ScalarType::kFloat);
  return join(kNumber, number.is_bool() ? ScalarType::kBool : ScalarType::kLong);
}

absl::StatusOr<ScalarType> Promotion::result() const {
  std::optional<ScalarType> result;
  for (int level : {kNumber, kRankZero, kDimensioned}) {
    const std::optional<ScalarType>& higher = levels_[level];
    if (!higher) continue;
    if (!result || category(*higher) >= category(*result)) result = higher;
  }
  if (!result) return invalid("no operand to take a dtype from");
  return *result;
}

absl::StatusOr<ScalarType> promoted_dtype(const BoundArguments& in) {
  Promotion promotion;
  for (const TensorType* type : in.all_tensors()) {
    PETREL_RETURN_IF_ERROR(promotion.add(*type));
  }
  for (const char* name : {"self", "other", "exponent", "min", "max"}) {
    if (in.at(name).is_number()) {
      PETREL_RETURN_IF_ERROR(promotion.add_number(in.at(name)));
    }
  }
  return promotion.result();
}

ScalarType as_floating(ScalarType type) {
  return is_floating_point(type) ? type : ScalarType::kFloat;
}

}  // namespace petrel::exir::rules
