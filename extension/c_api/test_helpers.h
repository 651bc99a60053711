// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the C interface share: a check that counts failures and goes on, the
// bytes of a file, and new options.
//
//   int main(void) {
//     CHECK(petrel_version() != NULL);
//     return failures == 0 ? 0 : 1;
//   }
#ifndef PETREL_EXTENSION_C_API_TEST_HELPERS_H_
#define PETREL_EXTENSION_C_API_TEST_HELPERS_H_

#include <stdio.h>
#include <stdlib.h>

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

// The bytes of a file, to be freed, `room` bytes behind the start.
static unsigned char* read_file(const char* path, size_t room, size_t* size) {
  FILE* file = fopen(path, "rb");
  unsigned char* bytes;
  long end;
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  end = ftell(file);
  rewind(file);
  bytes = malloc(room + (size_t)end + 1);
  *size = fread(bytes + room, 1, (size_t)end, file);
  fclose(file);
  return bytes;
}

static petrel_options* options(void) {
  petrel_options* made = NULL;
  CHECK(petrel_options_create(&made) == PETREL_OK);
  return made;
}

#endif  // PETREL_EXTENSION_C_API_TEST_HELPERS_H_
