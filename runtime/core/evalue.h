// SPDX-License-Identifier: Apache-2.0
//
// EValue: one value of a method: a tensor, a number, a string or a list. It
// owns nothing; what it points to belongs to the Method, or to the caller who
// made it.
//
//   EValue v(int64_t{3});
//   if (v.isInt()) use(v.toInt());
//   Result<Tensor> t = outputs[0].tryToTensor();
//
// toX() ends the process when the value is not an X, so it is for code that
// knows; code that handles values of a file (kernels, backends) uses tryToX(),
// or KernelArgs (runtime/kernel/kernel_args.h), which turn a wrong type into
// an error.
//
// Lists of ints and of tensors are boxed: each entry is another value of the
// method, which an instruction may have computed.
//
//   values:  0: Int 4   1: Int 7   2: ListInt --> BoxedIntList
//                 ^          ^                     items  [ 0 , 1 ]
//                 '----------'-----------------------------'   '
//
// Their entries are read, and their types checked, at every tryToX().

#ifndef PETREL_RUNTIME_CORE_EVALUE_H_
#define PETREL_RUNTIME_CORE_EVALUE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"
#include "runtime/core/tag.h"
#include "runtime/core/tensor.h"

namespace petrel::runtime {

class EValue;

// A number, as kernels with a `Scalar` argument get it.
class Scalar final {
 public:
  enum class Kind : uint8_t { Int, Double, Bool };

  constexpr Scalar() : Scalar(int64_t{0}) {}
  constexpr Scalar(int64_t value) : kind_(Kind::Int), int_(value) {}
  constexpr Scalar(int value) : Scalar(int64_t{value}) {}
  constexpr Scalar(double value) : kind_(Kind::Double), double_(value) {}
  constexpr Scalar(bool value) : kind_(Kind::Bool), int_(value ? 1 : 0) {}

  Kind kind() const { return kind_; }
  bool isIntegral(bool include_bool) const {
    return kind_ == Kind::Int || (include_bool && kind_ == Kind::Bool);
  }
  bool isFloatingPoint() const { return kind_ == Kind::Double; }
  bool isBoolean() const { return kind_ == Kind::Bool; }

  // The value as a double; exact unless it is an integer beyond 2^53.
  double to_double() const { return kind_ == Kind::Double ? double_ : static_cast<double>(int_); }
  // The value rounded towards zero; saturates, and NaN gives 0.
  int64_t to_int() const;
  bool to_bool() const { return kind_ == Kind::Double ? double_ != 0 : int_ != 0; }
  // These by the type: double, int64_t or bool.
  template <typename T>
  T to() const {
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, int64_t> ||
                  std::is_same_v<T, bool>);
    if constexpr (std::is_same_v<T, double>) return to_double();
    if constexpr (std::is_same_v<T, int64_t>) return to_int();
    if constexpr (std::is_same_v<T, bool>) return to_bool();
  }

 private:
  Kind kind_;
  union {
    int64_t int_;
    double double_;
  };
};

// The entries of a boxed list and room for their values, uninitialised until
// they are read. A null entry is None.
struct BoxedIntList {
  Span<EValue*> items;
  int64_t* unboxed;
};
struct BoxedTensorList {
  Span<EValue*> items;
  Tensor* unboxed;
};
struct BoxedOptionalTensorList {
  Span<EValue*> items;
  std::optional<Tensor>* unboxed;
};

class EValue final {
 public:
  Tag tag = Tag::None;

  EValue() = default;
  EValue(int64_t value) : tag(Tag::Int) { payload_.as_int = value; }
  EValue(int value) : EValue(int64_t{value}) {}
  EValue(double value) : tag(Tag::Double) { payload_.as_double = value; }
  EValue(bool value) : tag(Tag::Bool) { payload_.as_bool = value; }
  EValue(Tensor value) : tag(Tag::Tensor) { payload_.as_tensor = value; }
  EValue(Scalar value);
  // The tensor of a pointer that owns one, such as a TensorPtr, which must outlive the
  // value; None for null.
  template <typename Pointer, typename = std::enable_if_t<std::is_convertible_v<
                                  decltype(std::declval<const Pointer&>().get()), const Tensor*>>>
  EValue(const Pointer& owner) {
    if (owner.get() != nullptr) *this = EValue(*owner.get());
  }
  explicit EValue(std::string_view value) : EValue(Tag::String, value.data(), value.size()) {}
  explicit EValue(Span<const bool> value) : EValue(Tag::ListBool, value.data(), value.size()) {}
  explicit EValue(Span<const double> value) : EValue(Tag::ListDouble, value.data(), value.size()) {}
  explicit EValue(BoxedIntList* value) : EValue(Tag::ListInt, value, 1) {}
  explicit EValue(BoxedTensorList* value) : EValue(Tag::ListTensor, value, 1) {}
  explicit EValue(BoxedOptionalTensorList* value) : EValue(Tag::ListOptionalTensor, value, 1) {}

