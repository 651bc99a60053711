/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that the host may see: inputs, outputs, tensors of the plan, pools, the stack's depth.
 */
#include "petrel_rpc_parts.h"

#define IO_ALIGN 16u
#define PAINT 0xa5u
/* Of the stack that is in use while it is painted. */
#define STACK_MARGIN 256u

static size_t io_room(size_t bytes) { return (bytes + IO_ALIGN - 1u) / IO_ALIGN * IO_ALIGN; }

size_t petrel_rpc_io_bytes(const struct petrel_method_info *method) {
  size_t bytes = 0;
  uint32_t i;
  for (i = 0; i < method->num_inputs; ++i) {
    bytes += io_room(method->inputs[i].bytes);
  }
  for (i = 0; i < method->num_outputs; ++i) {
    bytes += io_room(method->outputs[i].bytes);
  }
  return bytes;
}

struct petrel_span petrel_rpc_tensor(const struct petrel_rpc *rpc, uint32_t method,
                                     uint32_t is_output, uint32_t index) {
  const struct petrel_method_info *info = &rpc->config.model->methods[method];
  const struct petrel_tensor_info *tensor =
      is_output != 0u ? &info->outputs[index] : &info->inputs[index];
  struct petrel_span span;
  size_t at = 0;
  uint32_t i;
  span.bytes = tensor->bytes;
  if (rpc->config.io == NULL) {
    span.data = (unsigned char *)tensor->place(rpc->config.context);
    return span;
  }
  for (i = 0; i < (is_output != 0u ? info->num_inputs : index); ++i) {
    at += io_room(info->inputs[i].bytes);
  }
  for (i = 0; is_output != 0u && i < index; ++i) {
    at += io_room(info->outputs[i].bytes);
  }
  span.data = rpc->config.io + at;
  return span;
}

void petrel_rpc_point(struct petrel_rpc *rpc, uint32_t method) {
  const struct petrel_method_info *info = &rpc->config.model->methods[method];
  uint32_t i;
  for (i = 0; i < info->num_inputs; ++i) {
    rpc->inputs[i] = petrel_rpc_tensor(rpc, method, 0, i).data;
  }
  for (i = 0; i < info->num_outputs; ++i) {
    rpc->outputs[i] = petrel_rpc_tensor(rpc, method, 1, i).data;
  }
}

int petrel_rpc_keeps_inputs(const struct petrel_rpc *rpc, uint32_t method) {
  if (rpc->config.io != NULL || rpc->config.model->methods[method].num_inputs == 0u) {
    return 1;
  }
  return rpc->config.plan != NULL && rpc->config.plan->methods[method].keeps_inputs != 0u ? 1 : 0;
}

static struct petrel_span pool_at(const struct petrel_rpc *rpc, uint32_t index) {
  struct petrel_span span;
  span.data = (unsigned char *)rpc->config.pools[index];
  span.bytes = span.data == NULL ? 0u : rpc->config.pool_bytes[index];
  return span;
}

/* Of the plan, which is generated and trusted as far as its pools reach. */
static struct petrel_span planned_at(const struct petrel_rpc *rpc, uint32_t method,
                                     uint32_t index) {
  const struct petrel_plan_tensor *tensor = &rpc->config.plan->methods[method].tensors[index];
  struct petrel_span span;
  size_t offset = tensor->offset;
  if (tensor->pool >= PETREL_PLAN_OF_INPUT) {
    span = petrel_rpc_tensor(rpc, method, tensor->pool == PETREL_PLAN_OF_OUTPUT ? 1u : 0u,
                             (uint32_t)offset);
    offset = 0;
  } else {
    span = pool_at(rpc, tensor->pool);
  }
  if (offset > span.bytes || tensor->bytes > span.bytes - offset) {
    span.bytes = 0;
    return span;
  }
  span.data += offset;
  span.bytes = tensor->bytes;
  return span;
}

