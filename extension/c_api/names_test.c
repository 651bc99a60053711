// SPDX-License-Identifier: Apache-2.0
//
// What the C interface tells without a program: versions, names of errors, what is linked in.
#include <stdio.h>
#include <string.h>

#include "extension/c_api/check.h"
#include "extension/c_api/petrel.h"

static void tells_versions_and_names(void) {
  CHECK(petrel_api_version() == PETREL_API_VERSION);
  CHECK(strchr(petrel_version(), '.') != NULL);
  CHECK(strcmp(petrel_status_name(PETREL_OK), "Ok") == 0);
  CHECK(strcmp(petrel_status_name(PETREL_INVALID_PROGRAM), "InvalidProgram") == 0);
  CHECK(strcmp(petrel_status_name(-5), "unknown error") == 0);
  CHECK(petrel_dtype_size(PETREL_FLOAT32) == 4 && petrel_dtype_size(PETREL_BFLOAT16) == 2);
  CHECK(petrel_dtype_size(8) == 0 && petrel_dtype_size(-1) == 0 && petrel_dtype_size(261) == 0);
}

// Whether one of the names that a function gives by index is `wanted`; every name must be one.
static int lists(petrel_status (*name_at)(size_t, const char**), size_t count, const char* wanted) {
  const char* name = NULL;
  size_t i;
  int found = 0;
  for (i = 0; i < count; ++i) {
    CHECK(name_at(i, &name) == PETREL_OK);
    CHECK(name != NULL && *name != '\0');
    if (strcmp(name, wanted) == 0) found = 1;
  }
  CHECK(name_at(count, &name) == PETREL_INVALID_ARGUMENT);
  CHECK(strstr(petrel_error_text(), "must be less than") != NULL);
  CHECK(name_at(0, NULL) == PETREL_INVALID_ARGUMENT);
  return found;
}

static void tells_what_is_linked_in(void) {
  size_t count = 0;
  CHECK(petrel_num_backends(&count) == PETREL_OK);
  CHECK(count == 1);
  CHECK(lists(&petrel_backend_name, count, "XnnpackBackend"));
  CHECK(!lists(&petrel_backend_name, count, "aten::add.out"));
  CHECK(petrel_num_kernels(&count) == PETREL_OK);
  CHECK(lists(&petrel_kernel_name, count, "executorch_prim::add.Scalar"));
  CHECK(lists(&petrel_kernel_name, count, "aten::add.out"));
  CHECK(!lists(&petrel_kernel_name, count, "aten::none.out"));
  CHECK(petrel_num_backends(NULL) == PETREL_INVALID_ARGUMENT);
  CHECK(petrel_num_kernels(NULL) == PETREL_INVALID_ARGUMENT);
}

int main(void) {
  tells_versions_and_names();
  tells_what_is_linked_in();
  if (failures > 0) fprintf(stderr, "%d checks failed\n", failures);
  return failures > 0;
}
