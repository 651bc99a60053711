// SPDX-License-Identifier: Apache-2.0
#include "extension/tensor/numbers.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::Scalar;
using runtime::ScalarType;
using runtime::Tensor;

namespace {

template <typename T>
struct Kind {
  using Type = T;
};

// fn(Kind<T>) for the type of the elements; false if C++ has none.
template <typename Fn>
bool with_type(ScalarType type, const Fn& fn) {
  switch (type) {
    case ScalarType::Byte:
      return fn(Kind<uint8_t>()), true;
    case ScalarType::Char:
      return fn(Kind<int8_t>()), true;
    case ScalarType::Short:
      return fn(Kind<int16_t>()), true;
    case ScalarType::Int:
      return fn(Kind<int32_t>()), true;
    case ScalarType::Long:
      return fn(Kind<int64_t>()), true;
    case ScalarType::UInt16:
      return fn(Kind<uint16_t>()), true;
    case ScalarType::UInt32:
      return fn(Kind<uint32_t>()), true;
    case ScalarType::UInt64:
      return fn(Kind<uint64_t>()), true;
    case ScalarType::Float:
      return fn(Kind<float>()), true;
    case ScalarType::Double:
      return fn(Kind<double>()), true;
    case ScalarType::Bool:
      return fn(Kind<bool>()), true;
    default:
      PETREL_LOG(Error, "elements of type %s cannot be made from other numbers, or into them",
                 to_string(type));
      return false;
  }
}

template <typename To, typename From>
To convert(From number) {
  if constexpr (std::is_same_v<To, bool>) {
    return number != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // A cast of any other number has no defined result. Both bounds are powers of two.
    const double lowest = static_cast<double>(std::numeric_limits<To>::min());
    const double beyond = std::ldexp(1.0, std::numeric_limits<To>::digits);
    const double whole = std::trunc(static_cast<double>(number));
    return whole >= lowest && whole < beyond ? static_cast<To>(whole) : To{0};
  } else {
    return static_cast<To>(number);
  }
}

}  // namespace

bool convert_numbers(const Tensor& from, const Tensor& to) {
  bool is_done = false;
  with_type(from.scalar_type(), [&](auto from_kind) {
    using From = typename decltype(from_kind)::Type;
    is_done = with_type(to.scalar_type(), [&](auto to_kind) {
      using To = typename decltype(to_kind)::Type;
      const From* const numbers = from.const_data_ptr<From>();
      To* const converted = to.mutable_data_ptr<To>();
      for (size_t i = 0; i < from.numel(); ++i) converted[i] = convert<To>(numbers[i]);
    });
  });
  return is_done;
}

bool fill_numbers(Scalar number, const Tensor& to) {
  return with_type(to.scalar_type(), [&](auto kind) {
    using To = typename decltype(kind)::Type;
    const To filling =
        number.isFloatingPoint() ? convert<To>(number.to_double()) : convert<To>(number.to_int());
    To* const numbers = to.mutable_data_ptr<To>();
    for (size_t i = 0; i < to.numel(); ++i) numbers[i] = filling;
  });
}

}  // namespace petrel::extension
