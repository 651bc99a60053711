// SPDX-License-Identifier: Apache-2.0
//
// ProgramAdditions: the named data `petrel.program` of a program
// (schema/additions.md), verified like the program itself: what it answers needs
// no check. Methods are given by their index in the program.
//
//   ProgramAdditions additions;
//   PETREL_RETURN_IF_ERROR(additions.load(*loader, base, program));
//   for (uint32_t i = 0; i < additions.num_weights(); ++i) use(additions.weight(i));
//
// Owns the bytes of the table; loader and program must outlive it.

#ifndef PETREL_RUNTIME_PROGRAM_PROGRAM_ADDITIONS_H_
#define PETREL_RUNTIME_PROGRAM_PROGRAM_ADDITIONS_H_

#include <cstdint>
#include <string_view>

#include "runtime/core/data_loader.h"
#include "runtime/core/freeable_buffer.h"
#include "runtime/core/result.h"
#include "runtime/program/program_view.h"

namespace petrel::schema::additions {
struct Additions;
struct MethodAdditions;
}  // namespace petrel::schema::additions

namespace petrel::runtime {

// Memory that the kernel of one instruction may use while it runs.
struct ScratchView {
  uint32_t chain = 0;
  uint32_t instruction = 0;
  uint32_t arena = 0;  // counted from 1
  uint64_t offset = 0;
  uint64_t size = 0;
};

// What data for a weight must be, wherever it comes from.
struct WeightView {
  // Never empty.
  std::string_view key;
  // A layout that tensors can have; the rest of it counts only if there is one.
  bool has_layout = false;
  ScalarType scalar_type = ScalarType::Float;
  Span<const int32_t> sizes;
  Span<const uint8_t> dim_order;
  uint64_t bytes = 0;
  // kDigestSize bytes, or none if any bytes will do.
  Span<const uint8_t> digest;
};

class ProgramAdditions final {
 public:
  ProgramAdditions() = default;

  // Once. InvalidProgram if the entry contradicts itself or the program, NotSupported
  // if its version is newer.
  Error load(const DataLoader& loader, uint64_t segment_base, const ProgramView& program);

  // Of the SHA-256 of a weight.
  static constexpr size_t kDigestSize = 32;

  // "PA01", at byte 4 of the entry.
  static const char* identifier();

  uint32_t num_weights() const;
  // In ascending order of their keys.
  WeightView weight(uint32_t index) const;
  // Names of the weights of the model that it was computed from; none if its key is that.
  uint32_t num_sources(uint32_t index) const;
  std::string_view source(uint32_t index, uint32_t place) const;
  // The index of the weight of `key`; num_weights() if there is none.
  uint32_t find_weight(std::string_view key) const;

  // The bytes of the table; none if the program has none, as most.
  Span<const uint8_t> bytes() const {
    return {static_cast<const uint8_t*>(data_.data()), data_.size()};
  }

  // The name of a constant in the program; empty if it has none.
  std::string_view constant_name(uint32_t method, uint32_t value) const;

  // In the order of chains and instructions.
  uint32_t num_scratch(uint32_t method) const;
  ScratchView scratch(uint32_t method, uint32_t index) const;
  // The scratch memory of one instruction, of 0 bytes if it has none.
  ScratchView find_scratch(uint32_t method, uint32_t chain, uint32_t instruction) const;

  // The least size of a dim of an input, where sizes vary.
  int32_t least_size(uint32_t method, size_t input, size_t dim) const;

 private:
  // Null if nothing is said of the method.
  const schema::additions::MethodAdditions* of(uint32_t method) const;

  FreeableBuffer data_;
  const schema::additions::Additions* table_ = nullptr;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_PROGRAM_ADDITIONS_H_
