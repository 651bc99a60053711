/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of functions.h, of LANES floats at a time: each file that defines LANES and
 * includes this is compiled for one instruction set.
 *
 *   e^x      2^n e^t               x = n ln 2 + t,  |t| <= ln 2 / 2
 *   log x    e ln 2 + log m        x = 2^e m,  sqrt 1/2 <= m < sqrt 2
 *   sin x    +- sin r or cos r     x = n pi/2 + r,  |r| <= pi/4
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "third_party/xnnpack/functions/functions.h"

typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t ints __attribute__((vector_size(LANES * sizeof(float))));

/* A float of this size has no bits for fractions: its last bits are an integer. */
#define SHIFT 12582912.0f
#define SHIFT_BITS 0x4B400000

#define SIGN_BIT INT32_MIN

/* `mask` is -1 where it holds. */
static inline floats choose(ints mask, floats yes, floats no) {
  return (floats)((mask & (ints)yes) | (~mask & (ints)no));
}

static inline floats all_of(float x) { return x - (floats){0}; }

static inline floats power_of_two(ints n) { return (floats)((n + 127) << 23); }

static inline floats exponential(floats x) {
  /* Past these the results are infinity and 0; 2^n is made in two halves, each a number. */
  x = choose(x > 89.0f, all_of(89), x);
  x = choose(x < -104.0f, all_of(-104), x);
  const floats shifted = x * 0x1.715476p+0f + SHIFT;
  const floats n = shifted - SHIFT;
  /* ln 2 in two parts; the product with the first one is exact. */
  floats t = x - n * 0x1.62e400p-1f;
  t = t - n * 0x1.7f7d1cp-20f;
  floats sum = t * (1.0f / 5040) + 1.0f / 720;
  sum = sum * t + 1.0f / 120;
  sum = sum * t + 1.0f / 24;
  sum = sum * t + 1.0f / 6;
  sum = sum * t + 0.5f;
  sum = sum * t + 1.0f;
  sum = sum * t + 1.0f;
  const ints bits = (ints)shifted - SHIFT_BITS;
  const ints half = bits >> 1;
  return sum * power_of_two(half) * power_of_two(bits - half);
}

static inline floats logarithm(floats x) {
  const ints is_small = x < 0x1p-126f;
  const floats normal = choose(is_small, x * 0x1p+25f, x);
  const ints bits = (ints)normal;
  const ints exponent = (bits - 0x3F3504F3) >> 23;
  const floats m = (floats)(bits - (exponent << 23));
  const floats e = __builtin_convertvector(exponent - (is_small & 25), floats);
  /* log m = f - f^2 / 2 + s (f^2 / 2 + R), with f = m - 1, s = f / (2 + f) and R what is left of
   * the series of s: what is rounded is small beside f. */
  const floats f = m - 1.0f;
  const floats s = f / (f + 2.0f);
  const floats z = s * s;
  floats rest = z * (2.0f / 11) + 2.0f / 9;
  rest = rest * z + 2.0f / 7;
  rest = rest * z + 2.0f / 5;
  rest = rest * z + 2.0f / 3;
  rest = rest * z;
  const floats square = f * f * 0.5f;
  const floats low = s * (square + rest) + e * 0x1.7f7d1cp-20f;
  floats y = e * 0x1.62e400p-1f + (f - (square - low));
  y = choose(x < INFINITY, y, x);
  y = choose(x < 0.0f, all_of(NAN), y);
  return choose(x == 0.0f, all_of(-INFINITY), y);
}

#if defined(__FMA__) || defined(__aarch64__)
#define HAS_ANGLES 1

/* From here on n has too many bits beside it; infinities and NaN are not below it either. */
#define MOST_TURNED 65536.0f

/* pi/2 is subtracted in three parts. Both x and n times the first, a float, are multiples of 2^-23
 * when x is not small, so that what is left of their difference, in one step, is exact, and what
 * cancels costs nothing. `quarters` is 0 for the sine and 1 for the cosine. */
static inline floats wave(floats x, int32_t quarters) {
  const floats shifted = x * 0x1.45f306p-1f + SHIFT;
  const floats n = shifted - SHIFT;
  floats r = x - n * 0x1.921fb6p+0f;
  r = r - n * -0x1.777a5cp-25f;
  r = r - n * -0x1.ee59dap-50f;
  const ints q = (ints)shifted + quarters;
  const floats s = r * r;
  floats sine = s * (1.0f / 362880) - 1.0f / 5040;
  sine = sine * s + 1.0f / 120;
  sine = sine * s - 1.0f / 6;
  sine = sine * (r * s) + r;
  floats cosine = s * (-1.0f / 3628800) + 1.0f / 40320;
  cosine = cosine * s - 1.0f / 720;
  cosine = cosine * s + 1.0f / 24;
  cosine = cosine * s - 0.5f;
  cosine = cosine * s + 1.0f;
  const ints is_odd = (q & 1) == 1;
  const floats y = choose(is_odd, cosine, sine);
  return (floats)((ints)y ^ ((q & 2) << 30));
}

