/* SPDX-License-Identifier: Apache-2.0
 *
 * What a line of 4 outputs at a stride of 2 needs. Pixels 0, 2, 4, 6, 8 meet the weights 0 and 2 of
 * a filter, and the others the weight 1, each that of its output:
 *
 *   even   F(4, 2) with the points a, -a, b, -b and infinity, where a = 5/8 and b = 5/4
 *   odd    multiplied as they are
 *
 *       | n  na |  n = 1 / 2a(bb - aa)         | aabb  0  -c   0  1 |   c = aa + bb
 *       | n -na |                              | abb  bb  -a  -1  0 |
 *   G = | m  mb |  m = 1 / 2b(bb - aa)    B' = | abb -bb  -a   1  0 |   the first row
 *       | m -mb |                              |-aab -aa   b   1  0 |   for infinity
 *       | 0   1 |                              |-aab  aa   b  -1  0 |
 *
 * A row of A is 1, p, p^2, p^3 for each point p, and 0, 0, 0, 1.
 *
 *   transformed line   | a | -a | b | -b | infinity | pixel 1 | 3 | 5 | 7 |
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_4_APART_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_4_APART_H_

#include "third_party/xnnpack/winograd/vectors.h"

#define POINT_A 0.625f
#define POINT_B 1.25f
#define SQUARE_A (POINT_A * POINT_A)
#define SQUARE_B (POINT_B * POINT_B)

/* A weight that the inverse does not give to the bit. */
#define ROUNDED_WEIGHT 0

/* One element of the line: five of points, and the weight of odd pixels. */
IN_LINE vec filter_at(const vec* g, int i) {
  if (i == 4) return g[2];
  if (i == 5) return g[1];
  const float point = i < 2 ? POINT_A : POINT_B;
  const float scale = 0.5f / (point * (SQUARE_B - SQUARE_A));
  return i % 2 == 0 ? scale * (g[0] + point * g[2]) : scale * (g[0] - point * g[2]);
}

/* The inverse of all of them. */
IN_LINE void weights_line(const vec* u, vec* g) {
  g[0] = (POINT_A * (SQUARE_B - SQUARE_A)) * (u[0] + u[1]);
  g[1] = u[5];
  g[2] = u[4];
}

IN_LINE void input_line(const vec* d, vec* v) {
  const vec even_a = SQUARE_B * d[2] - d[6];
  const vec odd_a = POINT_A * (SQUARE_B * d[0] - d[4]);
  const vec even_b = d[6] - SQUARE_A * d[2];
  const vec odd_b = POINT_B * (d[4] - SQUARE_A * d[0]);
  v[0] = odd_a + even_a;
  v[1] = odd_a - even_a;
  v[2] = odd_b + even_b;
  v[3] = odd_b - even_b;
  v[4] = (d[8] - (SQUARE_A + SQUARE_B) * d[4]) + (SQUARE_A * SQUARE_B) * d[0];
  v[5] = d[1];
  v[6] = d[3];
  v[7] = d[5];
  v[8] = d[7];
}

IN_LINE void output_line(const vec* m, vec* y) {
  const vec even_a = m[0] + m[1];
  const vec odd_a = POINT_A * (m[0] - m[1]);
  const vec even_b = m[2] + m[3];
  const vec odd_b = POINT_B * (m[2] - m[3]);
  y[0] = (even_a + even_b) + m[5];
  y[1] = (odd_a + odd_b) + m[6];
  y[2] = (SQUARE_A * even_a + SQUARE_B * even_b) + m[7];
  y[3] = (SQUARE_A * odd_a + SQUARE_B * odd_b) + (m[4] + m[8]);
}

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_4_APART_H_ */
