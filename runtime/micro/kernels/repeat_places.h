/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* 0 in[0] times, then 1 in[1] times, and so on. Returns how many there are, or -1 for more than
 * MOST and for a number of times below 0. */
static int32_t NAME(const IN_TYPE *in, OUT_TYPE *out) {
  int32_t count = 0;
  for (int32_t i = 0; i < COUNT; ++i) {
    const int64_t times = (int64_t)in[i];
    if (times < 0 || times > (int64_t)(MOST - count)) {
      return -1;
    }
    for (int64_t k = 0; k < times; ++k) {
      out[count] = (OUT_TYPE)i;
      ++count;
    }
  }
  return count;
}
