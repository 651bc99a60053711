/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_PADDED_PLACE_H_
#define PETREL_RUNTIME_MICRO_KERNELS_PADDED_PLACE_H_

#include <stdint.h>

/* Which of `size` places is place `i` of a line that begins before them: mirrored, or the one at
 * the edge. */
static int32_t petrel_padded_place(int32_t i, int32_t size, int32_t reflects) {
  if (reflects != 0) {
    i = i < 0 ? -i : i;
    i = i >= size ? 2 * (size - 1) - i : i;
  }
  i = i >= size ? size - 1 : i;
  return i < 0 ? 0 : i;
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_PADDED_PLACE_H_ */
