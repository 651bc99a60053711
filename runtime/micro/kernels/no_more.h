/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Returns 1 when more elements are asked for than there are. */
static int32_t NAME(int32_t asked, int32_t there) { return asked > there ? 1 : 0; }