  bool isNone() const { return tag == Tag::None; }
  bool isInt() const { return tag == Tag::Int; }
  bool isDouble() const { return tag == Tag::Double; }
  bool isBool() const { return tag == Tag::Bool; }
  bool isScalar() const { return isInt() || isDouble() || isBool(); }
  bool isTensor() const { return tag == Tag::Tensor; }
  bool isString() const { return tag == Tag::String; }
  bool isIntList() const { return tag == Tag::ListInt; }
  bool isBoolList() const { return tag == Tag::ListBool; }
  bool isDoubleList() const { return tag == Tag::ListDouble; }
  bool isTensorList() const { return tag == Tag::ListTensor; }
  bool isListOptionalTensor() const { return tag == Tag::ListOptionalTensor; }

  int64_t toInt() const { return check(Tag::Int), payload_.as_int; }
  double toDouble() const { return check(Tag::Double), payload_.as_double; }
  bool toBool() const { return check(Tag::Bool), payload_.as_bool; }
  Scalar toScalar() const { return tryToScalar().get(); }
  // The handle, which is in the value.
  Tensor& toTensor() & { return check(Tag::Tensor), payload_.as_tensor; }
  const Tensor& toTensor() const& { return check(Tag::Tensor), payload_.as_tensor; }
  Tensor toTensor() && { return check(Tag::Tensor), payload_.as_tensor; }
  std::string_view toString() const { return tryToString().get(); }
  Span<const int64_t> toIntList() const { return tryToIntList().get(); }
  Span<const bool> toBoolList() const { return tryToBoolList().get(); }
  Span<const double> toDoubleList() const { return tryToDoubleList().get(); }
  Span<const Tensor> toTensorList() const { return tryToTensorList().get(); }
  Span<const std::optional<Tensor>> toListOptionalTensor() const {
    return tryToListOptionalTensor().get();
  }
  // toX() by the type: Tensor, int64_t, double, bool, Scalar or std::string_view.
  template <typename T>
  T to() const;
  // The same of a value that may be None.
  template <typename T>
  std::optional<T> toOptional() const {
    if (isNone()) return std::nullopt;
    return to<T>();
  }

  // InvalidType when the value, or an entry of it, has another type. Lists are
  // valid until the same value is read again.
  Result<int64_t> tryToInt() const;
  Result<double> tryToDouble() const;
  Result<bool> tryToBool() const;
  Result<Scalar> tryToScalar() const;
  Result<Tensor> tryToTensor() const;
  Result<std::string_view> tryToString() const;
  Result<Span<const int64_t>> tryToIntList() const;
  Result<Span<const bool>> tryToBoolList() const;
  Result<Span<const double>> tryToDoubleList() const;
  Result<Span<const Tensor>> tryToTensorList() const;
  Result<Span<const std::optional<Tensor>>> tryToListOptionalTensor() const;
  // These by the type, as to().
  template <typename T>
  Result<T> tryTo() const;
  template <typename T>
  Result<std::optional<T>> tryToOptional() const {
    if (isNone()) return std::optional<T>();
    Result<T> value = tryTo<T>();
    if (!value.ok()) return value.error();
    return std::optional<T>(*value);
  }

 private:
  EValue(Tag of, const void* data, size_t size) : tag(of) { payload_.as_array = {data, size}; }

  [[gnu::always_inline]] void check(Tag expected) const {
    if (tag != expected) __builtin_trap();
  }

  struct Array {
    const void* data;
    size_t size;
  };
  union Payload {
    int64_t as_int;
    double as_double;
    bool as_bool;
    Tensor as_tensor;
    Array as_array;
  };
  Payload payload_ = {};
};

template <>
inline Tensor EValue::to<Tensor>() const {
  return toTensor();
}
template <>
inline int64_t EValue::to<int64_t>() const {
  return toInt();
}
template <>
inline double EValue::to<double>() const {
  return toDouble();
}
template <>
inline bool EValue::to<bool>() const {
  return toBool();
}
template <>
inline Scalar EValue::to<Scalar>() const {
  return toScalar();
}
template <>
inline std::string_view EValue::to<std::string_view>() const {
  return toString();
}

template <typename T>
Result<T> EValue::tryTo() const {
  if constexpr (std::is_same_v<T, Tensor>) return tryToTensor();
  if constexpr (std::is_same_v<T, int64_t>) return tryToInt();
  if constexpr (std::is_same_v<T, double>) return tryToDouble();
  if constexpr (std::is_same_v<T, bool>) return tryToBool();
  if constexpr (std::is_same_v<T, Scalar>) return tryToScalar();
  if constexpr (std::is_same_v<T, std::string_view>) return tryToString();
}

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_EVALUE_H_
