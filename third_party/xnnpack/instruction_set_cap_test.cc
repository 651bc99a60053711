// SPDX-License-Identifier: Apache-2.0

// Kernels are chosen as on a machine that has no more than the cap. XNNPACK
// chooses once in a process, so every choice is made in a child.
#include <gtest/gtest.h>
#include <xnnpack.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "petrel/cap.h"
#include "petrel/f32-gemm-fma3.h"
#include "xnnpack/config.h"
#include "xnnpack/gemm.h"
#include "xnnpack/hardware-config.h"

namespace petrel::third_party::xnnpack {
namespace {

constexpr uint32_t kAll = ~uint32_t{0};

struct Chosen {
  const xnn_hardware_config* hardware;
  const xnn_gemm_config* product;
};

// Chooses with the cap and ends the process: with 0 when `is_right`.
template <typename Predicate>
[[noreturn]] void choose(uint32_t features, const char* processor, Predicate is_right) {
  if (!xnn_set_cap(features, processor)) std::exit(2);
  if (xnn_initialize(nullptr) != xnn_status_success) std::exit(3);
  const Chosen chosen = {xnn_init_hardware_config(), xnn_init_f32_gemm_config()};
  if (!is_right(chosen)) {
    std::fprintf(stderr, "%u rows, %u columns\n", chosen.product->mr, chosen.product->nr);
    std::exit(1);
  }
  std::exit(0);
}

const auto kRight = ::testing::ExitedWithCode(0);

TEST(InstructionSetCapDeathTest, UnknownProcessorIsRefused) {
  EXPECT_FALSE(xnn_set_cap(kAll, "zen9"));
}

#if XNN_ARCH_X86_64

constexpr uint32_t kAvx = XNN_CAP_SSSE3 | XNN_CAP_SSE4_1 | XNN_CAP_AVX;
constexpr uint32_t kAvx2 = kAvx | XNN_CAP_F16C | XNN_CAP_FMA3 | XNN_CAP_AVX2;

bool is_product(const Chosen& chosen, uint32_t rows, uint32_t columns,
                void (*kernel)(size_t, size_t, size_t, const float*, size_t, const float*, float*,
                               size_t, size_t, const xnn_f32_minmax_params*)) {
  return chosen.product->mr == rows && chosen.product->nr == columns &&
         chosen.product->log2_kr == 0 && chosen.product->log2_sr == 0 &&
         chosen.product->minmax.gemm[rows - 1].function[0] ==
             reinterpret_cast<xnn_gemm_ukernel_fn>(kernel);
}

TEST(InstructionSetCapDeathTest, NothingIsSse2) {
  EXPECT_EXIT(
      choose(0, "",
             [](const Chosen& chosen) {
               const xnn_hardware_config* h = chosen.hardware;
               return is_product(chosen, 4, 8, &xnn_f32_gemm_minmax_ukernel_4x8__sse_load1) &&
                      h->use_x86_ssse3 + h->use_x86_avx + h->use_x86_avx2 + h->use_x86_avx512f +
                              h->use_x86_avx512skx + h->use_x86_avx256skx + h->use_x86_avx512amx ==
                          0;
             }),
      kRight, "");
}

TEST(InstructionSetCapDeathTest, AvxHasNoFma) {
  if (!__builtin_cpu_supports("avx")) GTEST_SKIP();
  EXPECT_EXIT(choose(kAvx, "",
                     [](const Chosen& chosen) {
                       return is_product(chosen, 4, 16,
                                         &xnn_f32_gemm_minmax_ukernel_4x16__avx_broadcast);
                     }),
              kRight, "");
}

TEST(InstructionSetCapDeathTest, Avx2IsThatOfNoParticularProcessor) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP();
  EXPECT_EXIT(choose(kAvx2, "",
                     [](const Chosen& chosen) {
                       return is_product(chosen, 6, 16, &petrel_f32_gemm_minmax_ukernel_6x16__fma3);
                     }),
              kRight, "");
}

TEST(InstructionSetCapDeathTest, ZenTakesSixRowsWithoutGroupsOfDepths) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP();
  for (const char* processor : {"zen", "dhyana"}) {
    EXPECT_EXIT(choose(kAvx2, processor,
                       [](const Chosen& chosen) {
                         return is_product(chosen, 6, 16,
                                           &petrel_f32_gemm_minmax_ukernel_6x16__fma3);
                       }),
                kRight, "");
  }
}

TEST(InstructionSetCapDeathTest, WithoutACapTheMachineIsWhole) {
  EXPECT_EXIT(
      choose(kAll, nullptr,
             [](const Chosen& chosen) {
               return chosen.hardware->use_x86_avx2 == (__builtin_cpu_supports("avx2") != 0) &&
                      chosen.hardware->use_x86_avx512f == (__builtin_cpu_supports("avx512f") != 0);
             }),
      kRight, "");
}

#elif XNN_ARCH_ARM64

TEST(InstructionSetCapDeathTest, NothingIsNeon) {
  EXPECT_EXIT(choose(0, "",
                     [](const Chosen& chosen) {
                       return chosen.product->nr == 8 && !chosen.hardware->use_arm_neon_dot &&
                              !chosen.hardware->use_arm_neon_fp16_arith &&
                              !chosen.hardware->use_arm_neon_i8mm;
                     }),
              kRight, "");
}

TEST(InstructionSetCapDeathTest, OldExynosTakesGroupsOfDepths) {
  EXPECT_EXIT(
      choose(0, "exynos-m1", [](const Chosen& chosen) { return chosen.product->log2_sr == 2; }),
      kRight, "");
}

#endif

}  // namespace
}  // namespace petrel::third_party::xnnpack
