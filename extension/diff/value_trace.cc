// SPDX-License-Identifier: Apache-2.0
#include "extension/diff/value_trace.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::extension {
namespace {

using runtime::ScalarType;

using ReadNumber = double (*)(const uint8_t* bytes, size_t i);

template <typename T>
T element(const uint8_t* bytes, size_t i) {
  T element;
  std::memcpy(&element, bytes + i * sizeof(T), sizeof(T));
  return element;
}

template <typename T>
double number(const uint8_t* bytes, size_t i) {
  return static_cast<double>(element<T>(bytes, i));
}

template <float (*kValue)(uint16_t)>
double narrow_number(const uint8_t* bytes, size_t i) {
  return static_cast<double>(kValue(element<uint16_t>(bytes, i)));
}

// Elements that are no numbers count as integers of their size.
ReadNumber reader_of_bits(ScalarType type) {
  switch (runtime::element_size(type)) {
    case sizeof(uint64_t):
      return &number<uint64_t>;
    case sizeof(uint32_t):
      return &number<uint32_t>;
    case sizeof(uint16_t):
      return &number<uint16_t>;
    default:
      return &number<uint8_t>;
  }
}

ReadNumber reader_of(ScalarType type) {
  switch (type) {
    case ScalarType::Char:
    case ScalarType::QInt8:
      return &number<int8_t>;
    case ScalarType::Short:
      return &number<int16_t>;
    case ScalarType::Int:
    case ScalarType::QInt32:
      return &number<int32_t>;
    case ScalarType::Long:
      return &number<int64_t>;
    case ScalarType::Half:
      return &narrow_number<runtime::half_value>;
    case ScalarType::BFloat16:
      return &narrow_number<runtime::bfloat16_value>;
    case ScalarType::Float:
      return &number<float>;
    case ScalarType::Double:
      return &number<double>;
    default:
      return reader_of_bits(type);
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

Numbers::Numbers(const TraceValue& value, std::optional<ElementScale> scale)
    : bytes_(value.array.data.data()),
      size_(value.array.data.size() / runtime::element_size(value.array.type)),
      scale_(scale),
      read_(reader_of(value.array.type)) {}

std::string TraceValue::type_text() const {
  return absl::StrCat("[", absl::StrJoin(array.shape, ","), "] ", runtime::to_string(array.type));
}

}  // namespace petrel::extension
