/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions: which request is new, which one is asked again, and what is no request.
 */
#include "petrel_rpc.h"

#include <string.h>

#include "petrel_rpc_parts.h"

#define CRC_BYTES ((size_t)PETREL_RPC_CRC_BITS / 8u)
#define LOGS_AT_A_TIME 8u

static void send(struct petrel_rpc *rpc, uint8_t type, uint16_t sequence, const unsigned char *head,
                 size_t head_bytes, const unsigned char *rest, size_t rest_bytes) {
  unsigned char whole[PETREL_RPC_HEAD_BYTES + PETREL_RPC_HELLO_BYTES];
  size_t i;
  whole[0] = PETREL_RPC_VERSION;
  whole[1] = type;
  petrel_put16(whole + 2, rpc->session);
  petrel_put16(whole + 4, sequence);
  petrel_put16(whole + 6, (uint32_t)(head_bytes + rest_bytes));
  for (i = 0; i < head_bytes; ++i) {
    whole[PETREL_RPC_HEAD_BYTES + i] = head[i];
  }
  if (petrel_write_frame(rpc->config.board, whole, PETREL_RPC_HEAD_BYTES + head_bytes, rest,
                         rest_bytes) == PETREL_BOARD_E_CLOSED) {
    rpc->is_closed = 1;
  }
}

void petrel_rpc_answer(struct petrel_rpc *rpc, const struct petrel_request *request,
                       const unsigned char *head, size_t head_bytes, const unsigned char *rest,
                       size_t rest_bytes) {
  send(rpc, (uint8_t)(request->type | PETREL_RPC_ANSWER), request->sequence, head, head_bytes, rest,
       rest_bytes);
}

void petrel_rpc_refuse(struct petrel_rpc *rpc, const struct petrel_request *request,
                       uint32_t domain, int32_t code, uint32_t detail) {
  unsigned char payload[12] = {0};
  payload[0] = (unsigned char)domain;
  payload[1] = request->type;
  petrel_put32(payload + 4, (uint32_t)code);
  petrel_put32(payload + 8, detail);
  send(rpc, PETREL_RPC_ERROR, request->sequence, payload, sizeof payload, NULL, 0);
}

static void refuse(struct petrel_rpc *rpc, const struct petrel_request *request, int32_t code,
                   uint32_t detail) {
  petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, code, detail);
}

int petrel_rpc_has(struct petrel_rpc *rpc, const struct petrel_request *request, size_t size) {
  if (request->size >= size) {
    return 1;
  }
  refuse(rpc, request, PETREL_RPC_E_LENGTH, (uint32_t)size);
  return 0;
}

void petrel_rpc_missing(struct petrel_rpc *rpc, const struct petrel_request *request) {
  refuse(rpc, request, PETREL_RPC_E_MISSING, 0);
}

int petrel_rpc_has_method(struct petrel_rpc *rpc, const struct petrel_request *request,
                          uint32_t method) {
  if (method < rpc->config.model->num_methods) {
    return 1;
  }
  refuse(rpc, request, PETREL_RPC_E_INDEX, rpc->config.model->num_methods);
  return 0;
}

void petrel_rpc_busy(struct petrel_rpc *rpc, const struct petrel_request *request) {
  send(rpc, PETREL_RPC_BUSY, request->sequence, NULL, 0, NULL, 0);
}

void petrel_rpc_heartbeat(struct petrel_rpc *rpc) {
  if (rpc->is_inside != 0u && rpc->session != 0u) {
    send(rpc, PETREL_RPC_BUSY, rpc->last, NULL, 0, NULL, 0);
  }
}

void petrel_rpc_log(struct petrel_rpc *rpc, const char *text) {
  size_t size = 0;
  if (rpc->logs_left == 0u) {
    return;
  }
  --rpc->logs_left;
  while (size < rpc->longest && text[size] != '\0') {
    ++size;
  }
  send(rpc, PETREL_RPC_LOG, 0, NULL, 0, (const unsigned char *)text, size);
}

static uint32_t boot_count(const struct petrel_board *board) {
  return board->boot_count == NULL ? 0u : board->boot_count(board->user);
}

