// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/promotion.h"

#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::runtime::portable {
namespace {

// The floating type that a and b are computed in: tensors with dims count before those
// without, any floating one before integers. Of integers alone it is float.
ScalarType promoted_floating(const Tensor& a, const Operand& b) {
  const ScalarType type = a.scalar_type();
  if (!b.tensor) return is_floating(type) ? type : ScalarType::Float;
  const ScalarType other = b.tensor->scalar_type();
  if (!is_floating(type)) return is_floating(other) ? other : ScalarType::Float;
  if (!is_floating(other) || type == other) return type;
  if ((a.dim() == 0) != (b.tensor->dim() == 0)) return a.dim() == 0 ? other : type;
  const bool has_double = type == ScalarType::Double || other == ScalarType::Double;
  return has_double ? ScalarType::Double : ScalarType::Float;
}

float same(float value) { return value; }
float to_half(float value) { return half_value(half_bits(value)); }
float to_bfloat16(float value) { return bfloat16_value(bfloat16_bits(value)); }

template <typename T, float (*kRound)(float)>
double load_rounded(const void* data, size_t i) {
  return static_cast<double>(kRound(static_cast<float>(static_cast<const T*>(data)[i])));
}

// Null for types of which a float with `kRound` has all numbers, or that are not rounded.
template <float (*kRound)(float)>
Loader<double> rounding_loader(ScalarType type, bool rounds_floats) {
  const bool is_narrow = kRound != same;
  switch (type) {
    case ScalarType::Short:
      return is_narrow ? load_rounded<int16_t, kRound> : nullptr;
    case ScalarType::UInt16:
      return is_narrow ? load_rounded<uint16_t, kRound> : nullptr;
    case ScalarType::Int:
      return load_rounded<int32_t, kRound>;
    case ScalarType::UInt32:
      return load_rounded<uint32_t, kRound>;
    case ScalarType::Long:
      return load_rounded<int64_t, kRound>;
    case ScalarType::UInt64:
      return load_rounded<uint64_t, kRound>;
    case ScalarType::Float:
      return is_narrow && rounds_floats ? load_rounded<float, kRound> : nullptr;
    case ScalarType::Double:
      return !is_narrow || rounds_floats ? load_rounded<double, kRound> : nullptr;
    default:
      return nullptr;
  }
}

// Elements of `type` as those of `as`. What is wider than half or bfloat16 is left as it is
// by operators that compute with it in float.
Loader<double> loader_in(ScalarType type, ScalarType as, bool rounds_floats) {
  Loader<double> rounding = nullptr;
  if (as == ScalarType::Float) rounding = rounding_loader<same>(type, rounds_floats);
  if (as == ScalarType::Half) rounding = rounding_loader<to_half>(type, rounds_floats);
  if (as == ScalarType::BFloat16) rounding = rounding_loader<to_bfloat16>(type, rounds_floats);
  return rounding != nullptr ? rounding : loader<double>(type);
}

double number_in(double value, ScalarType as, bool rounds_floats) {
  if (as == ScalarType::Double) return value;
  const auto number = static_cast<float>(value);
  if (rounds_floats && as == ScalarType::Half) return static_cast<double>(to_half(number));
  if (rounds_floats && as == ScalarType::BFloat16) return static_cast<double>(to_bfloat16(number));
  return static_cast<double>(number);
}

}  // namespace

Operands<int64_t> as_integers(const Tensor& a, const Operand& b) {
  return {loader<int64_t>(a.scalar_type()),
          b.tensor ? loader<int64_t>(b.tensor->scalar_type()) : nullptr, b.number.to_int()};
}

Operands<double> as_floats(const Tensor& a, const Operand& b, bool rounds_floats) {
  const ScalarType as = promoted_floating(a, b);
  return {loader_in(a.scalar_type(), as, rounds_floats),
          b.tensor ? loader_in(b.tensor->scalar_type(), as, rounds_floats) : nullptr,
          number_in(b.number.to_double(), as, rounds_floats)};
}

ScalarType promoted_integer(const Tensor& a, const Operand& b) {
  const ScalarType type = a.scalar_type();
  if (!b.tensor) {
    return type == ScalarType::Bool && !b.number.isBoolean() ? ScalarType::Long : type;
  }
  const ScalarType other = b.tensor->scalar_type();
  if (type == other || other == ScalarType::Bool) return type;
  if (type == ScalarType::Bool) return other;
  if ((a.dim() == 0) != (b.tensor->dim() == 0)) return a.dim() == 0 ? other : type;
  const size_t size = element_size(type), other_size = element_size(other);
  // Of one size are those with a sign and without; both fit the next.
  if (size == other_size) return size == 1 ? ScalarType::Short : ScalarType::Long;
  return size > other_size ? type : other;
}

}  // namespace petrel::runtime::portable
