/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host has the device do, and what it took. An action is done once, however often it is
 * asked for: its result is kept until the next one.
 */
#include <stdbool.h>

#include "petrel_rpc_parts.h"

/* Steps of a run after which the host is told that it goes on. */
#define STEPS_OF_A_BEAT 8u

int32_t petrel_rpc_start_timer(struct petrel_rpc *rpc) {
  const struct petrel_board *board = rpc->config.board;
  int32_t status;
  if (board->timer.hz == 0u) {
    return PETREL_BOARD_E_MISSING;
  }
  if (rpc->is_timing != 0u) {
    return PETREL_BOARD_E_STATE;
  }
  status = board->timer.start(board->user);
  if (status == PETREL_BOARD_OK) {
    rpc->is_timing = 1;
  }
  return status;
}

int32_t petrel_rpc_stop_timer(struct petrel_rpc *rpc, uint64_t *ticks) {
  const struct petrel_board *board = rpc->config.board;
  int32_t status;
  *ticks = 0;
  if (board->timer.hz == 0u) {
    return PETREL_BOARD_E_MISSING;
  }
  if (rpc->is_timing == 0u) {
    return PETREL_BOARD_E_STATE;
  }
  rpc->is_timing = 0;
  status = board->timer.stop(board->user, ticks);
  if (status != PETREL_BOARD_OK) {
    return status;
  }
  if (board->timer.bits < 64u && *ticks >> board->timer.bits != 0u) {
    return PETREL_BOARD_E_OVERFLOW;
  }
  return PETREL_BOARD_OK;
}

static void fail(struct petrel_rpc *rpc, uint8_t domain, int32_t status) {
  rpc->domain = domain;
  rpc->status = status;
}

/* One step between two looks at the timer; `has_timer` is 0 where there is none to look at. */
static void run_step(struct petrel_rpc *rpc, const struct petrel_method_plan *plan, bool has_timer,
                     uint64_t *ticks) {
  int32_t status = has_timer ? petrel_rpc_start_timer(rpc) : (int32_t)PETREL_BOARD_OK;
  int32_t stopped = PETREL_BOARD_OK;
  *ticks = 0;
  if (status != PETREL_BOARD_OK) {
    fail(rpc, PETREL_RPC_OF_BOARD, status);
    return;
  }
  rpc->is_inside = 1;
  status = plan->run_step(rpc->config.context, rpc->inputs, rpc->outputs, &rpc->next);
  rpc->is_inside = 0;
  if (has_timer) {
    stopped = petrel_rpc_stop_timer(rpc, ticks);
  }
  if (status != PETREL_MODEL_OK) {
    fail(rpc, PETREL_RPC_OF_MODEL, status);
  } else if (stopped != PETREL_BOARD_OK) {
    fail(rpc, PETREL_RPC_OF_BOARD, stopped);
  } else {
    /* both are well */
  }
}

/* Up to `count` steps from rpc->next on. */
static void run_steps(struct petrel_rpc *rpc, const struct petrel_request *request,
                      const struct petrel_method_plan *plan, uint32_t count, bool has_timer,
                      bool is_traced) {
  uint32_t done;
  uint32_t i;
  for (i = 0; is_traced && i < plan->num_steps; ++i) {
    rpc->config.trace[i] = 0;
  }
  for (done = 0; done < count && rpc->next < plan->num_steps && rpc->domain == 0u; ++done) {
    const uint32_t at = rpc->next;
    uint64_t ticks;
    if (at == 0u) {
      rpc->begun = 0;
    }
    if (done > 0u && done % STEPS_OF_A_BEAT == 0u) {
      petrel_rpc_busy(rpc, request);
    }
    run_step(rpc, plan, has_timer, &ticks);
    rpc->ticks += ticks;
    if (at == 0u && rpc->domain == 0u) {
      rpc->begun = (uint16_t)(request->payload[0] + 1u);
    }
    if (is_traced && ticks > 0xffffffffu) {
      fail(rpc, PETREL_RPC_OF_BOARD, PETREL_BOARD_E_OVERFLOW);
    } else if (is_traced) {
      rpc->config.trace[at] = (uint32_t)ticks;
    } else {
      /* nobody asks */
    }
  }
}

