/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the inputs and outputs of a method lie in the memory of a firmware: in that of the model,
 * or one behind the other in that of the application. */
#ifndef PETREL_PLACES_H
#define PETREL_PLACES_H

#include "firmware.h"

/* NULL where the application has no room. */
static inline void *place_of(const struct petrel_app *app, const struct petrel_tensor_info *tensor,
                             size_t *used) {
  unsigned char *const place = app->io + *used;
  if (tensor->place != NULL) return tensor->place(app->context);
  *used += (tensor->bytes + 15u) / 16u * 16u;
  return *used <= app->io_bytes ? place : NULL;
}

/* PETREL_MODEL_E_SIZE where the application has no room for all of them. */
static inline int32_t find_places(const struct petrel_app *app,
                                  const struct petrel_method_info *method, void **inputs,
                                  void **outputs) {
  size_t used = 0;
  uint32_t i;
  for (i = 0; i < method->num_inputs; ++i) {
    inputs[i] = place_of(app, &method->inputs[i], &used);
    if (inputs[i] == NULL) return PETREL_MODEL_E_SIZE;
  }
  for (i = 0; i < method->num_outputs; ++i) {
    outputs[i] = place_of(app, &method->outputs[i], &used);
    if (outputs[i] == NULL) return PETREL_MODEL_E_SIZE;
  }
  return PETREL_MODEL_OK;
}

#endif /* PETREL_PLACES_H */
