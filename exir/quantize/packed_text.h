// SPDX-License-Identifier: Apache-2.0
//
// Levels of 4 bits, scales and other floats as text, in base64:
//
//   levels -8, 7, 0, 1     bytes f0 98       two in a byte, the first in the low bits, 8 added
//   scales 0.5, 0.25       bytes 00 3f 80 3e the high halves of floats, little-endian
//   floats 0.5, -2         bytes 00 00 00 3f 00 00 00 c0
#ifndef PETREL_EXIR_QUANTIZE_PACKED_TEXT_H_
#define PETREL_EXIR_QUANTIZE_PACKED_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace petrel::exir {

// Precondition: an even number of levels from -8 to 7; of floats, numbers of bfloat16.
std::string encode_levels(const std::vector<int8_t>& levels);
std::string encode_scales(const std::vector<float>& scales);

// InvalidArgument for what is not base64, and scales that are not positive, normal numbers.
absl::StatusOr<std::vector<int8_t>> decode_levels(const std::string& text);
absl::StatusOr<std::vector<float>> decode_scales(const std::string& text);

std::string encode_floats(const std::vector<float>& floats);
// InvalidArgument for what is not base64, and for floats that are not finite; `key` names them.
absl::StatusOr<std::vector<float>> decode_floats(const std::string& text, const char* key);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_PACKED_TEXT_H_
