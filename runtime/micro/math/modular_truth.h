/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_MODULAR_TRUTH_H_
#define PETREL_RUNTIME_MICRO_MATH_MODULAR_TRUTH_H_

#include <stdbool.h>
#include <stdint.h>

/* Whether x is not 0. */
static bool petrel_modular_truth(uint64_t x) { return x != 0u; }

#endif /* PETREL_RUNTIME_MICRO_MATH_MODULAR_TRUTH_H_ */
