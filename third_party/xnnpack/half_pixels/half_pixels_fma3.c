/* SPDX-License-Identifier: Apache-2.0 */
#include <immintrin.h>
#include <string.h>

#include "third_party/xnnpack/half_pixels/half_pixels.h"

#define LANES 8
#define MASKS_ARE_FREE false
#define TEN_PIXELS(size, group, stride) ((size) > 3 || (stride) == 1)
#define HAS_COPIES_OF_ROWS(size, group) ((size) == 3)
typedef __m256 vector;
typedef xnn_float16 element;
typedef union xnn_f16_minmax_params bounds;

static inline float low_of(const bounds* b) { return xnn_float16_to_float(b->scalar.min); }
static inline float high_of(const bounds* b) { return xnn_float16_to_float(b->scalar.max); }
static inline vector all(float x) { return _mm256_set1_ps(x); }
static inline vector load(const element* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(const void*)from));
}
static inline vector load_some(const element* from, size_t count) {
  if (count == LANES) return load(from);
  element some[LANES];
  memset(some, 0, sizeof(some));
  memcpy(some, from, count * sizeof(element));
  return load(some);
}
static inline void store_some(element* to, size_t count, vector x) {
  const __m128i halves = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
  if (count == LANES) {
    _mm_storeu_si128((__m128i*)(void*)to, halves);
  } else {
    memcpy(to, &halves, count * sizeof(element));
  }
}
static inline vector add_product(vector sum, vector a, vector b) {
  return _mm256_fmadd_ps(a, b, sum);
}
static inline vector clamp(vector x, vector low, vector high) {
  return _mm256_min_ps(high, _mm256_max_ps(low, x));
}

typedef int indices; /* of inputs in a group, which has one */
static inline indices spread_indices(int group, int i) {
  (void)group, (void)i;
  return 0;
}
static inline vector spread(int group, indices places, int i, const element* from, size_t count) {
  (void)group, (void)places, (void)i;
  return load_some(from, count);
}

#include "petrel/f32-window-body.h"

KERNEL(petrel_f16_dwconv_minmax_ukernel_9p8c__fma3, 3, 1)
KERNEL(petrel_f16_dwconv_minmax_ukernel_25p8c__fma3, 5, 1)
KERNEL(petrel_f16_dwconv_minmax_ukernel_49p8c__fma3, 7, 1)
