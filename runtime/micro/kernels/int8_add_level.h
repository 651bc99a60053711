/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Adds a level to the one that is there. */
static void NAME(int8_t *to, int32_t level) {
  const int32_t THERE = *to, ADDED = level;
  *to = (int8_t)(EXPRESSION);
}
