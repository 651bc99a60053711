// SPDX-License-Identifier: Apache-2.0
//
// The payload of the null NPU: what its compiler writes and its driver (npu_driver.c) reads.
// Words of 32 bits, little-endian:
//
//   kMagic | inputs | blobs | commands | outputs
//   of each blob     bytes of its key, then the key, padded to words with zeros
//   of each command  Op | a | b            values that it combines; b is a for one of one value
//   of each output   its value
//
// Values are numbered: inputs, blobs, results of commands. All have one number of elements, which
// the driver knows by the bytes of the first output.
#ifndef PETREL_EXAMPLES_NULL_NPU_FORMAT_COMMANDS_H_
#define PETREL_EXAMPLES_NULL_NPU_FORMAT_COMMANDS_H_

#include <cstdint>

namespace petrel::backends::null_npu {

inline constexpr char kBackendId[] = "NullNpu";
inline constexpr char kTarget[] = "npu";
inline constexpr uint32_t kMagic = 0x3155504e;  // "NPU1"

enum class Op : uint32_t { kAdd = 0, kMul = 1, kRelu = 2 };

}  // namespace petrel::backends::null_npu

#endif  // PETREL_EXAMPLES_NULL_NPU_FORMAT_COMMANDS_H_
