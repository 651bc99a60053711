/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of normalisations, compiled for each set of instructions.
 *
 *   rows     | x x x x x x |   one mean and one variance for each row
 *            | x x x x x x |
 *
 *   pixels   | g g g h h h |   one of each for a group of channels of all pixels: tasks add up some
 *            | g g g h h h |   of the pixels each, and others scale them when all sums are there
 *
 * Deviations are squared from the mean, not from zero. Sums of some hundred numbers run in lanes of
 * floats, those sums in double. Nothing is read or written outside of what is named; `y` may be
 * `x`.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_NORM_KERNELS_H_
#define PETREL_THIRD_PARTY_XNNPACK_NORM_KERNELS_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct norm_pixels {
  size_t pixels, channels, group_channels;
};

struct norm_kernels {
  size_t lanes;
  /* `weight` and `bias`, of `size` numbers, may be null. */
  void (*rows)(const float* x, float* y, size_t count, size_t size, const float* weight,
               const float* bias, float epsilon);
  /* Sets the sum of each group; where there are `centers`, of the squares of what is left without
   * its center. */
  void (*add)(const struct norm_pixels* of, const float* x, const float* centers, double* sums);
  /* y = (x - center) * factor * weight + bias. */
  void (*scale)(const struct norm_pixels* of, const float* x, float* y, const float* centers,
                const float* factors, const float* weight, const float* bias);
};

extern const struct norm_kernels norm_plain;
/* Of x86. */
extern const struct norm_kernels norm_fma3;
extern const struct norm_kernels norm_avx512f;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_NORM_KERNELS_H_ */
