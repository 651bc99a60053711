// SPDX-License-Identifier: Apache-2.0
//
// ProgramAdditions: the named data `petrel.program` of a program
// (schema/additions.md), verified like the program itself: whoever has one may
// walk its tables without checks of its own.
//
//   PETREL_ASSIGN_OR_RETURN(ProgramAdditions additions,
//                           ProgramAdditions::load(*loader, base, program));
//   if (additions.table() == nullptr) ...   // most programs have none
//
// Owns the bytes of the table; loader and program must outlive it.

#ifndef PETREL_RUNTIME_PROGRAM_PROGRAM_ADDITIONS_H_
#define PETREL_RUNTIME_PROGRAM_PROGRAM_ADDITIONS_H_

#include <cstdint>
#include <string_view>

#include "runtime/core/data_loader.h"
#include "runtime/core/freeable_buffer.h"
#include "runtime/core/result.h"

namespace petrel::schema::additions {
struct Additions;
struct MethodAdditions;
struct ScratchPlace;
}  // namespace petrel::schema::additions

namespace petrel::schema::program {
struct ExecutionPlan;
struct Program;
}  // namespace petrel::schema::program

namespace petrel::runtime {

inline constexpr std::string_view kAdditionsKey = "petrel.program";

class ProgramAdditions final {
 public:
  ProgramAdditions() = default;

  // `program` is verified. InvalidProgram if the entry contradicts itself or
  // the program, NotSupported if its version is newer.
  static Result<ProgramAdditions> load(const DataLoader& loader, uint64_t segment_base,
                                       const schema::program::Program& program);

  // Null if the program has none.
  const schema::additions::Additions* table() const { return table_; }

  // What is said of `plan`, which is one of the program's; null if nothing is.
  const schema::additions::MethodAdditions* of(const schema::program::ExecutionPlan& plan) const;

  // The name of a constant in the program; empty if it has none.
  std::string_view constant_name(const schema::program::ExecutionPlan& plan, uint32_t value) const;

  // The scratch memory of one instruction of `plan`; null if it has none.
  const schema::additions::ScratchPlace* find_scratch(const schema::program::ExecutionPlan& plan,
                                                      uint32_t chain, uint32_t instruction) const;

 private:
  FreeableBuffer data_;
  const schema::additions::Additions* table_ = nullptr;
  const schema::program::Program* program_ = nullptr;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_PROGRAM_ADDITIONS_H_
