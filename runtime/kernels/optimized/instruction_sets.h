// SPDX-License-Identifier: Apache-2.0
//
// The instruction sets that vector code is compiled for: SSE4, AVX2 and AVX-512
// beside the least that the compiler may assume; on arm64 NEON, as vectors
// without a fixed size cannot be kept in arrays. To be included before
// hwy/foreach_target.h.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_INSTRUCTION_SETS_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_INSTRUCTION_SETS_H_

#define PETREL_UNUSED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

// GCC 12 aligns frames to no more than 32 bytes when AddressSanitizer keeps
// them to find uses after return; vectors of AVX-512 need 64.
#if defined(__SANITIZE_ADDRESS__)
#define HWY_DISABLED_TARGETS (PETREL_UNUSED_TARGETS | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS PETREL_UNUSED_TARGETS
#endif

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_INSTRUCTION_SETS_H_
