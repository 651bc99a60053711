/* SPDX-License-Identifier: Apache-2.0
 *
 * The metadata and the plan as one row of bytes, of which the host asks for pieces. No memory
 * holds them: each piece is written anew, and what lies outside of it is only counted.
 */
#include "petrel_rpc_parts.h"

#define PIECE_BYTES 40u

/* Keeps `size` bytes from `from` on, of all that is put. */
struct window {
  uint32_t at;
  uint32_t from;
  uint32_t size;
  unsigned char bytes[PIECE_BYTES];
};

static void put8(struct window *out, uint32_t value) {
  if (out->at >= out->from && out->at - out->from < out->size) {
    out->bytes[out->at - out->from] = (unsigned char)(value & 255u);
  }
  ++out->at;
}

static void put16(struct window *out, uint32_t value) {
  put8(out, value & 255u);
  put8(out, value >> 8 & 255u);
}

static void put32(struct window *out, uint32_t value) {
  put16(out, value & 0xffffu);
  put16(out, value >> 16);
}

/* With its 0. */
static void put_text(struct window *out, const char *text) {
  size_t i;
  for (i = 0; text[i] != '\0'; ++i) {
    put8(out, (unsigned char)text[i]);
  }
  put8(out, 0);
}

static void put_sizes(struct window *out, uint32_t rank, const int32_t *sizes) {
  uint32_t d;
  for (d = 0; d < rank; ++d) {
    put32(out, (uint32_t)sizes[d]);
  }
}

static void put_order(struct window *out, uint32_t rank, const uint8_t *dim_order) {
  uint32_t d;
  for (d = 0; d < rank; ++d) {
    put8(out, dim_order[d]);
  }
}

static void put_tensor(struct window *out, const struct petrel_tensor_info *tensor) {
  put_text(out, tensor->name);
  put_text(out, tensor->c_name);
  put32(out, (uint32_t)tensor->dtype);
  put16(out, tensor->rank);
  put_sizes(out, tensor->rank, tensor->sizes);
  put_order(out, tensor->rank, tensor->dim_order);
  put32(out, (uint32_t)tensor->bytes);
  put8(out, tensor->least_sizes != NULL ? 1u : 0u);
  if (tensor->least_sizes != NULL) {
    put_sizes(out, tensor->rank, tensor->least_sizes);
  }
}

static void put_indices(struct window *out, uint32_t count, const uint16_t *indices) {
  uint32_t i;
  put16(out, count);
  for (i = 0; i < count; ++i) {
    put16(out, indices[i]);
  }
}

static void put_plan(struct window *out, const struct petrel_method_plan *plan) {
  uint32_t i;
  put32(out, plan->num_tensors);
  for (i = 0; i < plan->num_tensors; ++i) {
    const struct petrel_plan_tensor *tensor = &plan->tensors[i];
    put_text(out, tensor->name);
    put32(out, (uint32_t)tensor->dtype);
    put16(out, tensor->rank);
    put_sizes(out, tensor->rank, tensor->sizes);
    put_order(out, tensor->rank, tensor->dim_order);
    put16(out, tensor->pool);
    put32(out, (uint32_t)tensor->offset);
    put32(out, (uint32_t)tensor->bytes);
    put16(out, tensor->written_by);
    put16(out, tensor->alive_until);
  }
  put32(out, plan->num_steps);
  for (i = 0; i < plan->num_steps; ++i) {
    const struct petrel_plan_step *step = &plan->steps[i];
    put_text(out, step->name);
    put_text(out, step->kernel);
    put_text(out, step->source);
    put_indices(out, step->num_reads, step->reads);
    put_indices(out, step->num_writes, step->writes);
  }
}

static void put_method(struct window *out, const struct petrel_rpc *rpc, uint32_t index) {
  const struct petrel_method_info *method = &rpc->config.model->methods[index];
  uint32_t i;
  put_text(out, method->name);
  put32(out, method->num_inputs);
  for (i = 0; i < method->num_inputs; ++i) {
    put_tensor(out, &method->inputs[i]);
  }
  put32(out, method->num_outputs);
  for (i = 0; i < method->num_outputs; ++i) {
    put_tensor(out, &method->outputs[i]);
  }
  put32(out, (uint32_t)method->arena_bytes);
  put8(out, petrel_rpc_keeps_inputs(rpc, index) != 0 ? 1u : 0u);
  if (rpc->config.plan != NULL) {
    put_plan(out, &rpc->config.plan->methods[index]);
  }
}

static void put_all(struct window *out, const struct petrel_rpc *rpc) {
  const struct petrel_model_metadata *model = rpc->config.model;
  const char *board = rpc->config.board->name;
  uint32_t i;
  put32(out, PETREL_RPC_INFO_VERSION);
  put_text(out, board == NULL ? "" : board);
  put_text(out, model->name);
  put_text(out, model->sha256);
  put32(out, (uint32_t)model->constant_bytes);
  put32(out, model->num_pools);
  for (i = 0; i < model->num_pools; ++i) {
    put_text(out, model->pools[i].name);
    put32(out, (uint32_t)model->pools[i].bytes);
    put8(out, model->pools[i].is_kept != 0u ? 1u : 0u);
  }
  put8(out, rpc->config.plan != NULL ? 1u : 0u);
  put32(out, model->num_methods);
  for (i = 0; i < model->num_methods; ++i) {
    put_method(out, rpc, i);
  }
}

/* offset32: the length of all, and bytes from there. */
void petrel_rpc_on_info(struct petrel_rpc *rpc, const struct petrel_request *request) {
  struct window out = {0, 0, PIECE_BYTES, {0}};
  unsigned char length[4];
  uint32_t left;
  if (petrel_rpc_has(rpc, request, 4) == 0) {
    return;
  }
  out.from = petrel_get32(request->payload);
  put_all(&out, rpc);
  left = out.from < out.at ? out.at - out.from : 0u;
  petrel_put32(length, out.at);
  petrel_rpc_answer(rpc, request, length, sizeof length, out.bytes,
                    left < PIECE_BYTES ? left : PIECE_BYTES);
}
