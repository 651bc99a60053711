// SPDX-License-Identifier: Apache-2.0
#include "extension/levels/level_arrays.h"

#include <cstdint>
#include <cstring>

namespace petrel::extension {
namespace {

using runtime::ScalarType;

template <typename Level>
void put_levels(const NpyArray& numbers, const Levels& levels, NpyArray* out) {
  const size_t count = numbers.data.size() / sizeof(float);
  out->data.resize(count * sizeof(Level));
  for (size_t i = 0; i < count; ++i) {
    float number = 0;
    std::memcpy(&number, numbers.data.data() + i * sizeof(number), sizeof(number));
    const auto level = static_cast<Level>(levels.level_of(number));
    std::memcpy(out->data.data() + i * sizeof(level), &level, sizeof(level));
  }
}

template <typename Level>
void put_numbers(const NpyArray& array, const Levels& levels, NpyArray* out) {
  const size_t count = array.data.size() / sizeof(Level);
  out->data.resize(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    Level level = 0;
    std::memcpy(&level, array.data.data() + i * sizeof(level), sizeof(level));
    const float number = levels.number_of(level);
    std::memcpy(out->data.data() + i * sizeof(number), &number, sizeof(number));
  }
}

// Calls put(level of the type).
template <typename Put>
void with_level(ScalarType type, Put put) {
  if (type == ScalarType::Char) put(int8_t{});
  if (type == ScalarType::Byte) put(uint8_t{});
  if (type == ScalarType::Short) put(int16_t{});
}

}  // namespace

NpyArray in_levels(const NpyArray& numbers, const Levels& levels) {
  NpyArray out{levels.type, numbers.shape, {}};
  with_level(levels.type, [&](auto level) { put_levels<decltype(level)>(numbers, levels, &out); });
  return out;
}

NpyArray in_numbers(const NpyArray& array, const Levels& levels) {
  NpyArray out{ScalarType::Float, array.shape, {}};
  with_level(levels.type, [&](auto level) { put_numbers<decltype(level)>(array, levels, &out); });
  return out;
}

}  // namespace petrel::extension
