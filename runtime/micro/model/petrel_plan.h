/* SPDX-License-Identifier: Apache-2.0
 *
 * What a generated package tells of its plan: every tensor that its steps write, where it lies
 * and how long, and every step. `petrel gen-c --device-rpc` writes NAME_plan.c, which no other
 * file needs: who does not call NAME_get_plan() does not link it.
 *
 *   const struct petrel_plan *plan = kws_get_plan();
 *   const struct petrel_method_plan *forward = &plan->methods[0];   as in the metadata
 *   forward->run_step(context, inputs, outputs, &next);
 *   forward->tensors[forward->steps[2].writes[0]].offset            in pool .pool
 *
 * Everything is const and lives as long as the program. Step 0 is what comes before the first
 * node, and the last one what comes after all of them.
 */
#ifndef PETREL_PLAN_H
#define PETREL_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define PETREL_PLAN_MAGIC 0x4e4c5050u
#define PETREL_PLAN_VERSION 2u

/* In .pool: it lies where the caller has that input or output, whose index is in .offset. */
#define PETREL_PLAN_OF_INPUT 0xfffeu
#define PETREL_PLAN_OF_OUTPUT 0xffffu

struct petrel_plan_tensor {
  const char *name; /* as the comments of NAME.c have it */
  int32_t dtype;    /* PETREL_DTYPE_..., or a later number */
  uint16_t rank;
  uint16_t pool; /* index in the pools of the metadata */
  const int32_t *sizes;
  const uint8_t *dim_order; /* outermost dim first */
  size_t offset;
  size_t bytes;
  uint16_t written_by;  /* step; 0 for inputs */
  uint16_t alive_until; /* the last step that reads it, or the number of steps */
};

struct petrel_plan_step {
  const char *name;      /* "op3_relu" */
  const char *kernel;    /* "aten::relu.out"; "" for what is no node */
  const char *source;    /* "model.py:12", or "" */
  const uint16_t *reads; /* tensors */
  const uint16_t *writes;
  uint16_t num_reads;
  uint16_t num_writes;
};

struct petrel_method_plan {
  const struct petrel_plan_tensor *tensors;
  const struct petrel_plan_step *steps;
  uint32_t num_tensors;
  uint32_t num_steps;
  /* 1 where a run leaves inputs in their places as they were. */
  uint32_t keeps_inputs;
  /* One step, as NAME_run_step(); a pointer for each input and output, none of them NULL. */
  int32_t (*run_step)(void *context, const void *const *inputs, void *const *outputs,
                      uint32_t *next);
};

struct petrel_plan {
  uint32_t magic;                           /* PETREL_PLAN_MAGIC */
  uint32_t version;                         /* PETREL_PLAN_VERSION */
  const struct petrel_method_plan *methods; /* as many as the metadata has */
  /* NAME_lookup_linked_param(). */
  int32_t (*lookup_param)(uint32_t id, const void **data, size_t *bytes);
};

#endif /* PETREL_PLAN_H */