/* method, flags. */
static void run(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const uint32_t method = request->payload[0];
  const bool is_traced = (request->payload[1] & PETREL_RPC_TRACED) != 0u;
  const struct petrel_rpc_config *config = &rpc->config;
  int32_t status;
  if (config->plan != NULL) {
    const struct petrel_method_plan *plan = &config->plan->methods[method];
    run_steps(rpc, request, plan, UINT32_MAX, is_traced, is_traced);
    return;
  }
  rpc->is_inside = 1;
  status = config->model->methods[method].run(config->context, rpc->inputs, rpc->outputs);
  rpc->is_inside = 0;
  if (status != PETREL_MODEL_OK) {
    fail(rpc, PETREL_RPC_OF_MODEL, status);
  }
}

/* method, 3 bytes, number32: that many runs in a row. */
static void time_runs(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const uint32_t method = request->payload[0];
  const uint32_t number = petrel_get32(request->payload + 4);
  const struct petrel_method_info *info = &rpc->config.model->methods[method];
  int32_t status = petrel_rpc_start_timer(rpc);
  int32_t ran = PETREL_MODEL_OK;
  uint32_t i;
  if (status != PETREL_BOARD_OK) {
    fail(rpc, PETREL_RPC_OF_BOARD, status);
    return;
  }
  rpc->is_inside = 1;
  for (i = 0; i < number && ran == PETREL_MODEL_OK; ++i) {
    ran = info->run(rpc->config.context, rpc->inputs, rpc->outputs);
  }
  rpc->is_inside = 0;
  status = petrel_rpc_stop_timer(rpc, &rpc->ticks);
  rpc->next = i;
  if (ran != PETREL_MODEL_OK) {
    fail(rpc, PETREL_RPC_OF_MODEL, ran);
  } else if (status != PETREL_BOARD_OK) {
    fail(rpc, PETREL_RPC_OF_BOARD, status);
  } else {
    /* both are well */
  }
}

static void do_action(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const unsigned char *payload = request->payload;
  int32_t status = 0;
  switch (request->type) {
    case PETREL_RPC_RUN:
      run(rpc, request);
      return;
    case PETREL_RPC_RUN_OP:
      rpc->next = petrel_get32(payload + 4);
      run_steps(rpc, request, &rpc->config.plan->methods[payload[0]], petrel_get32(payload + 8),
                rpc->config.board->timer.hz != 0u, false);
      return;
    case PETREL_RPC_TIME:
      time_runs(rpc, request);
      return;
    case PETREL_RPC_SELFTEST:
      status = rpc->config.selftest(rpc->config.context);
      break;
    case PETREL_RPC_RESET_STATE:
      status = rpc->config.model->reset_state(rpc->config.context);
      break;
    default: /* TIMER */
      status =
          payload[0] != 0u ? petrel_rpc_start_timer(rpc) : petrel_rpc_stop_timer(rpc, &rpc->ticks);
      if (status != PETREL_BOARD_OK) {
        fail(rpc, PETREL_RPC_OF_BOARD, status);
      }
      return;
  }
  if (status != PETREL_MODEL_OK) {
    fail(rpc, PETREL_RPC_OF_MODEL, status);
  }
}

/* RUN_OP: method, 3 bytes, first32, count32. Step 0 checks what all others trust. */
static int is_step(struct petrel_rpc *rpc, const struct petrel_request *request,
                   const struct petrel_method_plan *plan) {
  const uint32_t first = petrel_get32(request->payload + 4);
  if (first >= plan->num_steps) {
    petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, PETREL_RPC_E_INDEX, plan->num_steps);
    return 0;
  }
  if (first == 0u || rpc->begun == request->payload[0] + 1u) {
    return 1;
  }
  petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, PETREL_RPC_E_STEP, first);
  return 0;
}