static inline floats size_of(floats x) { return (floats)((ints)x & ~SIGN_BIT); }

static inline floats sine(floats x) {
  /* Near 0 the argument itself, with its sign. */
  return choose(size_of(x) < 1e-4f, x, wave(x, 0));
}

static inline floats cosine(floats x) { return wave(x, 1); }

/* Those that are not small enough once more, by the C library. */
static inline void mend_far(size_t count, const float* x, float* y, float (*function)(float)) {
  for (size_t i = 0; i < count; i++) {
    if (!(fabsf(x[i]) < MOST_TURNED)) y[i] = function(x[i]);
  }
}
#endif

static inline floats load(const float* x) {
  floats v;
  memcpy(&v, x, sizeof(v));
  return v;
}

/* Up to LANES elements, beside zeros. */
static inline floats load_some(const float* x, size_t count) {
  floats some = {0};
  memcpy(&some, x, count * sizeof(float));
  return some;
}

/* y[i] = F(x[i]) */
#define SWEEP(F, x, y, count)                                               \
  do {                                                                      \
    size_t i = 0;                                                           \
    for (; i + 2 * LANES <= count; i += 2 * LANES) {                        \
      const floats first = F(load(x + i)), second = F(load(x + i + LANES)); \
      memcpy(y + i, &first, sizeof(first));                                 \
      memcpy(y + i + LANES, &second, sizeof(second));                       \
    }                                                                       \
    for (; i < count; i += LANES) {                                         \
      const size_t some = count - i < LANES ? count - i : LANES;            \
      const floats last = F(load_some(x + i, some));                        \
      memcpy(y + i, &last, some * sizeof(float));                           \
    }                                                                       \
  } while (0)

static void exponentials(size_t bytes, const void* in, void* out,
                         const union xnn_unary_uparams* params) {
  const float* x = in;
  float* y = out;
  (void)params;
  SWEEP(exponential, x, y, bytes / sizeof(float));
}

static void logarithms(size_t bytes, const void* in, void* out,
                       const union xnn_unary_uparams* params) {
  const float* x = in;
  float* y = out;
  (void)params;
  SWEEP(logarithm, x, y, bytes / sizeof(float));
}

#if HAS_ANGLES

/* So many are looked over for large ones at once. */
#define PIECE 128

static inline int are_near(const float* x, size_t count) {
  ints near = ~(ints){0};
  size_t i = 0;
  for (; i + LANES <= count; i += LANES) near &= size_of(load(x + i)) < MOST_TURNED;
  if (i < count) near &= size_of(load_some(x + i, count - i)) < MOST_TURNED;
  int32_t all = -1;
  for (size_t lane = 0; lane < LANES; lane++) all &= near[lane];
  return all != 0;
}

/* Calls F for all, and the C library's function for those that are large; the output may be the
 * input. */
#define TURN(F, LIBRARY, in, out, count)                                    \
  do {                                                                      \
    float kept[PIECE];                                                      \
    for (size_t left = count, n; left != 0; left -= n, in += n, out += n) { \
      n = left < PIECE ? left : PIECE;                                      \
      if (are_near(in, n)) {                                                \
        SWEEP(F, in, out, n);                                               \
      } else {                                                              \
        memcpy(kept, in, n * sizeof(float));                                \
        SWEEP(F, kept, out, n);                                             \
        mend_far(n, kept, out, LIBRARY);                                    \
      }                                                                     \
    }                                                                       \
  } while (0)

static void sines(size_t bytes, const void* in, void* out, const union xnn_unary_uparams* params) {
  const float* x = in;
  float* y = out;
  (void)params;
  TURN(sine, sinf, x, y, bytes / sizeof(float));
}

static void cosines(size_t bytes, const void* in, void* out,
                    const union xnn_unary_uparams* params) {
  const float* x = in;
  float* y = out;
  (void)params;
  TURN(cosine, cosf, x, y, bytes / sizeof(float));
}

#endif

static inline const struct xnn_unary_elementwise_config* config_of(enum petrel_function function) {
  static const struct xnn_unary_elementwise_config configs[] = {
    [petrel_exponential] = {.ukernel = exponentials},
    [petrel_logarithm] = {.ukernel = logarithms},
#if HAS_ANGLES
    [petrel_sine] = {.ukernel = sines},
    [petrel_cosine] = {.ukernel = cosines},
#endif
  };
  return (size_t)function < sizeof(configs) / sizeof(configs[0]) ? &configs[function] : NULL;
}
