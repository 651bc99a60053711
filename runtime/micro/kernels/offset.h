/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_OFFSET_H_
#define PETREL_RUNTIME_MICRO_KERNELS_OFFSET_H_

#include <stdint.h>

/* Where element `i`, counted with the last dim fastest, lies in an array whose dims are
 * `strides` elements apart. */
static int32_t petrel_offset(int32_t i, int32_t rank, const int32_t *sizes,
                             const int32_t *strides) {
  int32_t offset = 0;
  int32_t left = i;
  for (int32_t d = rank - 1; d > 0; --d) {
    offset += left % sizes[d] * strides[d];
    left /= sizes[d];
  }
  return offset + left * strides[0]; /* what is left counts the first dim; 0 of none */
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_OFFSET_H_ */