static uint32_t features(const struct petrel_rpc *rpc) {
  const struct petrel_rpc_config *config = &rpc->config;
  const struct petrel_board *board = config->board;
  uint32_t all = 0u;
  uint32_t kept = PETREL_RPC_KEEPS_INPUTS;
  uint32_t i;
  for (i = 0; i < config->model->num_methods; ++i) {
    if (petrel_rpc_keeps_inputs(rpc, i) == 0) {
      kept = 0u;
    }
  }
  all |= kept;
  if (config->plan != NULL) {
    all |= PETREL_RPC_HAS_PLAN;
  }
  if (board->timer.hz != 0u) {
    all |= PETREL_RPC_HAS_TIMER;
  }
  if (board->timer.hz != 0u && config->plan != NULL && config->num_trace > 0u) {
    all |= PETREL_RPC_HAS_TRACE;
  }
  if (config->model->num_devices > 0u) {
    all |= PETREL_RPC_MAY_SLEEP;
  }
  if (board->stack_low != NULL) {
    all |= PETREL_RPC_HAS_STACK;
  }
  if (config->selftest != NULL) {
    all |= PETREL_RPC_HAS_SELFTEST;
  }
  if (board->reset != NULL) {
    all |= PETREL_RPC_HAS_RESET;
  }
  if (board->bulk.read != NULL && board->bulk.write != NULL) {
    all |= PETREL_RPC_HAS_BULK;
  }
  return all;
}

static uint32_t nibble(char digit) {
  const uint32_t code = (uint32_t)(unsigned char)digit;
  const uint32_t first = digit <= '9' ? (uint32_t)'0' : (uint32_t)'a' - 10u;
  return (code - first) & 15u;
}

/* Longest payload of a request. */
static uint32_t longest_request(const struct petrel_rpc *rpc) {
  const size_t size = rpc->in.capacity - PETREL_RPC_HEAD_BYTES - CRC_BYTES;
  return size > 0xffffu ? 0xffffu : (uint32_t)size;
}

/* The same session again changes nothing: its first answer was lost. */
static void on_hello(struct petrel_rpc *rpc, const struct petrel_request *request,
                     uint16_t session) {
  unsigned char hello[PETREL_RPC_HELLO_BYTES] = {0};
  const struct petrel_rpc_config *config = &rpc->config;
  const struct petrel_board *board = config->board;
  const uint16_t one = 1;
  uint32_t i;
  if (petrel_rpc_has(rpc, request, 2) == 0) {
    return;
  }
  if (rpc->session != session) {
    rpc->session = session;
    rpc->last = request->sequence;
  }
  rpc->longest = petrel_get16(request->payload);
  petrel_put16(hello, longest_request(rpc));
  hello[2] = PETREL_RPC_CRC_BITS;
  hello[3] = (unsigned char)(sizeof(void *) << 1 | (*(const unsigned char *)&one == 1u ? 1u : 0u));
  petrel_put32(hello + 4, features(rpc));
  petrel_put32(hello + 8, boot_count(board));
  petrel_put32(hello + 12, board->timer.hz);
  hello[16] = (unsigned char)board->timer.bits;
  hello[17] = (unsigned char)board->timer.flags;
  petrel_put32(hello + 20, config->build_id);
  for (i = 0; i < 16u; ++i) {
    const char *digits = config->model->sha256 + 2u * i;
    hello[24u + i] = (unsigned char)(nibble(digits[0]) << 4 | nibble(digits[1]));
  }
  petrel_rpc_answer(rpc, request, hello, sizeof hello, NULL, 0);
}

static void on_reset(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const struct petrel_board *board = rpc->config.board;
  if (board->reset == NULL) {
    petrel_rpc_missing(rpc, request);
    return;
  }
  petrel_rpc_answer(rpc, request, NULL, 0, NULL, 0);
  rpc->session = 0;
  board->reset(board->user);
}

