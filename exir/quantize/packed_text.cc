// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/packed_text.h"

#include <cmath>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr int kMiddle = 8;

absl::StatusOr<std::string> decode(const std::string& text, const char* what) {
  std::string bytes;
  if (absl::Base64Unescape(text, &bytes)) return bytes;
  return absl::InvalidArgumentError(absl::StrCat("\"", what, "\" is not base64"));
}

}  // namespace

std::string encode_levels(const std::vector<int8_t>& levels) {
  std::string bytes(levels.size() / 2, 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>((levels[2 * i] + kMiddle) | (levels[2 * i + 1] + kMiddle) << 4);
  }
  return absl::Base64Escape(bytes);
}

std::string encode_scales(const std::vector<float>& scales) {
  std::string bytes;
  for (const float scale : scales) {
    uint32_t bits = 0;
    std::memcpy(&bits, &scale, sizeof(bits));
    bytes.push_back(static_cast<char>(bits >> 16 & 0xff));
    bytes.push_back(static_cast<char>(bits >> 24));
  }
  return absl::Base64Escape(bytes);
}

absl::StatusOr<std::vector<int8_t>> decode_levels(const std::string& text) {
  PETREL_ASSIGN_OR_RETURN(const std::string bytes, decode(text, "levels"));
  std::vector<int8_t> levels;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    levels.push_back(static_cast<int8_t>((byte & 0xf) - kMiddle));
    levels.push_back(static_cast<int8_t>((byte >> 4) - kMiddle));
  }
  return levels;
}

absl::StatusOr<std::vector<float>> decode_scales(const std::string& text) {
  PETREL_ASSIGN_OR_RETURN(const std::string bytes, decode(text, "scales"));
  if (bytes.size() % 2 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"scales\" has ", bytes.size(), " bytes, must have 2 for each"));
  }
  std::vector<float> scales;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    const uint32_t bits = static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << 16 |
                          static_cast<uint32_t>(static_cast<uint8_t>(bytes[i + 1])) << 24;
    float scale = 0;
    std::memcpy(&scale, &bits, sizeof(scale));
    if (!std::isnormal(scale) || scale < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("scale ", i / 2, " is ", scale, ", must be a positive, normal number"));
    }
    scales.push_back(scale);
  }
  return scales;
}

std::string encode_floats(const std::vector<float>& floats) {
  std::string bytes;
  for (const float value : floats) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<char>(bits >> shift & 0xff));
    }
  }
  return absl::Base64Escape(bytes);
}

absl::StatusOr<std::vector<float>> decode_floats(const std::string& text, const char* key) {
  PETREL_ASSIGN_OR_RETURN(const std::string bytes, decode(text, key));
  if (bytes.size() % sizeof(float) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", key, "\" has ", bytes.size(), " bytes, must have ", sizeof(float), " for each"));
  }
  std::vector<float> floats(bytes.size() / sizeof(float));
  for (size_t i = 0; i < floats.size(); ++i) {
    uint32_t bits = 0;
    for (size_t k = 0; k < sizeof(float); ++k) {
      bits |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[sizeof(float) * i + k])) << 8 * k;
    }
    std::memcpy(&floats[i], &bits, sizeof(bits));
    if (!std::isfinite(floats[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", key, "\" ", i, " is ", floats[i], ", must be a finite number"));
    }
  }
  return floats;
}

}  // namespace petrel::exir