/* Whether what was asked for can be tried; refuses it if not. */
static int is_possible(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const struct petrel_rpc_config *config = &rpc->config;
  const unsigned char *payload = request->payload;
  size_t needs = 0;
  if (request->type == PETREL_RPC_RUN) {
    needs = 2;
  }
  if (request->type == PETREL_RPC_RUN_OP) {
    needs = 12;
  }
  if (request->type == PETREL_RPC_TIME) {
    needs = 8;
  }
  if (request->type == PETREL_RPC_TIMER) {
    needs = 1;
  }
  if (petrel_rpc_has(rpc, request, needs) == 0) {
    return 0;
  }
  if (request->type == PETREL_RPC_SELFTEST && config->selftest == NULL) {
    petrel_rpc_missing(rpc, request);
    return 0;
  }
  if (request->type == PETREL_RPC_RUN || request->type == PETREL_RPC_RUN_OP ||
      request->type == PETREL_RPC_TIME) {
    const struct petrel_method_plan *plan;
    if (petrel_rpc_has_method(rpc, request, payload[0]) == 0) {
      return 0;
    }
    plan = config->plan == NULL ? NULL : &config->plan->methods[payload[0]];
    if (request->type == PETREL_RPC_TIME) {
      if (petrel_get32(payload + 4) <= 1u || petrel_rpc_keeps_inputs(rpc, payload[0]) != 0) {
        return 1;
      }
      petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, PETREL_RPC_E_INPUTS, 0);
      return 0;
    }
    if (request->type == PETREL_RPC_RUN_OP) {
      if (plan == NULL) {
        petrel_rpc_missing(rpc, request);
        return 0;
      }
      return is_step(rpc, request, plan);
    }
    if ((payload[1] & PETREL_RPC_TRACED) != 0u &&
        (plan == NULL || config->num_trace < plan->num_steps)) {
      petrel_rpc_missing(rpc, request);
      return 0;
    }
  }
  return 1;
}

static void answer_action(struct petrel_rpc *rpc, const struct petrel_request *request) {
  unsigned char answer[12];
  if (rpc->domain != 0u) {
    petrel_rpc_refuse(rpc, request, rpc->domain, rpc->status, rpc->next);
    return;
  }
  petrel_put32(answer, rpc->next);
  petrel_put32(answer + 4, (uint32_t)rpc->ticks);
  petrel_put32(answer + 8, (uint32_t)(rpc->ticks >> 32));
  petrel_rpc_answer(rpc, request, answer, sizeof answer, NULL, 0);
}

void petrel_rpc_on_action(struct petrel_rpc *rpc, const struct petrel_request *request) {
  if (is_possible(rpc, request) == 0) {
    return;
  }
  if (request->is_again == 0u) {
    rpc->domain = 0;
    rpc->status = 0;
    rpc->next = 0;
    rpc->ticks = 0;
    if (request->type == PETREL_RPC_RUN || request->type == PETREL_RPC_RUN_OP ||
        request->type == PETREL_RPC_TIME) {
      petrel_rpc_point(rpc, request->payload[0]);
    }
    /* A frame takes time, which is not the timer's. */
    if (request->type != PETREL_RPC_TIMER) {
      petrel_rpc_busy(rpc, request);
    }
    do_action(rpc, request);
  }
  answer_action(rpc, request);
}

