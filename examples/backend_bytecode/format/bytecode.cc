// SPDX-License-Identifier: Apache-2.0
#include "examples/backend_bytecode/format/bytecode.h"

namespace petrel::backends::bytecode {

bool operand_size(uint8_t opcode, size_t* size) {
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::kInput:
    case Opcode::kBlob:
    case Opcode::kSave:
    case Opcode::kLoad:
    case Opcode::kOutput:
      *size = 2;
      return true;
    case Opcode::kNumber:
      *size = 4;
      return true;
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kRelu:
      *size = 0;
      return true;
  }
  return false;
}

std::string_view ByteReader::bytes(size_t count) {
  if (failed_ || count > left_) {
    failed_ = true;
    return {};
  }
  const std::string_view taken(reinterpret_cast<const char*>(at_), count);
  at_ += count;
  left_ -= count;
  return taken;
}

uint16_t ByteReader::u16() {
  const std::string_view taken = bytes(2);
  if (failed_) return 0;
  return static_cast<uint16_t>(static_cast<uint8_t>(taken[0]) | static_cast<uint8_t>(taken[1])
                                                                    << 8);
}

uint32_t ByteReader::u32() {
  const uint32_t low = u16();
  return low | static_cast<uint32_t>(u16()) << 16;
}

bool read_header(ByteReader* reader, Header* header) {
  if (reader->bytes(kMagic.size()) != kMagic) return false;
  header->elements = reader->u32();
  header->inputs = reader->u16();
  header->outputs = reader->u16();
  header->blobs = reader->u16();
  header->locals = reader->u16();
  return !reader->failed();
}

const char* check_code(std::string_view code, const Header& header, bool* seen) {
  bool* const saved = seen;
  bool* const written = seen + header.locals;
  for (size_t i = 0; i < size_t{header.locals} + header.outputs; ++i) seen[i] = false;
  ByteReader reader(code.data(), code.size());
  size_t depth = 0;
  while (!reader.rest().empty()) {
    const auto opcode = static_cast<uint8_t>(reader.bytes(1)[0]);
    size_t size = 0;
    if (!operand_size(opcode, &size)) return "has an unknown instruction";
    const size_t operand = size == 2 ? reader.u16() : 0;
    if (size == 4) reader.u32();
    if (reader.failed()) return "ends within an instruction";
    size_t pops = 0;
    size_t pushes = 1;
    switch (static_cast<Opcode>(opcode)) {
      case Opcode::kInput:
        if (operand >= header.inputs) return "names no input";
        break;
      case Opcode::kBlob:
        if (operand >= header.blobs) return "names no blob";
        break;
      case Opcode::kNumber:
        break;
      case Opcode::kAdd:
      case Opcode::kSub:
      case Opcode::kMul:
        pops = 2;
        break;
      case Opcode::kRelu:
        pops = 1;
        break;
      case Opcode::kSave:
        if (operand >= header.locals) return "names no local";
        saved[operand] = true;
        pops = 1;
        pushes = 0;
        break;
      case Opcode::kLoad:
        if (operand >= header.locals || !saved[operand]) return "loads what was not saved";
        break;
      case Opcode::kOutput:
        if (operand >= header.outputs) return "names no output";
        written[operand] = true;
        pops = 1;
        pushes = 0;
        break;
    }
    if (depth < pops) return "takes more off the stack than is there";
    depth = depth - pops + pushes;
    if (depth > kMaxDepth) return "puts more on the stack than there is room for";
  }
  for (size_t i = 0; i < header.outputs; ++i) {
    if (!written[i]) return "leaves an output unwritten";
  }
  return nullptr;
}

}  // namespace petrel::backends::bytecode
