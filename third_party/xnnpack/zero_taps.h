/* SPDX-License-Identifier: Apache-2.0
 *
 * Taps of a window at which all rows of a tile lie beside the image. Sums need none of them: those
 * at the beginning and at the end of a window are left out. At the border of an image they are a
 * line of the window; with a long dilated window, as of sequences, they are up to half of it.
 *
 *   pointers to 4 taps of 3 rows    zero zero zero | zero a b | c d e | zero zero zero
 *                                   left out                            left out
 *
 * What is left out are products with zeros, which change no finite sum.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_ZERO_TAPS_H_
#define PETREL_THIRD_PARTY_XNNPACK_ZERO_TAPS_H_

#include <stddef.h>

/* Pointers of a tile: `rows` for each tap. */
struct petrel_taps {
  const float** pointers;
  size_t count;   /* of pointers */
  size_t skipped; /* taps before the first one */
};

static inline int petrel_all_zero(const float** pointers, size_t rows, const float* zero) {
  for (size_t i = 0; i < rows; i++) {
    if (pointers[i] != zero) return 0;
  }
  return 1;
}

/* Those that are left: at least one tap. Precondition: `count` is a multiple of `rows`, not 0. */
static inline struct petrel_taps petrel_leave_out_zeros(const float** pointers, size_t count,
                                                        size_t rows, const float* zero) {
  struct petrel_taps taps = {pointers, count, 0};
  while (taps.count > rows && petrel_all_zero(taps.pointers, rows, zero)) {
    taps.pointers += rows;
    taps.count -= rows;
    taps.skipped++;
  }
  while (taps.count > rows && petrel_all_zero(taps.pointers + taps.count - rows, rows, zero)) {
    taps.count -= rows;
  }
  return taps;
}

#endif /* PETREL_THIRD_PARTY_XNNPACK_ZERO_TAPS_H_ */
