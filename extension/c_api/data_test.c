// SPDX-License-Identifier: Apache-2.0
//
// The data of programs through the C interface.
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static const char kBound[] = "extension/c_api/bound.pte";
static const char kBoundWeights[] = "extension/c_api/bound.ptd";

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

// A path, read and mapped, a buffer and a descriptor.
static void holds_data_to_what_the_program_is_bound_to(void) {
  static const char kPath[] = "other_weights.ptd";
  int way, is_other;
  for (way = 0; way < 4; ++way) {
    for (is_other = 0; is_other < 2; ++is_other) {
      petrel_module* module = NULL;
      petrel_options* with = options();
      size_t size;
      unsigned char* bytes = read_file(kBoundWeights, 16, &size);
      char path[512];
      FILE* file;
      snprintf(path, sizeof path, "%s/%s", getenv("TEST_TMPDIR"), kPath);
      bytes[16 + size - 1] ^= (unsigned char)is_other;
      file = fopen(path, "wb");
      CHECK(file != NULL && fwrite(bytes + 16, 1, size, file) == size);
      fclose(file);
      if (way < 2) {
        CHECK(petrel_options_set_load_mode(with, way) == PETREL_OK);
        CHECK(petrel_options_add_data_path(with, path) == PETREL_OK);
      } else if (way == 2) {
        CHECK(petrel_options_add_data_buffer(with, bytes + 16, size, PETREL_BORROW) == PETREL_OK);
      } else {
        const int fd = open(path, O_RDONLY);
        CHECK(petrel_options_add_data_fd(with, fd, 0, size) == PETREL_OK);
        close(fd);
      }
      CHECK(petrel_module_load_path(kBound, with, &module) == PETREL_OK);
      CHECK((petrel_module_load_method(module, "forward") == PETREL_OK) == !is_other);
      CHECK(!is_other || strstr(petrel_error_text(), "the program is bound to") != NULL);
      petrel_module_destroy(module);
      petrel_options_destroy(with);
      free(bytes);
    }
  }
}

int main(void) {
  holds_data_to_what_the_program_is_bound_to();
  if (failures > 0) fprintf(stderr, "%d checks failed\n", failures);
  return failures > 0;
}
