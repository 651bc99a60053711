// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/levels.h"

#include <algorithm>
#include <cmath>

#include "exir/ops/handles.h"

namespace petrel::exir {

int64_t Int8Levels::level_of(double number) const {
  const double steps = std::nearbyint(static_cast<double>(
      static_cast<float>(static_cast<double>(static_cast<float>(number)) * inverse)));
  const double level = steps + static_cast<double>(zero_point);
  return static_cast<int64_t>(
      std::clamp(level, static_cast<double>(least), static_cast<double>(most)));
}

bool Int8Levels::operator==(const Int8Levels& other) const {
  return dtype == other.dtype && scale == other.scale && zero_point == other.zero_point &&
         least == other.least && most == other.most;
}

int64_t Int8Levels::reach() const {
  return std::max(zero_point - first(), first() + 255 - zero_point);
}

std::optional<Int8Levels> levels_of(const Node& node) {
  if (!node.is(quantized_decomposed::quantize_per_tensor,
               quantized_decomposed::dequantize_per_tensor)) {
    return std::nullopt;
  }
  const Argument& scale = node.argument(arg::scale);
  const Argument& zero_point = node.argument(arg::zero_point);
  const Argument& least = node.argument(arg::quant_min);
  const Argument& most = node.argument(arg::quant_max);
  const Argument& dtype = node.argument(arg::dtype);
  if (!scale.is_number() || !zero_point.is_int() || !least.is_int() || !most.is_int() ||
      !dtype.is_scalar_type()) {
    return std::nullopt;
  }
  Int8Levels levels;
  levels.dtype = dtype.as_scalar_type();
  levels.scale = static_cast<double>(static_cast<float>(scale.as_number()));
  levels.inverse = static_cast<double>(static_cast<float>(1.0 / scale.as_number()));
  levels.zero_point = zero_point.as_int();
  levels.least = least.as_int();
  levels.most = most.as_int();
  const bool is_narrow = levels.dtype == ScalarType::kChar || levels.dtype == ScalarType::kByte;
  const bool is_factor = levels.scale > 0 && std::isfinite(levels.scale) && levels.inverse > 0 &&
                         std::isfinite(levels.inverse);
  const bool is_near =
      levels.zero_point >= levels.first() && levels.zero_point <= levels.first() + 255;
  if (!is_narrow || !is_factor || !is_near) return std::nullopt;
  return levels;
}

const Node* dequantising(const Value* value) {
  const Node* producer = value->producer();
  const bool is_one = producer != nullptr &&
                      producer->is(quantized_decomposed::dequantize_per_tensor) &&
                      levels_of(*producer).has_value();
  return is_one ? producer : nullptr;
}

std::vector<Argument> with_numbers_of(const Node& node, Value* input) {
  std::vector<Argument> arguments = node.arguments();
  arguments[0] = Argument(input);
  return arguments;
}

}  // namespace petrel::exir
