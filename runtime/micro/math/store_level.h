/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_STORE_LEVEL_H_
#define PETREL_RUNTIME_MICRO_MATH_STORE_LEVEL_H_

#include <stdint.h>

static void petrel_store_level(int8_t *to, int32_t level) { *to = (int8_t)level; }

#endif /* PETREL_RUNTIME_MICRO_MATH_STORE_LEVEL_H_ */
