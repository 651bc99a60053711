// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/sigmoid/sigmoid.h"

#include <immintrin.h>
#include <stdint.h>

#define LANES 8
// Vectors that are computed in step, so that each instruction waits while those of the others
// run. The processor alone does not look ahead far enough.
#define VECTORS 4
#define EACH(i) _Pragma("GCC unroll 8") for (int i = 0; i < VECTORS; ++i)

// y[i] becomes the sigmoid of x[i].
static inline __attribute__((always_inline)) void sigmoids(const __m256* x, __m256* y) {
  // NaN stays NaN: it is the second operand.
  const __m256 sign = _mm256_set1_ps(-0.0f), least = _mm256_set1_ps(-88);
  __m256 t[VECTORS], power[VECTORS], q[VECTORS];
  EACH(i) t[i] = _mm256_max_ps(least, _mm256_or_ps(x[i], sign));
  // A float of this size has no bits for fractions; n + 127, an exponent, are its last.
  const __m256 shift = _mm256_set1_ps(12582912.0f + 127);
  EACH(i) q[i] = _mm256_fmadd_ps(t[i], _mm256_set1_ps(1.442695041f), shift);
  EACH(i) power[i] = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(q[i]), 23));
  EACH(i) q[i] = _mm256_sub_ps(q[i], shift);
  EACH(i) t[i] = _mm256_fmadd_ps(q[i], _mm256_set1_ps(-0.6931471806f), t[i]);
  // A polynomial that is 1 at 0, near the one whose largest relative distance from e^t is the
  // least. The last bits are chosen for small errors of the results, near -87 foremost: there t
  // is too large by 2e-7, since n ln 2 is computed with one float for ln 2.
  EACH(i)
  q[i] = _mm256_fmadd_ps(_mm256_set1_ps(0x1.0fb574p-7f), t[i], _mm256_set1_ps(0x1.573a98p-5f));
  EACH(i) q[i] = _mm256_fmadd_ps(q[i], t[i], _mm256_set1_ps(0x1.555a56p-3f));
  EACH(i) q[i] = _mm256_fmadd_ps(q[i], t[i], _mm256_set1_ps(0x1.fffdc2p-2f));
  EACH(i) q[i] = _mm256_fmadd_ps(q[i], t[i], _mm256_set1_ps(0x1.fffff6p-1f));
  const __m256 one = _mm256_set1_ps(1);
  EACH(i) q[i] = _mm256_fmadd_ps(q[i], t[i], one);
  EACH(i) q[i] = _mm256_mul_ps(power[i], q[i]);
  EACH(i) y[i] = _mm256_blendv_ps(one, q[i], x[i]);
  EACH(i) y[i] = _mm256_div_ps(y[i], _mm256_add_ps(q[i], one));
}

void petrel_f32_vsigmoid_ukernel__avx2(size_t batch, const float* input, float* output,
                                       const struct xnn_f32_default_params* params) {
  (void)params;
  __m256 x[VECTORS], y[VECTORS];
  size_t count = batch / sizeof(float);
  for (; count >= VECTORS * LANES; count -= VECTORS * LANES) {
    EACH(i) x[i] = _mm256_loadu_ps(input + i * LANES);
    sigmoids(x, y);
    EACH(i) _mm256_storeu_ps(output + i * LANES, y[i]);
    input += VECTORS * LANES;
    output += VECTORS * LANES;
  }
  if (count == 0) return;
  const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  __m256i masks[VECTORS];
  EACH(i) masks[i] = _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)count - i * LANES), lane);
  EACH(i) x[i] = _mm256_maskload_ps(input + i * LANES, masks[i]);
  sigmoids(x, y);
  EACH(i) _mm256_maskstore_ps(output + i * LANES, masks[i], y[i]);
}
