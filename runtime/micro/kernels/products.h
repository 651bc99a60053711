/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_PRODUCTS_H_
#define PETREL_RUNTIME_MICRO_KERNELS_PRODUCTS_H_

#include <stdint.h>

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif

/* sums[i] += levels[i] * weight[i], each by itself. */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
static void petrel_add_products(const int8_t *levels, const int8_t *weight, int32_t count,
                                int32_t *sums) {
  for (int32_t k = 0; k < count; k += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)(count - k));
    const int32x4_t product =
        vmulq_s32(vldrbq_z_s32(levels + k, some), vldrbq_z_s32(weight + k, some));
    vstrwq_p_s32(sums + k, vaddq_s32(vldrwq_z_s32(sums + k, some), product), some);
  }
}
#else
static void petrel_add_products(const int8_t *levels, const int8_t *weight, int32_t count,
                                int32_t *sums) {
  for (int32_t k = 0; k < count; ++k) {
    sums[k] += (int32_t)levels[k] * weight[k];
  }
}
#endif

#endif /* PETREL_RUNTIME_MICRO_KERNELS_PRODUCTS_H_ */