/* Of a payload that begins with: what, method, index16, offset32. 0 where it was refused. */
static int find(struct petrel_rpc *rpc, const struct petrel_request *request,
                struct petrel_span *span) {
  const unsigned char *payload = request->payload;
  const uint32_t what = payload[0];
  const uint32_t method = payload[1];
  const uint32_t index = petrel_get16(payload + 2);
  const uint32_t offset = petrel_get32(payload + 4);
  uint32_t count = 0;
  if (what != PETREL_RPC_POOL && petrel_rpc_has_method(rpc, request, method) == 0) {
    return 0;
  }
  if (what == PETREL_RPC_TENSOR && rpc->config.plan == NULL) {
    petrel_rpc_missing(rpc, request);
    return 0;
  }
  if (what == PETREL_RPC_INPUT) {
    count = rpc->config.model->methods[method].num_inputs;
  }
  if (what == PETREL_RPC_OUTPUT) {
    count = rpc->config.model->methods[method].num_outputs;
  }
  if (what == PETREL_RPC_TENSOR) {
    count = rpc->config.plan->methods[method].num_tensors;
  }
  if (what == PETREL_RPC_POOL) {
    count = rpc->config.model->num_pools;
  }
  if (index >= count) {
    petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, PETREL_RPC_E_INDEX, count);
    return 0;
  }
  if (what == PETREL_RPC_TENSOR) {
    *span = planned_at(rpc, method, index);
  } else if (what == PETREL_RPC_POOL) {
    *span = pool_at(rpc, index);
  } else {
    *span = petrel_rpc_tensor(rpc, method, what == PETREL_RPC_OUTPUT ? 1u : 0u, index);
  }
  if (offset > span->bytes) {
    petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, PETREL_RPC_E_RANGE,
                      (uint32_t)span->bytes);
    return 0;
  }
  span->data += offset;
  span->bytes -= offset;
  return 1;
}

static int is_within(struct petrel_rpc *rpc, const struct petrel_request *request,
                     const struct petrel_span *span, uint32_t bytes) {
  if (bytes <= span->bytes) {
    return 1;
  }
  petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, PETREL_RPC_E_RANGE, (uint32_t)span->bytes);
  return 0;
}

static void answer_crc(struct petrel_rpc *rpc, const struct petrel_request *request,
                       const unsigned char *data, uint32_t bytes) {
  unsigned char crc[4];
  petrel_put32(crc, petrel_crc_end(petrel_crc_add(petrel_crc_begin(), data, bytes)));
  petrel_rpc_answer(rpc, request, crc, sizeof crc, NULL, 0);
}

void petrel_rpc_on_memory(struct petrel_rpc *rpc, const struct petrel_request *request) {
  struct petrel_span span;
  uint32_t bytes;
  uint32_t i;
  if (petrel_rpc_has(rpc, request, request->type == PETREL_RPC_WRITE ? 8 : 12) == 0) {
    return;
  }
  if (request->type == PETREL_RPC_FILL && petrel_rpc_has(rpc, request, 13) == 0) {
    return;
  }
  if (find(rpc, request, &span) == 0) {
    return;
  }
  if (request->type == PETREL_RPC_WRITE) {
    bytes = (uint32_t)(request->size - 8u);
    if (is_within(rpc, request, &span, bytes) == 0) {
      return;
    }
    for (i = 0; i < bytes; ++i) {
      span.data[i] = request->payload[8u + i];
    }
    petrel_rpc_answer(rpc, request, NULL, 0, NULL, 0);
    return;
  }
  bytes = petrel_get32(request->payload + 8);
  if (is_within(rpc, request, &span, bytes) == 0) {
    return;
  }
  if (request->type == PETREL_RPC_CRC) {
    answer_crc(rpc, request, span.data, bytes);
  } else if (request->type == PETREL_RPC_FILL) {
    for (i = 0; i < bytes; ++i) {
      span.data[i] = request->payload[12];
    }
    petrel_rpc_answer(rpc, request, NULL, 0, NULL, 0);
  } else if (bytes > rpc->longest) {
    petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, PETREL_RPC_E_RANGE, rpc->longest);
  } else {
    petrel_rpc_answer(rpc, request, NULL, 0, span.data, bytes);
  }
}

