/* SPDX-License-Identifier: Apache-2.0
 *
 * What an XNNPACK runtime does in a run: its steps, how each is computed, and who is told when one
 * begins and ends.
 *
 *   for (size_t i = 0; i < petrel_num_steps(runtime); ++i) {
 *     struct petrel_step step;
 *     if (petrel_describe_step(runtime, i, &step)) printf("%s, %s\n", step.name, step.kernel);
 *   }
 *   const struct petrel_observer observer = {context, &begin, &end};
 *   petrel_observe(&observer);
 *   xnn_invoke_runtime(runtime);      // on this thread
 *   petrel_observe(NULL);
 *
 * Texts live as long as the process. Without an observer a run costs what it did.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_STEPS_STEPS_H_
#define PETREL_THIRD_PARTY_XNNPACK_STEPS_STEPS_H_

#include <stdbool.h>
#include <stddef.h>

#include "xnnpack.h"

#ifdef __cplusplus
extern "C" {
#endif

struct petrel_shape {
  size_t rank;
  const size_t* sizes; /* of the runtime, until its next reshape */
};

struct petrel_step {
  const char* name;   /* "Convolution (NHWC, F32)" */
  const char* kernel; /* "IGEMM", or our own way: "Winograd", "Image", "Unpacked"; "" if there is
                         only one */
  size_t tile_rows, tile_columns; /* of products; 0 of others */
  struct petrel_shape input, output;
};

/* Those that were left out count, too. */
size_t petrel_num_steps(xnn_runtime_t runtime);

/* False for a step that was left out. */
bool petrel_describe_step(xnn_runtime_t runtime, size_t index, struct petrel_step* step);

struct petrel_observer {
  void* context;
  void (*begin)(void* context, size_t step);
  void (*end)(void* context, size_t step);
};

/* For what the calling thread runs from now on; null, as at first: nobody is told. It must stay
 * until then. */
void petrel_observe(const struct petrel_observer* observer);

/* Of the calling thread, for runtime.c. */
const struct petrel_observer* petrel_observer_of_thread(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_STEPS_STEPS_H_ */
