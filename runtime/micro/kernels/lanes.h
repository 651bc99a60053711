/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_LANES_H_
#define PETREL_RUNTIME_MICRO_KERNELS_LANES_H_

#include <string.h>

/* Doubles side by side, each a sum of its own whose order nobody changes, and floats, as many as
 * doubles or more where enough of them lie side by side; one where the compiler or the processor
 * has no vectors of them. PETREL_SUMS of these fit into its registers beside what is added to
 * them. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)
#if defined(__AVX512F__)
#define PETREL_LANES 8
#define PETREL_FLOAT_LANES 8
#define PETREL_WIDE_FLOAT_LANES 16
#define PETREL_SUMS 16
#elif defined(__AVX__)
#define PETREL_LANES 4
#define PETREL_FLOAT_LANES 8
#define PETREL_SUMS 8
#elif defined(__SSE2__)
#define PETREL_LANES 2
#define PETREL_FLOAT_LANES 4
#define PETREL_SUMS 8
#elif defined(__aarch64__)
#define PETREL_LANES 2
#define PETREL_FLOAT_LANES 4
#define PETREL_SUMS 16
#endif
#endif
#ifndef PETREL_LANES
#define PETREL_LANES 1
#define PETREL_FLOAT_LANES 1
#define PETREL_SUMS 8
#endif
#ifndef PETREL_WIDE_FLOAT_LANES
#define PETREL_WIDE_FLOAT_LANES PETREL_FLOAT_LANES
#endif

/* Before a loop over an array of sums: a compiler keeps them in registers if it unrolls it. */
#if defined(__clang__)
#define PETREL_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__) && __GNUC__ >= 9
#define PETREL_UNROLL _Pragma("GCC unroll 16")
#else
#define PETREL_UNROLL
#endif

/* The same before one that gets its length from callers, of which it becomes a part: clang unrolls
 * it there by itself, and warns where it is told to and cannot. */
#if defined(__GNUC__) && !defined(__clang__)
#define PETREL_UNROLL_INLINED PETREL_UNROLL
#else
#define PETREL_UNROLL_INLINED
#endif

/* Keeps a vector in its register: gcc would read it anew for each product of it. */
#if defined(__GNUC__) && defined(__SSE2__)
#define PETREL_KEEP(vector) __asm__("" : "+v"(vector))
#else
#define PETREL_KEEP(vector)
#endif

/* A kernel uses some of these functions. */
#if defined(__GNUC__)
#define PETREL_UNUSED __attribute__((unused))
#else
#define PETREL_UNUSED
#endif

#if defined(__AVX__)
#include <immintrin.h>
#endif

#if PETREL_LANES > 1
typedef double petrel_lanes __attribute__((vector_size(8 * PETREL_LANES)));
typedef float petrel_float_lanes __attribute__((vector_size(4 * PETREL_FLOAT_LANES)));
typedef float petrel_wide_float_lanes __attribute__((vector_size(4 * PETREL_WIDE_FLOAT_LANES)));

/* Gcc makes halves of it where it is not told the instruction. */
PETREL_UNUSED static inline petrel_lanes petrel_widen_floats(const float *from) {
#if defined(__AVX512F__)
  return (petrel_lanes)_mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif defined(__AVX__)
  return (petrel_lanes)_mm256_cvtps_pd(_mm_loadu_ps(from));
#else
  const petrel_lanes lanes = {(double)from[0], (double)from[1]};
  return lanes;
#endif
}

/* sum + a b, of numbers that floats have too: their product is exact, so the sum of all three is
 * rounded once with or without an instruction for both. */
PETREL_UNUSED static inline petrel_lanes petrel_add_exact_product(petrel_lanes sum, petrel_lanes a,
                                                                  double b) {
#if defined(__AVX512F__)
  return (petrel_lanes)_mm512_fmadd_pd((__m512d)a, _mm512_set1_pd(b), (__m512d)sum);
#elif defined(__AVX__) && defined(__FMA__)
  return (petrel_lanes)_mm256_fmadd_pd((__m256d)a, _mm256_set1_pd(b), (__m256d)sum);
#else
  return sum + a * b;
#endif
}

PETREL_UNUSED static inline petrel_lanes petrel_add_exact_products(petrel_lanes sum, petrel_lanes a,
                                                                   petrel_lanes b) {
#if defined(__AVX512F__)
  return (petrel_lanes)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum);
#elif defined(__AVX__) && defined(__FMA__)
  return (petrel_lanes)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
#else
  return sum + a * b;
#endif
}

PETREL_UNUSED static inline petrel_lanes petrel_load_doubles(const double *from) {
  petrel_lanes lanes;
  (void)memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

PETREL_UNUSED static inline petrel_float_lanes petrel_load_floats(const float *from) {
  petrel_float_lanes lanes;
  (void)memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

PETREL_UNUSED static inline petrel_wide_float_lanes petrel_load_wide_floats(const float *from) {
  petrel_wide_float_lanes lanes;
  (void)memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
#else
typedef double petrel_lanes;
typedef float petrel_float_lanes;
typedef float petrel_wide_float_lanes;

PETREL_UNUSED static inline petrel_lanes petrel_widen_floats(const float *from) {
  return (double)from[0];
}

PETREL_UNUSED static inline petrel_lanes petrel_load_doubles(const double *from) { return from[0]; }

PETREL_UNUSED static inline petrel_float_lanes petrel_load_floats(const float *from) {
  return from[0];
}

PETREL_UNUSED static inline petrel_wide_float_lanes petrel_load_wide_floats(const float *from) {
  return from[0];
}

PETREL_UNUSED static inline double petrel_add_exact_product(double sum, double a, double b) {
  return sum + a * b;
}
#endif
/* Of one factor for all, or of one for each. */
#define petrel_add_product(sum, a, b) ((sum) + (a) * (b))
/* What a kernel may keep on the stack to compute in vectors, about. */
#ifndef PETREL_STACK_BYTES
#define PETREL_STACK_BYTES 65536
#endif

#endif /* PETREL_RUNTIME_MICRO_KERNELS_LANES_H_ */