/* what, method, index16, offset32, bytes32, offset in the file32, is_write, path with its 0. */
void petrel_rpc_on_bulk(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const struct petrel_board *board = rpc->config.board;
  const unsigned char *payload = request->payload;
  struct petrel_span span;
  uint32_t bytes;
  uint32_t from;
  int32_t status;
  if (board->bulk.read == NULL || board->bulk.write == NULL) {
    petrel_rpc_missing(rpc, request);
    return;
  }
  if (petrel_rpc_has(rpc, request, 19) == 0) {
    return;
  }
  if (payload[request->size - 1u] != 0u) {
    petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, PETREL_RPC_E_LENGTH, 19);
    return;
  }
  if (find(rpc, request, &span) == 0) {
    return;
  }
  bytes = petrel_get32(payload + 8);
  from = petrel_get32(payload + 12);
  if (is_within(rpc, request, &span, bytes) == 0) {
    return;
  }
  petrel_rpc_busy(rpc, request);
  status = payload[16] != 0u
               ? board->bulk.write(board->user, (const char *)payload + 17, from, span.data, bytes)
               : board->bulk.read(board->user, (const char *)payload + 17, from, span.data, bytes);
  if (status == PETREL_BOARD_OK) {
    answer_crc(rpc, request, span.data, bytes);
  } else {
    petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_BOARD, status, 0);
  }
}

void petrel_rpc_paint(const struct petrel_rpc *rpc) {
  const struct petrel_board *board = rpc->config.board;
  volatile unsigned char here = 0;
  const uintptr_t used = (uintptr_t)(const volatile unsigned char *)&here - STACK_MARGIN;
  volatile unsigned char *at = board->stack_low;
  if (at == NULL || used > (uintptr_t)board->stack_high) {
    return;
  }
  while ((uintptr_t)at < used) {
    *at = PAINT;
    ++at;
  }
}

/* has_to_paint: the most that was in use since the last paint, and all there is. */
void petrel_rpc_on_stack(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const struct petrel_board *board = rpc->config.board;
  const volatile unsigned char *at = board->stack_low;
  unsigned char answer[8];
  if (at == NULL || board->stack_high == NULL) {
    petrel_rpc_missing(rpc, request);
    return;
  }
  if (petrel_rpc_has(rpc, request, 1) == 0) {
    return;
  }
  while (at < board->stack_high && *at == PAINT) {
    ++at;
  }
  petrel_put32(answer, (uint32_t)(board->stack_high - at));
  petrel_put32(answer + 4, (uint32_t)(board->stack_high - board->stack_low));
  petrel_rpc_answer(rpc, request, answer, sizeof answer, NULL, 0);
  if (request->payload[0] != 0u) {
    petrel_rpc_paint(rpc);
  }
}

void petrel_rpc_on_param(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const struct petrel_plan *plan = rpc->config.plan;
  const void *data = NULL;
  size_t bytes = 0;
  unsigned char answer[16];
  uint64_t address;
  int32_t status;
  if (plan == NULL || plan->lookup_param == NULL) {
    petrel_rpc_missing(rpc, request);
    return;
  }
  if (petrel_rpc_has(rpc, request, 4) == 0) {
    return;
  }
  status = plan->lookup_param(petrel_get32(request->payload), &data, &bytes);
  if (status != PETREL_MODEL_OK) {
    petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_MODEL, status, 0);
    return;
  }
  address = (uint64_t)(uintptr_t)(const unsigned char *)data;
  petrel_put32(answer, (uint32_t)address);
  petrel_put32(answer + 4, (uint32_t)(address >> 32));
  petrel_put32(answer + 8, (uint32_t)bytes);
  petrel_put32(answer + 12, petrel_crc_end(petrel_crc_add(petrel_crc_begin(),
                                                          (const unsigned char *)data, bytes)));
  petrel_rpc_answer(rpc, request, answer, sizeof answer, NULL, 0);
}
