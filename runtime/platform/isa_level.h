// SPDX-License-Identifier: Apache-2.0
//
// Up to which instruction set this process uses the processor: a cap that is set
// once, before anything computes, and that all kernels and backends keep to.
//
//   PETREL_RETURN_IF_ERROR(set_isa_level("avx2"));   // before programs are loaded
//   if ((isa_level().features & kAvx2) != 0) ...     // the level is fixed from here
//
// A level names what kernels may use, as far as the machine has it, so that they
// are the same on every machine that has all of it. Some levels are those of one
// processor ("zen"), for which a backend has kernels of its own; all others take
// the kernels of no particular one. "native", the default, is all that this
// machine has, and its own special kernels. The lists are constants; nothing here
// needs memory.
#ifndef PETREL_RUNTIME_PLATFORM_ISA_LEVEL_H_
#define PETREL_RUNTIME_PLATFORM_ISA_LEVEL_H_

#include <cstdint>
#include <string_view>

#include "runtime/core/error.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

// What selects kernels. Everything else that comes with one of these, such as
// SSE4.2 with AVX, goes with it.
enum IsaFeature : uint32_t {
#if defined(__x86_64__)
  kSsse3 = 1u << 0,
  kSse41 = 1u << 1,
  kAvx = 1u << 2,
  kF16c = 1u << 3,
  kFma3 = 1u << 4,
  kAvx2 = 1u << 5,
  kAvxVnni = 1u << 6,
  kAvx512f = 1u << 7,
  kAvx512skx = 1u << 8,  // CD, BW, DQ and VL
  kAvx512vbmi = 1u << 9,
  kAvx512vnni = 1u << 10,
  kGfni = 1u << 11,
  kAmxInt8 = 1u << 12,
#elif defined(__aarch64__)
  kFp16 = 1u << 0,  // arithmetic, in vectors and alone
  kDotProduct = 1u << 1,
  kI8mm = 1u << 2,
#endif
};

struct IsaLevel {
  const char* name;
  uint32_t features;  // that kernels may use
  uint32_t needed;    // that the machine must have
  // In XNNPACK's words, whose special kernels are taken: "" for nobody's, null
  // for the machine's own.
  const char* processor;
};

// Those of this architecture: by what they add, then processors, then "native".
Span<const IsaLevel> isa_levels();

// Whether this machine has what the level needs.
bool is_available(const IsaLevel& level);

// InvalidArgument, with the levels this machine has, for any other one;
// InvalidState when another level is fixed.
Error set_isa_level(std::string_view name);

// The level of the process, fixed by the first call.
const IsaLevel& isa_level();

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_ISA_LEVEL_H_
