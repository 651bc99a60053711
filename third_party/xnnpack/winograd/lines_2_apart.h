/* SPDX-License-Identifier: Apache-2.0
 *
 * What a line of 2 outputs at a stride of 2 needs. Pixels 0, 2, 4 meet the weights 0 and 2 of a
 * filter, and the others the weight 1, each that of its output:
 *
 *   even   F(2, 2) with the points 0, 1 and infinity     | 1 0 |        | 1 -1  0 |       | 1 0 |
 *   odd    multiplied as they are                    G = | 1 1 |   B' = | 0  1  0 |   A = | 1 1 |
 *                                                        | 0 1 |        | 0 -1  1 |       | 0 1 |
 *
 *   transformed line   | 0 | 1 | infinity | pixel 1 | pixel 3 |
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_2_APART_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_2_APART_H_

#include "third_party/xnnpack/winograd/vectors.h"

/* The inverse gives all weights to the bit. */
#define ROUNDED_WEIGHT 3

/* One element of the line: three of points, and the weight of odd pixels. */
IN_LINE vec filter_at(const vec* g, int i) {
  if (i == 1) return g[0] + g[2];
  return i == 0 ? g[0] : i == 2 ? g[2] : g[1];
}

/* The inverse of all of them. */
IN_LINE void weights_line(const vec* u, vec* g) {
  g[0] = u[0];
  g[1] = u[3];
  g[2] = u[2];
}

IN_LINE void input_line(const vec* d, vec* v) {
  v[0] = d[0] - d[2];
  v[1] = d[2];
  v[2] = d[4] - d[2];
  v[3] = d[1];
  v[4] = d[3];
}

IN_LINE void output_line(const vec* m, vec* y) {
  y[0] = (m[0] + m[1]) + m[3];
  y[1] = (m[1] + m[2]) + m[4];
}

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_LINES_2_APART_H_ */
