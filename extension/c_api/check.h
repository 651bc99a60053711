// SPDX-License-Identifier: Apache-2.0
//
// A check of the tests of the C interface, which counts failures and goes on.
//
//   int main(void) {
//     CHECK(petrel_version() != NULL);
//     return failures == 0 ? 0 : 1;
//   }
#ifndef PETREL_EXTENSION_C_API_CHECK_H_
#define PETREL_EXTENSION_C_API_CHECK_H_

#include <stdio.h>

#include "extension/c_api/petrel.h"

static int failures = 0;

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      ++failures;                                                                 \
      fprintf(stderr, "%s:%d: %s is false; %s\n", __FILE__, __LINE__, #condition, \
              petrel_error_text());                                               \
    }                                                                             \
  } while (0)

#endif  // PETREL_EXTENSION_C_API_CHECK_H_