/* first32: ticks of as many steps from there as an answer holds. */
void petrel_rpc_on_trace(struct petrel_rpc *rpc, const struct petrel_request *request) {
  unsigned char answer[40];
  uint32_t first;
  uint32_t count = 0;
  if (rpc->config.num_trace == 0u) {
    petrel_rpc_missing(rpc, request);
    return;
  }
  if (petrel_rpc_has(rpc, request, 4) == 0) {
    return;
  }
  first = petrel_get32(request->payload);
  if (first >= rpc->config.num_trace) {
    petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, PETREL_RPC_E_INDEX,
                      rpc->config.num_trace);
    return;
  }
  for (; count < sizeof answer / 4u && count < rpc->config.num_trace - first; ++count) {
    petrel_put32(answer + (size_t)count * 4u, rpc->config.trace[first + count]);
  }
  petrel_rpc_answer(rpc, request, answer, (size_t)count * 4u, NULL, 0);
}

/* SET_SIZES: method, then the sizes of each input that varies, one behind the other. */
static void set_sizes(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const struct petrel_method_info *info = &rpc->config.model->methods[request->payload[0]];
  const int32_t *pointers[PETREL_RPC_MAX_TENSORS];
  int32_t sizes[16];
  size_t count = 0;
  uint32_t i;
  uint32_t d;
  int32_t status;
  for (i = 0; i < PETREL_RPC_MAX_TENSORS; ++i) {
    pointers[i] = NULL;
  }
  for (i = 0; i < info->num_inputs; ++i) {
    const struct petrel_tensor_info *tensor = &info->inputs[i];
    if (tensor->least_sizes == NULL) {
      continue;
    }
    if (count + tensor->rank > sizeof sizes / sizeof sizes[0]) {
      petrel_rpc_missing(rpc, request);
      return;
    }
    if (petrel_rpc_has(rpc, request, 1u + 4u * (count + tensor->rank)) == 0) {
      return;
    }
    pointers[i] = sizes + count;
    for (d = 0; d < tensor->rank; ++d) {
      sizes[count] = (int32_t)petrel_get32(&request->payload[1u + 4u * count]);
      ++count;
    }
  }
  status = info->set_sizes == NULL ? (int32_t)PETREL_MODEL_OK
                                   : info->set_sizes(rpc->config.context, pointers);
  if (status == PETREL_MODEL_OK) {
    rpc->begun = 0; /* step 0 has checked what it found with other sizes */
    petrel_rpc_answer(rpc, request, NULL, 0, NULL, 0);
  } else {
    petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_MODEL, status, 0);
  }
}

/* GET_SIZES: method, index of an output: its sizes after a run. */
static void get_sizes(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const struct petrel_method_info *info = &rpc->config.model->methods[request->payload[0]];
  const uint32_t index = request->payload[1];
  const struct petrel_tensor_info *tensor;
  int32_t sizes[10];
  unsigned char answer[sizeof sizes];
  uint32_t d;
  if (index >= info->num_outputs) {
    petrel_rpc_refuse(rpc, request, PETREL_RPC_OF_REQUEST, PETREL_RPC_E_INDEX, info->num_outputs);
    return;
  }
  tensor = &info->outputs[index];
  if (tensor->rank > sizeof sizes / sizeof sizes[0]) {
    petrel_rpc_missing(rpc, request);
    return;
  }
  for (d = 0; d < tensor->rank; ++d) {
    sizes[d] = tensor->sizes[d];
  }
  if (tensor->actual_sizes != NULL) {
    tensor->actual_sizes(rpc->config.context, sizes);
  }
  for (d = 0; d < tensor->rank; ++d) {
    petrel_put32(answer + 4u * d, (uint32_t)sizes[d]);
  }
  petrel_rpc_answer(rpc, request, answer, (size_t)tensor->rank * 4u, NULL, 0);
}

void petrel_rpc_on_sizes(struct petrel_rpc *rpc, const struct petrel_request *request) {
  const bool is_set = request->type == PETREL_RPC_SET_SIZES;
  if (petrel_rpc_has(rpc, request, is_set ? 1 : 2) == 0) {
    return;
  }
  if (petrel_rpc_has_method(rpc, request, request->payload[0]) == 0) {
    return;
  }
  if (is_set) {
    set_sizes(rpc, request);
  } else {
    get_sizes(rpc, request);
  }
}
