// SPDX-License-Identifier: Apache-2.0
//
// The payload of the bytecode backend: one loop over the elements of tensors of
// one size, as a program for a small stack machine.
//
//   offset  bytes
//   0       4      "PBC1"
//   4       4      elements of every argument and blob, little-endian like all;
//                  2^32 - 1: as many as the first input has, and no blobs
//   8       2      inputs
//   10      2      outputs
//   12      2      blobs
//   14      2      locals
//   16             per blob: 2 bytes of length, then its key
//                  code up to the end
//
// An instruction is an opcode byte, then its operand:
//
//   input 0   number 0.5   mul   save 3   load 3   output 0
//   01 00 00  03 00 00 00 3f  06  08 03 00  09 03 00  0a 00 00
//
// check_code() runs once, so that the interpreter need not look: every operand
// is in range, the stack neither under- nor overflows, locals are saved before
// they are loaded and every output is written. Nothing here allocates.
#ifndef PETREL_EXAMPLES_BACKEND_BYTECODE_FORMAT_BYTECODE_H_
#define PETREL_EXAMPLES_BACKEND_BYTECODE_FORMAT_BYTECODE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace petrel::backends::bytecode {

inline constexpr char kBackendId[] = "BytecodeBackend";
inline constexpr std::string_view kMagic = "PBC1";

// Instead of a number of elements: it varies from call to call.
inline constexpr uint32_t kVaryingElements = 0xFFFFFFFF;

// Values on the stack at once, at most.
inline constexpr size_t kMaxDepth = 8;
// Elements that an instruction works on at once: this many, unless a compile
// spec or a load option of this name says otherwise.
inline constexpr char kBlockOption[] = "block";
inline constexpr size_t kDefaultBlock = 64;
inline constexpr size_t kMaxBlock = 4096;

enum class Opcode : uint8_t {
  kInput = 1,   // u16: pushes that argument
  kBlob = 2,    // u16: pushes that blob
  kNumber = 3,  // f32: pushes it
  kAdd = 4,     // pops b, then a; pushes a + b
  kSub = 5,
  kMul = 6,
  kRelu = 7,     // in place
  kSave = 8,     // u16: pops into a local
  kLoad = 9,     // u16: pushes a local
  kOutput = 10,  // u16: pops into that result
};

// Bytes of the operand; false for what is not an opcode.
bool operand_size(uint8_t opcode, size_t* size);

// Takes little-endian numbers and bytes off the front; fails once and for all.
class ByteReader {
 public:
  ByteReader(const void* data, size_t size) : at_(static_cast<const uint8_t*>(data)), left_(size) {}

  uint16_t u16();
  uint32_t u32();
  std::string_view bytes(size_t count);

  bool failed() const { return failed_; }
  std::string_view rest() const { return {reinterpret_cast<const char*>(at_), left_}; }

 private:
  const uint8_t* at_;
  size_t left_;
  bool failed_ = false;
};

struct Header {
  uint32_t elements = 0;
  uint16_t inputs = 0;
  uint16_t outputs = 0;
  uint16_t blobs = 0;
  uint16_t locals = 0;
};

// False when the payload is not of this backend or ends early.
bool read_header(ByteReader* reader, Header* header);

// Null, or what is wrong. `seen` has room for locals + outputs and is scratch.
const char* check_code(std::string_view code, const Header& header, bool* seen);

}  // namespace petrel::backends::bytecode

#endif  // PETREL_EXAMPLES_BACKEND_BYTECODE_FORMAT_BYTECODE_H_
