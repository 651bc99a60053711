/* SPDX-License-Identifier: Apache-2.0
 *
 * What F(2 x 2, 3 x 3) does to a line of a tile, a row or a column. Its points are 0, 1, -1 and
 * infinity:
 *
 *         | 1    0    0   |          | 1  0 -1  0 |        | 1  0 |
 *     G = | 1/2  1/2  1/2 |     B' = | 0  1  1  0 |    A = | 1  1 |
 *         | 1/2 -1/2  1/2 |          | 0 -1  1  0 |        | 1 -1 |
 *         | 0    0    1   |          | 0  1  0 -1 |        | 0 -1 |
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_2_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_2_H_

#include "third_party/xnnpack/winograd/vectors.h"

/* A weight that the inverse does not give to the bit. */
#define ROUNDED_WEIGHT 1

/* One element of the line. */
IN_LINE vec filter_at(const vec* g, int i) {
  if (i == 0) return g[0];
  if (i == 3) return g[2];
  return i == 1 ? 0.5f * ((g[0] + g[2]) + g[1]) : 0.5f * ((g[0] + g[2]) - g[1]);
}

/* The inverse of all of them. */
IN_LINE void weights_line(const vec* u, vec* g) {
  g[0] = u[0];
  g[1] = u[1] - u[2];
  g[2] = u[3];
}

IN_LINE void input_line(const vec* d, vec* v) {
  v[0] = d[0] - d[2];
  v[1] = d[1] + d[2];
  v[2] = d[2] - d[1];
  v[3] = d[1] - d[3];
}

IN_LINE void output_line(const vec* m, vec* y) {
  y[0] = m[0] + m[1] + m[2];
  y[1] = m[1] - m[2] - m[3];
}

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_2_H_ */
