/* SPDX-License-Identifier: Apache-2.0
 *
 * What Winograd's convolution does to a tile before and after its products, for one size of tiles,
 * one stride and one set of instructions. A tile of T x T pixels of the output needs S x S pixels
 * of the input, `pixels[S * y + x]`, and has as many planes, which are numbered like those:
 *
 *   T   stride   S   planes of the filter, (T + 2)^2
 *   2   1        4   16
 *   4   1        6   36
 *   2   2        5   16: the one in row min(y, 3) and column min(x, 3) is that of plane (y, x)
 *   4   2        9   36: likewise with 5
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_TRANSFORMS_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_TRANSFORMS_H_

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WINOGRAD_MOST_PLANES 81

/* Where the output of a tile goes. `rows` and `columns` of the T x T are within the plane. */
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
  size_t tile; /* T */
  size_t stride;
  size_t side; /* S */
  size_t planes;
  size_t filter_planes;
  /* Nine weights, `taps[3 * y + x]`, of each of `columns` outputs, for each of `depth` channels,
   * to a row of theirs in each of the T + 2 planes of one row of planes. */
  void (*filter)(const float* taps, size_t depth, size_t columns, size_t row, float* u,
                 size_t plane_stride);
  /* `depth` channels of a tile to a row in each plane. */
  void (*input)(const float* const* pixels, size_t depth, float* v, size_t plane_stride);
  /* A row in each plane to the pixels of the output. False when one of them is not finite. */
  bool (*output)(const float* m, size_t plane_stride, const struct winograd_target* to);
  /* The same by direct convolution, with all planes of a packed panel, `columns` wide, or, where
   * `plane_stride` is 0, with the taps of all channels. */
  void (*direct)(const float* const* pixels, size_t depth, const float* filter, size_t plane_stride,
                 size_t columns, const struct winograd_target* to);
};

extern const struct winograd_transforms winograd_2_plain, winograd_4_plain;
extern const struct winograd_transforms winograd_2_apart_plain, winograd_4_apart_plain;
#if defined(__x86_64__)
extern const struct winograd_transforms winograd_2_fma3, winograd_4_fma3;
extern const struct winograd_transforms winograd_2_apart_fma3, winograd_4_apart_fma3;
extern const struct winograd_transforms winograd_2_avx512f, winograd_4_avx512f;
extern const struct winograd_transforms winograd_2_apart_avx512f, winograd_4_apart_avx512f;
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_TRANSFORMS_H_ */
