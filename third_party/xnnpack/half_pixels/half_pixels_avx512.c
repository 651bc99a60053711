/* SPDX-License-Identifier: Apache-2.0 */
#include <immintrin.h>

#include "third_party/xnnpack/half_pixels/half_pixels.h"

#define LANES 16
#define MASKS_ARE_FREE true
#define TEN_PIXELS(size, group, stride) ((size) > 3)
#define HAS_COPIES_OF_ROWS(size, group) false
typedef __m512 vector;
typedef xnn_float16 element;
typedef union xnn_f16_minmax_params bounds;

static inline float low_of(const bounds* b) { return xnn_float16_to_float(b->scalar.min); }
static inline float high_of(const bounds* b) { return xnn_float16_to_float(b->scalar.max); }
static inline __mmask16 lanes(size_t count) { return (__mmask16)((1u << count) - 1); }
static inline vector all(float x) { return _mm512_set1_ps(x); }
static inline vector load(const element* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)(const void*)from));
}
static inline vector load_some(const element* from, size_t count) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes(count), from));
}
static inline void store_some(element* to, size_t count, vector x) {
  _mm256_mask_storeu_epi16(to, lanes(count), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
static inline vector add_product(vector sum, vector a, vector b) {
  return _mm512_fmadd_ps(a, b, sum);
}
static inline vector clamp(vector x, vector low, vector high) {
  return _mm512_min_ps(high, _mm512_max_ps(low, x));
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

KERNEL(petrel_f16_dwconv_minmax_ukernel_9p16c__avx512skx, 3, 1)
KERNEL(petrel_f16_dwconv_minmax_ukernel_25p16c__avx512skx, 5, 1)
KERNEL(petrel_f16_dwconv_minmax_ukernel_49p16c__avx512skx, 7, 1)
