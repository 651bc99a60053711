/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Returns 1 when one of the elements, which integers are divided by, is 0. */
static int32_t NAME(const IN_TYPE *in, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (in[i] == 0) {
      return 1;
    }
  }
  return 0;
}
