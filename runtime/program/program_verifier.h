// SPDX-License-Identifier: Apache-2.0
//
// verify_program: decides whether the bytes of a program can be trusted, and
// gives the view through which alone they are read from then on. It runs on
// every load; schema/README.md gives the promises that rest on it.
//
//   flatbuffer     offsets, vtables, vectors and strings inside the buffer;
//                  alignment; depth; number of tables linear in the size
//   program        version, method names present and different
//   segments       inside the file; references to them in range, named keys
//   values         union tags with bodies; tensors: type, rank, sizes,
//                  dim_order, bytes, place in arena or segment; list items
//   instructions   operator, delegate and value indices, jump targets; a value
//                  that is moved fits what is declared of the other
//   delegates      id, payload, compile specs
//   arenas         sizes not negative and in all below a limit
//
// What is NOT verified here because it may change while a method runs: the
// types of kernel arguments (KernelArgs does) and of jump conditions, and the
// contents of delegate payloads (their backends do).
//
// Cost: linear in the size of the program, no memory. Wrong programs give
// InvalidProgram, right ones that need something absent give NotSupported,
// arenas beyond the limit and lists of tensors of more entries than most of a program
// OutOfResources; the message names the place.

#ifndef PETREL_RUNTIME_PROGRAM_PROGRAM_VERIFIER_H_
#define PETREL_RUNTIME_PROGRAM_PROGRAM_VERIFIER_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/budget.h"
#include "runtime/core/error.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"
#include "runtime/program/program_view.h"

namespace petrel::schema {
class SharedBytes;
}  // namespace petrel::schema

namespace petrel::schema::program {
struct ExecutionPlan;
struct Program;
}  // namespace petrel::schema::program

namespace petrel::runtime {

struct ProgramFile {
  // Flatbuffer and header; at a multiple of kDataAlignment.
  Span<const uint8_t> program;
  uint64_t file_size = 0;
  // 0: the file has no segments.
  uint64_t segment_base = 0;
  // 0: not known, up to the end of the file.
  uint64_t segment_data_size = 0;
  uint64_t max_arena_bytes = 0;
};

// The view points into `file.program`, which must stay and not change.
Result<ProgramView> verify_program(const ProgramFile& file);

// The parts, called by verify_program. `visits` pays for what is looked at again
// and again. `entries` pays for those of lists of tensors, which take six times their bytes when a
// method is made: a program that is little else is none that a compiler wrote. `initial` pays for
// what is copied to states when a method is made, which as many of them as there are may name.
struct PlanContext {
  const schema::program::Program* program;
  const schema::program::ExecutionPlan* plan;
  uint64_t max_arena_bytes;
  Budget* visits;
  Budget* entries;
  schema::SharedBytes* initial;
};
Error verify_values(const PlanContext& context);
Error verify_instructions(const PlanContext& context);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PROGRAM_PROGRAM_VERIFIER_H_
