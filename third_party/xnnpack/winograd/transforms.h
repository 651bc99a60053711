/* SPDX-License-Identifier: Apache-2.0
 *
 * What Winograd's convolution does to a tile before and after its products, for one set of
 * instructions. A tile is 4 x 4 pixels of the input, `pixels[4 * y + x]`, and 2 x 2 of the
 * output; planes are numbered like pixels.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_TRANSFORMS_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_TRANSFORMS_H_

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WINOGRAD_PLANES 16

/* Where the output of a tile goes. `rows` and `columns` of the 2 x 2 are within the plane. */
struct winograd_target {
  float* output;
  size_t row_stride; /* floats */
  size_t column_stride;
  size_t rows, columns;
  size_t channels;
  const float* bias;
  float low, high;
};

struct winograd_transforms {
  /* Nine weights, `taps[3 * y + x]`, of each of `columns` outputs to a row in each plane. */
  void (*filter)(const float* taps, size_t columns, float* u, size_t plane_stride);
  /* `depth` channels of a tile to a row in each plane. */
  void (*input)(const float* const* pixels, size_t depth, float* v, size_t plane_stride);
  /* A row in each plane to the pixels of the output. False when one of them is not finite. */
  bool (*output)(const float* m, size_t plane_stride, const struct winograd_target* to);
  /* The same by direct convolution. `u` has the panels of all planes, `columns` wide. */
  void (*direct)(const float* const* pixels, size_t depth, const float* u, size_t plane_stride,
                 size_t columns, const struct winograd_target* to);
};

extern const struct winograd_transforms winograd_transforms_plain;
#if defined(__x86_64__)
extern const struct winograd_transforms winograd_transforms_fma3;
extern const struct winograd_transforms winograd_transforms_avx512f;
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_TRANSFORMS_H_ */