static void dispatch(struct petrel_rpc *rpc, const struct petrel_request *request) {
  switch (request->type) {
    case PETREL_RPC_INFO:
      petrel_rpc_on_info(rpc, request);
      break;
    case PETREL_RPC_READ:
    case PETREL_RPC_WRITE:
    case PETREL_RPC_CRC:
    case PETREL_RPC_FILL:
      petrel_rpc_on_memory(rpc, request);
      break;
    case PETREL_RPC_RUN:
    case PETREL_RPC_RUN_OP:
    case PETREL_RPC_TIME:
    case PETREL_RPC_SELFTEST:
    case PETREL_RPC_RESET_STATE:
    case PETREL_RPC_TIMER:
      petrel_rpc_on_action(rpc, request);
      break;
    case PETREL_RPC_TRACE:
      petrel_rpc_on_trace(rpc, request);
      break;
    case PETREL_RPC_LOOKUP_PARAM:
      petrel_rpc_on_param(rpc, request);
      break;
    case PETREL_RPC_STACK:
      petrel_rpc_on_stack(rpc, request);
      break;
    case PETREL_RPC_SET_SIZES:
    case PETREL_RPC_GET_SIZES:
      petrel_rpc_on_sizes(rpc, request);
      break;
    case PETREL_RPC_BULK:
      petrel_rpc_on_bulk(rpc, request);
      break;
    case PETREL_RPC_RESET:
      on_reset(rpc, request);
      break;
    default:
      refuse(rpc, request, PETREL_RPC_E_TYPE, request->type);
      break;
  }
}

static void nak(struct petrel_rpc *rpc) { send(rpc, PETREL_RPC_NAK, 0, NULL, 0, NULL, 0); }

/* A request of a session that is not this one is told so under its own number. */
static void refuse_session(struct petrel_rpc *rpc, const struct petrel_request *request,
                           uint16_t session) {
  const uint16_t mine = rpc->session;
  rpc->session = session;
  refuse(rpc, request, PETREL_RPC_E_SESSION, boot_count(rpc->config.board));
  rpc->session = mine;
}

static void on_frame(struct petrel_rpc *rpc, const unsigned char *bytes, size_t all) {
  const size_t size = all - CRC_BYTES;
  struct petrel_request request;
  uint32_t crc;
  uint16_t session;
  if (all < PETREL_RPC_HEAD_BYTES + CRC_BYTES) {
    nak(rpc);
    return;
  }
  crc = petrel_crc_end(petrel_crc_add(petrel_crc_begin(), bytes, size));
  if (crc != (CRC_BYTES == 2u ? petrel_get16(bytes + size) : petrel_get32(bytes + size)) ||
      petrel_get16(bytes + 6) != size - PETREL_RPC_HEAD_BYTES) {
    nak(rpc);
    return;
  }
  request.payload = bytes + PETREL_RPC_HEAD_BYTES;
  request.size = size - PETREL_RPC_HEAD_BYTES;
  request.type = bytes[1];
  request.sequence = petrel_get16(bytes + 4);
  request.is_again = 0;
  session = petrel_get16(bytes + 2);
  if (bytes[0] != PETREL_RPC_VERSION) {
    refuse(rpc, &request, PETREL_RPC_E_PROTOCOL, PETREL_RPC_VERSION);
  } else if (session == 0u) {
    refuse_session(rpc, &request, session);
  } else if (request.type == PETREL_RPC_HELLO) {
    on_hello(rpc, &request, session);
  } else if (session != rpc->session) {
    refuse_session(rpc, &request, session);
  } else if (request.sequence == rpc->last) {
    request.is_again = 1;
    dispatch(rpc, &request);
  } else if (request.sequence == (uint16_t)(rpc->last + 1u)) {
    rpc->last = request.sequence;
    rpc->logs_left = LOGS_AT_A_TIME;
    dispatch(rpc, &request);
  } else if ((uint16_t)(request.sequence - rpc->last) < 0x8000u) {
    refuse(rpc, &request, PETREL_RPC_E_SEQUENCE, rpc->last);
  } else {
    /* It comes late: the host has its answer. */
  }
}

