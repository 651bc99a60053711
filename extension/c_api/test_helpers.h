// SPDX-License-Identifier: Apache-2.0
//
// What tests of the C interface that load programs share: the bytes of a file, and new options.
#ifndef PETREL_EXTENSION_C_API_TEST_HELPERS_H_
#define PETREL_EXTENSION_C_API_TEST_HELPERS_H_

#include <stdio.h>
#include <stdlib.h>

#include "extension/c_api/check.h"
#include "extension/c_api/petrel.h"

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
