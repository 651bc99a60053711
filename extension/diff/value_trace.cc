// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/value_trace.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::extension {
namespace {

using runtime::ScalarType;

template <typename T>
std::vector<double> widen(const std::vector<uint8_t>& bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<double>(element);
  }
  return numbers;
}

std::vector<double> widen_narrow(const std::vector<uint8_t>& bytes, float (*value)(uint16_t)) {
  std::vector<double> numbers(bytes.size() / sizeof(uint16_t));
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes.data() + i * sizeof(bits), sizeof(bits));
    numbers[i] = value(bits);
  }
  return numbers;
}

std::vector<double> widen(const NpyArray& array) {
  switch (array.type) {
    case ScalarType::Byte:
    case ScalarType::Bool:
    case ScalarType::QUInt8:
      return widen<uint8_t>(array.data);
    case ScalarType::Char:
    case ScalarType::QInt8:
      return widen<int8_t>(array.data);
    case ScalarType::Short:
      return widen<int16_t>(array.data);
    case ScalarType::UInt16:
      return widen<uint16_t>(array.data);
    case ScalarType::Int:
    case ScalarType::QInt32:
      return widen<int32_t>(array.data);
    case ScalarType::UInt32:
      return widen<uint32_t>(array.data);
    case ScalarType::Long:
      return widen<int64_t>(array.data);
    case ScalarType::UInt64:
      return widen<uint64_t>(array.data);
    case ScalarType::Half:
      return widen_narrow(array.data, &runtime::half_value);
    case ScalarType::BFloat16:
      return widen_narrow(array.data, &runtime::bfloat16_value);
    case ScalarType::Float:
      return widen<float>(array.data);
    case ScalarType::Double:
      return widen<double>(array.data);
    default:  // as bytes
      return widen<uint8_t>(array.data);
  }
}

}  // namespace

bool TraceRoom::take(size_t inputs, uint64_t bytes) {
  is_full_ = is_full_ || values_ == 0 || inputs > inputs_ || bytes > bytes_;
  if (is_full_) return false;
  --values_;
  inputs_ -= inputs;
  bytes_ -= bytes;
  return true;
}

std::string TraceRoom::problem() {
  return absl::StrCat("computes more than can be compared, which is ", kMaxTracedValues,
                      " values of ", kMaxTracedInputs, " inputs and ", kMaxTracedBytes, " bytes");
}

std::vector<double> TraceValue::numbers() const {
  std::vector<double> numbers = widen(array);
  if (!scale.has_value()) return numbers;
  for (double& number : numbers) number = (number - scale->zero_point) * scale->scale;
  return numbers;
}

std::string TraceValue::type_text() const {
  return absl::StrCat("[", absl::StrJoin(array.shape, ","), "] ", runtime::to_string(array.type));
}

}  // namespace petrel::extension
