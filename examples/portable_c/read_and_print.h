/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the example apps get their inputs from and put their outputs: floats from the
 * standard input, and one number a line. Firmware has its own ways.
 */
#ifndef PETREL_EXAMPLES_PORTABLE_C_READ_AND_PRINT_H_
#define PETREL_EXAMPLES_PORTABLE_C_READ_AND_PRINT_H_

#include <stddef.h>
#include <stdio.h>

static inline int read_floats(float *values, size_t count) {
  return fread(values, sizeof *values, count, stdin) == count;
}

static inline void print_floats(const float *values, size_t count) {
  for (size_t i = 0; i < count; ++i) printf("%.9g\n", (double)values[i]);
}

#endif /* PETREL_EXAMPLES_PORTABLE_C_READ_AND_PRINT_H_ */