static void feed(struct petrel_rpc *rpc, const unsigned char *bytes, size_t size) {
  size_t i;
  for (i = 0; i < size; ++i) {
    switch (petrel_unframe(&rpc->in, bytes[i])) {
      case PETREL_FRAME_WHOLE:
        on_frame(rpc, rpc->in.bytes, rpc->in.size);
        break;
      case PETREL_FRAME_BROKEN:
        nak(rpc);
        break;
      default:
        break;
    }
  }
}

void petrel_rpc_feed(struct petrel_rpc *rpc, const unsigned char *bytes, size_t size) {
  feed(rpc, bytes, size);
}

static int32_t check(const struct petrel_rpc_config *config) {
  uint32_t i;
  const struct petrel_model_metadata *model = config->model;
  if (config->board == NULL || model == NULL || config->context == NULL || config->pools == NULL ||
      config->pool_bytes == NULL || config->buffer == NULL) {
    return PETREL_RPC_E_NULL;
  }
  if (config->board->read == NULL || config->board->write == NULL) {
    return PETREL_RPC_E_NULL;
  }
  if (config->num_trace > 0u && config->trace == NULL) {
    return PETREL_RPC_E_NULL;
  }
  if (model->magic != PETREL_MODEL_MAGIC || model->abi_version != PETREL_MODEL_ABI_VERSION) {
    return PETREL_RPC_E_VERSION;
  }
  if (config->plan != NULL &&
      (config->plan->magic != PETREL_PLAN_MAGIC || config->plan->version != PETREL_PLAN_VERSION)) {
    return PETREL_RPC_E_VERSION;
  }
  if (config->buffer_bytes < PETREL_RPC_LEAST_BUFFER_BYTES) {
    return PETREL_RPC_E_SIZE;
  }
  for (i = 0; i < model->num_methods; ++i) {
    const struct petrel_method_info *method = &model->methods[i];
    uint32_t t;
    if (method->num_inputs > PETREL_RPC_MAX_TENSORS ||
        method->num_outputs > PETREL_RPC_MAX_TENSORS) {
      return PETREL_RPC_E_SIZE;
    }
    if (config->io != NULL) {
      if (config->io_bytes < petrel_rpc_io_bytes(method)) {
        return PETREL_RPC_E_IO;
      }
      continue;
    }
    for (t = 0; t < method->num_inputs; ++t) {
      if (method->inputs[t].place == NULL) {
        return PETREL_RPC_E_IO;
      }
    }
    for (t = 0; t < method->num_outputs; ++t) {
      if (method->outputs[t].place == NULL) {
        return PETREL_RPC_E_IO;
      }
    }
  }
  return PETREL_RPC_OK;
}

int32_t petrel_rpc_init(struct petrel_rpc *rpc, const struct petrel_rpc_config *config) {
  const int32_t status = rpc == NULL || config == NULL ? (int32_t)PETREL_RPC_E_NULL : check(config);
  if (status != PETREL_RPC_OK) {
    return status;
  }
  (void)memset(rpc, 0, sizeof *rpc);
  rpc->config = *config;
  rpc->in.bytes = config->buffer;
  rpc->in.capacity = config->buffer_bytes;
  rpc->longest = (uint16_t)longest_request(rpc);
  rpc->logs_left = LOGS_AT_A_TIME;
  petrel_rpc_paint(rpc);
  if (config->model->init(config->context, config->pools, config->pool_bytes) != PETREL_MODEL_OK ||
      config->model->reset_state(config->context) != PETREL_MODEL_OK) {
    return PETREL_RPC_E_INIT;
  }
  send(rpc, PETREL_RPC_BOOT, 0, NULL, 0, NULL, 0);
  return PETREL_RPC_OK;
}

int32_t petrel_rpc_loop(struct petrel_rpc *rpc) {
  const struct petrel_board *board = rpc->config.board;
  unsigned char bytes[32];
  while (rpc->is_closed == 0u) {
    const int32_t got = board->read(board->user, bytes, sizeof bytes, 1000);
    if (got == PETREL_BOARD_E_CLOSED) {
      break;
    }
    if (got > 0) {
      feed(rpc, bytes, (size_t)got);
    }
  }
  return PETREL_RPC_OK;
}
