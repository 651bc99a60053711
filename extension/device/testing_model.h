/* SPDX-License-Identifier: Apache-2.0
 *
 * A model for tests of the device protocol, small enough to be run a million times:
 *
 *   y = 2 x + 1,  n = how often it was run     x, y: int32[4], n: int32[1]
 *
 * in the form that gen-c writes, with three steps between the first and the last.
 */
#ifndef PETREL_EXTENSION_DEVICE_TESTING_MODEL_H_
#define PETREL_EXTENSION_DEVICE_TESTING_MODEL_H_

#include "petrel_model.h"
#include "petrel_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TESTING_POOL_BYTES 64

struct testing_context {
  unsigned char *pool;
  int32_t runs; /* survives reset_state(), so that a test can tell */
  int32_t steps;
  int32_t bug;                /* added by step 2 */
  void (*inside)(void *user); /* (optional) called by step 3 */
  void *user;
};

const struct petrel_model_metadata *testing_metadata(void);
/* The same, whose pool is kept between calls. */
const struct petrel_model_metadata *testing_metadata_with_state(void);
const struct petrel_model_metadata *testing_metadata_of_another(void);
const struct petrel_plan *testing_plan(void);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_EXTENSION_DEVICE_TESTING_MODEL_H_ */
