/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_LANES_H_
#define PETREL_RUNTIME_MICRO_KERNELS_LANES_H_

#include <string.h>

/* Doubles side by side, each a sum of its own whose order nobody changes, and twice as many floats;
 * one where the compiler or the processor has no vectors of them. */
#if (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)) && defined(__AVX__)
#define PETREL_LANES 4
#elif (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)) && \
    (defined(__SSE2__) || defined(__aarch64__))
#define PETREL_LANES 2
#else
#define PETREL_LANES 1
#endif
#if PETREL_LANES > 1
#define PETREL_FLOAT_LANES (2 * PETREL_LANES)
typedef double petrel_lanes __attribute__((vector_size(8 * PETREL_LANES)));
typedef float petrel_float_lanes __attribute__((vector_size(8 * PETREL_LANES)));
typedef float petrel_narrow_lanes __attribute__((vector_size(4 * PETREL_LANES)));

__attribute__((unused)) static inline petrel_lanes petrel_widen_floats(const float *from) {
  petrel_narrow_lanes lanes;
  memcpy(&lanes, from, sizeof lanes);
  return __builtin_convertvector(lanes, petrel_lanes);
}

__attribute__((unused)) static inline petrel_lanes petrel_load_doubles(const double *from) {
  petrel_lanes lanes;
  memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

__attribute__((unused)) static inline petrel_float_lanes petrel_load_floats(const float *from) {
  petrel_float_lanes lanes;
  memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
#else
#define PETREL_FLOAT_LANES 1
typedef double petrel_lanes;
typedef float petrel_float_lanes;
#define petrel_widen_floats(from) ((double)*(from))
#define petrel_load_doubles(from) (*(from))
#define petrel_load_floats(from) (*(from))
#endif
/* What a kernel may keep on the stack to compute in vectors, about. */
#ifndef PETREL_STACK_BYTES
#define PETREL_STACK_BYTES 65536
#endif

#endif /* PETREL_RUNTIME_MICRO_KERNELS_LANES_H_ */
