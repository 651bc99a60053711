/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of LANES floats in C. Included by the file of the transforms alone, which is compiled
 * for each set of instructions.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_VECTORS_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_VECTORS_H_

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define IN_LINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef int mask __attribute__((vector_size(LANES * sizeof(int))));

/* `count` floats, LANES at most; the others are 0. */
IN_LINE vec load(const float* from, size_t count) {
  vec v = {0};
  if (count == LANES) {
    memcpy(&v, from, sizeof(v));
  } else {
    memcpy(&v, from, count * sizeof(float));
  }
  return v;
}

IN_LINE void store(float* to, vec v, size_t count) {
  if (count == LANES) {
    memcpy(to, &v, sizeof(v));
  } else {
    memcpy(to, &v, count * sizeof(float));
  }
}

IN_LINE vec choose(mask m, vec a, vec b) { return (vec)((m & (mask)a) | (~m & (mask)b)); }

/* NaN stays NaN. */
IN_LINE vec clamp(vec y, vec low, vec high) {
  y = choose(low > y, low, y);
  return choose(high < y, high, y);
}

IN_LINE bool is_zero(vec v) {
  float sum = 0;
  for (int i = 0; i < LANES; ++i) sum += v[i];
  return sum == 0;
}

/* Of `size` channels in whole vectors: the last one overlaps the one before, and comes to the
 * same. */
static inline size_t next(size_t at, size_t size) {
  const size_t after = at + LANES;
  return after + LANES <= size || after >= size ? after : size - LANES;
}

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_VECTORS_H_ */
