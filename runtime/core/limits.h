// SPDX-License-Identifier: Apache-2.0
//
// Limits: what a program may use at most, whatever its file asks for. Each has one
// name, which is that of the option in C++, C (petrel_options_set_limit), Python and
// the command (--max-arena-bytes ...), and which errors state together with what
// was asked for:
//
//   ProgramOptions options;
//   options.limits.max_arena_bytes = 64 << 20;
//   "aten::bmm.out needs 4611686018427387904 of max_element_operations, which is
//    100000000000000, of which 99999999999000 are left"
//
// All else that loading a program takes is a small multiple of its file. The
// defaults refuse no honest program of today: the largest that they are made for
// is a decoder of seven billion parameters.
#ifndef PETREL_RUNTIME_CORE_LIMITS_H_
#define PETREL_RUNTIME_CORE_LIMITS_H_

#include <cstdint>

namespace petrel::runtime {

// The key-value cache of that decoder takes 4 GiB for 4,096 tokens, what it
// computes with for so many at once some GiB more.
inline constexpr uint64_t kDefaultMaxBytes =
    sizeof(void*) >= 8 ? uint64_t{16} << 30 : uint64_t{1} << 30;

struct Limits {
  // The arenas of one method together.
  uint64_t max_arena_bytes = kDefaultMaxBytes;
  // What the delegates of one method keep beyond their payloads and each constant
  // once: the values between their nodes, and further forms of one constant.
  uint64_t max_delegate_bytes = kDefaultMaxBytes;
  // Inputs and outputs of one method that are made in the sizes that its program
  // states: outputs that it does not plan, and inputs that the command fills.
  uint64_t max_input_bytes = kDefaultMaxBytes;
  // Instructions of one execution. A loop over tokens has thousands.
  uint64_t max_instructions = 10'000'000;
  // Work of one execution: elements that instructions go through, multiply-adds of
  // those that multiply matrices. 4,096 tokens through seven billion parameters are
  // 3 * 10^13.
  uint64_t max_element_operations = 100'000'000'000'000;
};

// One row for each, in the order of petrel_limit of the C interface.
struct LimitRow {
  const char* name;
  uint64_t Limits::*value;
  const char* help;
};
inline constexpr LimitRow kLimitRows[] = {
    {"max_arena_bytes", &Limits::max_arena_bytes, "memory of a method's arenas"},
    {"max_delegate_bytes", &Limits::max_delegate_bytes,
     "memory of a method's delegates beyond their weights"},
    {"max_input_bytes", &Limits::max_input_bytes,
     "memory of inputs that are not given, and of outputs"},
    {"max_instructions", &Limits::max_instructions, "instructions of one execution"},
    {"max_element_operations", &Limits::max_element_operations,
     "elements and multiply-adds of one execution"},
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_LIMITS_H_
