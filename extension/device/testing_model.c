/* SPDX-License-Identifier: Apache-2.0 */
#include "extension/device/testing_model.h"

#include <string.h>

/* x at 0, its double at 16, y at 32, n at 48. */
static int32_t *at(const void *context, size_t offset) {
  return (int32_t *)(void *)(((const struct testing_context *)context)->pool + offset);
}

static void *place_x(const void *context) { return at(context, 0); }
static void *place_y(const void *context) { return at(context, 32); }
static void *place_n(const void *context) { return at(context, 48); }

static int32_t run_step(void *context, const void *const *inputs, void *const *outputs,
                        uint32_t *next) {
  struct testing_context *own = (struct testing_context *)context;
  int i;
  ++own->steps;
  switch (*next) {
    case 0:
      if (inputs[0] != place_x(own)) memcpy(place_x(own), inputs[0], 16);
      break;
    case 1:
      for (i = 0; i < 4; ++i) at(own, 16)[i] = (int32_t)(2u * (uint32_t)at(own, 0)[i]);
      break;
    case 2:
      for (i = 0; i < 4; ++i) {
        at(own, 32)[i] = (int32_t)((uint32_t)at(own, 16)[i] + 1u + (uint32_t)own->bug);
      }
      break;
    case 3:
      if (own->inside != NULL) own->inside(own->user);
      *at(own, 48) = ++own->runs;
      break;
    case 4:
      if (outputs[0] != place_y(own)) memcpy(outputs[0], place_y(own), 16);
      if (outputs[1] != place_n(own)) memcpy(outputs[1], place_n(own), 4);
      break;
    default:
      return PETREL_MODEL_E_NOT_FOUND;
  }
  ++*next;
  return PETREL_MODEL_OK;
}

static int32_t run(void *context, const void *const *inputs, void *const *outputs) {
  uint32_t next = 0;
  int32_t status = PETREL_MODEL_OK;
  while (next < 5 && status == PETREL_MODEL_OK) {
    status = run_step(context, inputs, outputs, &next);
  }
  return status;
}

static int32_t init(void *context, void *const *pools, const size_t *pool_bytes) {
  if (pools[0] == NULL) return PETREL_MODEL_E_NULL;
  if (pool_bytes[0] < TESTING_POOL_BYTES) return PETREL_MODEL_E_SIZE;
  ((struct testing_context *)context)->pool = (unsigned char *)pools[0];
  return PETREL_MODEL_OK;
}

static int32_t reset_state(void *context) {
  return context == NULL ? PETREL_MODEL_E_NULL : PETREL_MODEL_OK;
}

static int32_t lookup(uint32_t id, const void **data, size_t *bytes) {
  static const float weight[3] = {1.0f, 2.0f, 3.0f};
  if (id != 7) return PETREL_MODEL_E_NOT_FOUND;
  *data = weight;
  *bytes = sizeof weight;
  return PETREL_MODEL_OK;
}

static const int32_t four[] = {4}, one[] = {1};
static const uint8_t order[] = {0};
static const struct petrel_tensor_info inputs_info[] = {
    {"x", "x", PETREL_DTYPE_INT32, 1, four, order, 16, NULL, NULL, place_x, 0, 0}};
static const struct petrel_tensor_info outputs_info[] = {
    {"y", "y", PETREL_DTYPE_INT32, 1, four, order, 16, NULL, NULL, place_y, 0, 0},
    {"n", "n", PETREL_DTYPE_INT32, 1, one, order, 4, NULL, NULL, place_n, 0, 0}};
static const struct petrel_method_info methods[] = {
    {"forward", inputs_info, 1, outputs_info, 2, TESTING_POOL_BYTES, 36, NULL, run, NULL, NULL, 0}};
static const struct petrel_pool_info pool[] = {{"arena", TESTING_POOL_BYTES, 16, 0}};
static const struct petrel_pool_info kept[] = {{"arena", TESTING_POOL_BYTES, 16, 1}};

#define METADATA(hash, pools)                                                                \
  {                                                                                          \
    PETREL_MODEL_MAGIC, PETREL_MODEL_ABI_VERSION, "testing", hash, methods, 1, pools, 1, 12, \
        sizeof(struct testing_context), init, reset_state, NULL, 0, NULL, 0, NULL, NULL      \
  }
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "ffffffff89abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

const struct petrel_model_metadata *testing_metadata(void) {
  static const struct petrel_model_metadata metadata = METADATA(HASH, pool);
  return &metadata;
}

const struct petrel_model_metadata *testing_metadata_with_state(void) {
  static const struct petrel_model_metadata metadata = METADATA(HASH, kept);
  return &metadata;
}

const struct petrel_model_metadata *testing_metadata_of_another(void) {
  static const struct petrel_model_metadata metadata = METADATA(OTHER, pool);
  return &metadata;
}

static const uint16_t index0[] = {0}, index1[] = {1}, index2[] = {2}, index3[] = {3};
static const struct petrel_plan_tensor tensors[] = {
    {"x", PETREL_DTYPE_INT32, 1, 0, four, order, 0, 16, 0, 1},
    {"doubled", PETREL_DTYPE_INT32, 1, 0, four, order, 16, 16, 1, 2},
    {"y", PETREL_DTYPE_INT32, 1, 0, four, order, 32, 16, 2, 4},
    {"n", PETREL_DTYPE_INT32, 1, 0, one, order, 48, 4, 3, 4}};
static const struct petrel_plan_step steps[] = {
    {"begin", "", "", NULL, NULL, 0, 0},
    {"op0_mul", "aten::mul.out", "testing.py:3, in forward", index0, index1, 1, 1},
    {"op1_add", "aten::add.out", "testing.py:4, in forward", index1, index2, 1, 1},
    {"op2_count", "aten::add.out", "testing.py:5, in forward", NULL, index3, 0, 1},
    {"end", "", "", NULL, NULL, 0, 0}};

const struct petrel_plan *testing_plan(void) {
  static const struct petrel_method_plan plans[] = {{tensors, steps, 4, 5, 1, run_step}};
  static const struct petrel_plan plan = {PETREL_PLAN_MAGIC, PETREL_PLAN_VERSION, plans, lookup};
  return &plan;
}
