/* SPDX-License-Identifier: Apache-2.0
 *
 * What F(4 x 4, 3 x 3) does to a line of a tile, a row or a column. Its points are 0, a, -a, b, -b
 * and infinity, where a = sqrt(1/2) and b = sqrt(2): each is the inverse of another, so that no
 * power of one is large. With 1 and 2 in their place the mean error is twice as large.
 *
 *         | 1      0     0   |         | 1   0   -5/2   0    1  0 |
 *         | 2/3   2a/3  1/3  |         | 0   2a   2    -a   -1  0 |   a line of A is
 *     G = | 2/3  -2a/3  1/3  |    B' = | 0  -2a   2     a   -1  0 |   1, p, p^2, p^3 for
 *         | 1/6   b/6   1/3  |         | 0 -b/2  -1/2   b    1  0 |   each point p, and
 *         | 1/6  -b/6   1/3  |         | 0  b/2  -1/2  -b    1  0 |   0, 0, 0, 1
 *         | 0      0     1   |         | 0   1    0   -5/2   0  1 |
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_4_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_4_H_

#include "third_party/xnnpack/winograd/vectors.h"

#define POINT_A 0.70710678118654752f
#define POINT_B 1.41421356237309505f

/* A weight that the inverse does not give to the bit. */
#define ROUNDED_WEIGHT 1

/* One element of the line. */
IN_LINE vec filter_at(const vec* g, int i) {
  if (i == 0) return g[0];
  if (i == 5) return g[2];
  const bool is_a = i <= 2;
  const vec even = is_a ? (2.0f / 3) * (g[0] + 0.5f * g[2]) : (1.0f / 6) * (g[0] + 2.0f * g[2]);
  const vec odd = (is_a ? 2.0f / 3 * POINT_A : 1.0f / 6 * POINT_B) * g[1];
  return i % 2 == 1 ? even + odd : even - odd;
}

/* The inverse of all of them. */
IN_LINE void weights_line(const vec* u, vec* g) {
  g[0] = u[0];
  g[1] = (1.5f * POINT_A) * (u[1] - u[2]);
  g[2] = u[5];
}

IN_LINE void input_line(const vec* d, vec* v) {
  const vec even_a = 2.0f * d[2] - d[4];
  const vec odd_a = 2.0f * d[1] - d[3];
  const vec even_b = d[4] - 0.5f * d[2];
  const vec odd_b = d[3] - 0.5f * d[1];
  v[0] = (d[0] + d[4]) - 2.5f * d[2];
  v[1] = even_a + POINT_A * odd_a;
  v[2] = even_a - POINT_A * odd_a;
  v[3] = even_b + POINT_B * odd_b;
  v[4] = even_b - POINT_B * odd_b;
  v[5] = (d[1] + d[5]) - 2.5f * d[3];
}

IN_LINE void output_line(const vec* m, vec* y) {
  const vec even_a = m[1] + m[2];
  const vec odd_a = m[1] - m[2];
  const vec even_b = m[3] + m[4];
  const vec odd_b = m[3] - m[4];
  y[0] = m[0] + (even_a + even_b);
  y[1] = POINT_A * odd_a + POINT_B * odd_b;
  y[2] = 0.5f * even_a + 2.0f * even_b;
  y[3] = m[5] + ((0.5f * POINT_A) * odd_a + (2.0f * POINT_B) * odd_b);
}

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_4_H_ */
