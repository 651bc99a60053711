/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/calls/calls.h"

#include <stdint.h>

#include "pthreadpool.h"
#include "third_party/xnnpack/lanes/lanes.h"
#include "xnnpack/allocator.h"
#include "xnnpack/compute.h"
#include "xnnpack/microfnptr.h"
#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"

enum kind {
  kOperator, /* whatever else: XNNPACK runs it */
  kUnary,    /* kernel(size, a, y, params) */
  kBinary,   /* kernel(size, a, b, y, params) */
  kLoop,     /* task(context, i) */
  kTileLoop,
  kLoop2d,
  kTileLoop2d,
};

/* One line of the cache. */
struct petrel_call {
  uint32_t step;
  uint8_t kind;
  uint8_t
      lane; /* 0: no stretch; 1, 2, and 3, 4 of every other one, to tell it from its neighbour */
  uint16_t more; /* how many calls behind this one, of its lane, need no operator; more follow than
                    fit */
  union {
    struct {
      union {
        xnn_vunary_ukernel_fn unary;
        xnn_vbinary_ukernel_fn binary;
      };
      size_t size;
      const void* a;
      const void* b;
      void* y;
      const void* params;
    };
    struct {
      void* context;
      union {
        pthreadpool_task_1d_t task_1d;
        pthreadpool_task_1d_tile_1d_t task_1d_tile_1d;
        pthreadpool_task_2d_t task_2d;
        pthreadpool_task_2d_tile_2d_t task_2d_tile_2d;
      };
      size_t range[2];
      size_t tile[2];
    };
  };
};

static size_t count_steps(xnn_runtime_t runtime) {
  size_t count = 0;
  for (size_t i = 0; i < runtime->num_ops; i++) {
    for (size_t j = 0; j < XNN_MAX_OPERATOR_OBJECTS; j++) {
      count += runtime->opdata[i].operator_objects[j] != NULL;
    }
  }
  return count;
}

static bool has_external(xnn_runtime_t runtime, const uint32_t* ids, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (ids[i] < runtime->num_values &&
        runtime->values[ids[i]].allocation_type == xnn_allocation_type_external) {
      return true;
    }
  }
  return false;
}

static bool is_end(xnn_runtime_t runtime, size_t index) {
  const struct xnn_operator_data* data = &runtime->opdata[index];
  return has_external(runtime, data->inputs, data->num_inputs) ||
         has_external(runtime, data->outputs, data->num_outputs);
}

struct petrel_calls* petrel_make_calls(xnn_runtime_t runtime) {
  struct petrel_calls* calls = xnn_allocate_zero_memory(sizeof(struct petrel_calls));
  if (calls == NULL) return NULL;
  size_t num_ends = 0;
  for (size_t i = 0; i < runtime->num_ops; i++) num_ends += is_end(runtime, i);
  const size_t bytes = (count_steps(runtime) + 1) * sizeof(struct petrel_call);
  calls->calls = xnn_allocate_zero_simd_memory(bytes);
  calls->ends = xnn_allocate_memory((num_ends + 1) * sizeof(uint32_t));
  if (calls->calls == NULL || calls->ends == NULL) {
    petrel_delete_calls(calls);
    return NULL;
  }
  for (size_t i = 0; i < runtime->num_ops; i++) {
    if (is_end(runtime, i)) calls->ends[calls->num_ends++] = (uint32_t)i;
  }
  return calls;
}

void petrel_delete_calls(struct petrel_calls* calls) {
  if (calls == NULL) return;
  xnn_release_simd_memory(calls->calls);
  xnn_release_memory(calls->ends);
  xnn_release_memory(calls);
}

static void call_unary(struct petrel_call* call, xnn_vunary_ukernel_fn kernel, size_t size,
                       const void* input, void* output, const void* params) {
  call->kind = kUnary;
  call->unary = kernel;
  call->size = size;
  call->a = input;
  call->y = output;
  call->params = params;
}

static void call_binary(struct petrel_call* call, const struct elementwise_binary_context* context,
                        size_t size) {
  call->kind = kBinary;
  call->binary = context->ukernel;
  call->size = size;
  call->a = context->a;
  call->b = context->b;
  call->y = context->y;
  call->params = &context->params;
}

/* Whether an operator calls its kernel once. */
static bool plan_kernel(struct petrel_call* call, const struct compute_parameters* compute,
                        const void* context) {
  const size_t range = compute->range[0];
  if (compute->type == xnn_parallelization_type_1d_tile_1d) {
    const pthreadpool_task_1d_tile_1d_t task = compute->task_1d_tile_1d;
    if (task == (pthreadpool_task_1d_tile_1d_t)xnn_compute_univector_contiguous) {
      const struct univector_contiguous_context* of = context;
      call_unary(call, of->ukernel, range, of->x, of->y, &of->params);
      return true;
    }
    if (task == (pthreadpool_task_1d_tile_1d_t)xnn_compute_univector_strided && range == 1) {
      const struct univector_strided_context* of = context;
      call_unary(call, of->ukernel, of->n, of->x, of->y, &of->params);
      return true;
    }
    if (task == (pthreadpool_task_1d_tile_1d_t)xnn_compute_elementwise_binary_1d_tile) {
      call_binary(call, context, range);
      return true;
    }
  }
  if (compute->type == xnn_parallelization_type_1d && range == 1) {
    if (compute->task_1d == (pthreadpool_task_1d_t)xnn_compute_elementwise_binary_1d) {
      const struct elementwise_binary_context* of = context;
      call_binary(call, of, of->elements);
      return true;
    }
    if (compute->task_1d == (pthreadpool_task_1d_t)xnn_compute_slice_1d) {
      const struct slice_context* of = context;
      call_unary(call, of->ukernel, of->contiguous_size, of->input, of->output, NULL);
      return true;
    }
  }
  return false;
}

static bool plan_loop(struct petrel_call* call, const struct compute_parameters* compute,
                      void* context) {
  switch (compute->type) {
    case xnn_parallelization_type_1d:
      call->kind = kLoop;
      call->task_1d = compute->task_1d;
      break;
    case xnn_parallelization_type_1d_tile_1d:
      call->kind = kTileLoop;
      call->task_1d_tile_1d = compute->task_1d_tile_1d;
      break;
    case xnn_parallelization_type_2d:
      call->kind = kLoop2d;
      call->task_2d = compute->task_2d;
      break;
    case xnn_parallelization_type_2d_tile_2d:
      call->kind = kTileLoop2d;
      call->task_2d_tile_2d = compute->task_2d_tile_2d;
      break;
    default:
      return false;
  }
  call->context = context;
  for (size_t i = 0; i < 2; i++) {
    call->range[i] = compute->range[i];
    call->tile[i] = compute->tile[i];
  }
  return true;
}

static void plan_step(struct petrel_call* call, const struct xnn_operator_data* data,
                      xnn_operator_t op) {
  call->kind = kOperator;
  const bool is_one_loop = op->compute[1].type == xnn_parallelization_type_invalid &&
                           op->compute[2].type == xnn_parallelization_type_invalid;
  if (!data->is_small || op->state != xnn_run_state_ready || !is_one_loop) return;
  void* context = (char*)&op->context + op->compute[0].context_offset;
  if (!plan_kernel(call, &op->compute[0], context)) plan_loop(call, &op->compute[0], context);
}

static void plan_lanes(const struct petrel_lanes* lanes, struct petrel_calls* calls) {
  size_t stretch = 0;
  for (size_t i = 0; i < calls->count; i++) {
    struct petrel_call* call = &calls->calls[i];
    const uint32_t op = call->step / XNN_MAX_OPERATOR_OBJECTS;
    call->lane = 0;
    if (lanes == NULL || lanes->of_operator[op] == 0) continue;
    while (op >= lanes->stretches[stretch].end) stretch++;
    call->lane = (uint8_t)(lanes->of_operator[op] + 2 * (stretch % 2));
  }
}

void petrel_plan_calls(xnn_runtime_t runtime, struct petrel_calls* calls) {
  calls->count = 0;
  for (size_t i = 0; i < runtime->num_ops; i++) {
    for (size_t j = 0; j < XNN_MAX_OPERATOR_OBJECTS; j++) {
      xnn_operator_t op = runtime->opdata[i].operator_objects[j];
      if (op == NULL || op->state == xnn_run_state_skip) continue;
      struct petrel_call* call = &calls->calls[calls->count++];
      call->step = (uint32_t)(i * XNN_MAX_OPERATOR_OBJECTS + j);
      plan_step(call, &runtime->opdata[i], op);
    }
  }
  plan_lanes(runtime->lanes, calls);
  uint16_t more = 0;
  for (size_t i = calls->count; i-- > 0;) {
    struct petrel_call* call = &calls->calls[i];
    if (i + 1 < calls->count && call->lane != call[1].lane) more = 0;
    call->more = more;
    more = call->kind == kOperator ? 0 : (uint16_t)(more < UINT16_MAX - 1 ? more + 1 : 0);
  }
  calls->are_planned = true;
}

/* The call of a step; null where there is none, as of operators that have nothing to do. */
static struct petrel_call* find_call(const struct petrel_calls* calls, size_t step) {
  size_t first = 0, end = calls->count;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (calls->calls[middle].step < step) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  const bool is_found = first < calls->count && calls->calls[first].step == step;
  return is_found ? &calls->calls[first] : NULL;
}

static enum xnn_status set_up_operator(xnn_runtime_t runtime, struct xnn_operator_data* data) {
  /* One that was removed has none. */
  if (data->operator_objects[0] == NULL) return xnn_status_success;
  return data->setup(data, runtime->values, runtime->num_values, runtime->threadpool);
}

static void plan_again(xnn_runtime_t runtime, struct petrel_calls* calls, size_t index) {
  const struct xnn_operator_data* data = &runtime->opdata[index];
  for (size_t j = 0; j < XNN_MAX_OPERATOR_OBJECTS; j++) {
    xnn_operator_t op = data->operator_objects[j];
    struct petrel_call* call = find_call(calls, index * XNN_MAX_OPERATOR_OBJECTS + j);
    const bool is_needed = op != NULL && op->state != xnn_run_state_skip;
    if (is_needed != (call != NULL)) calls->are_planned = false;
    if (!is_needed || call == NULL) continue;
    const bool was_operator = call->kind == kOperator;
    plan_step(call, data, op);
    /* The counts of those before it would be others. */
    if (was_operator != (call->kind == kOperator)) calls->are_planned = false;
  }
}

enum xnn_status petrel_set_up(xnn_runtime_t runtime, struct petrel_calls* calls) {
  const bool all = !calls->are_set_up;
  const size_t count = all ? runtime->num_ops : calls->num_ends;
  calls->are_set_up = false;
  for (size_t i = 0; i < count; i++) {
    const size_t index = all ? i : calls->ends[i];
    const enum xnn_status status = set_up_operator(runtime, &runtime->opdata[index]);
    if (status != xnn_status_success) {
      calls->are_planned = false;
      return status;
    }
    if (calls->are_planned) plan_again(runtime, calls, index);
  }
  calls->are_set_up = true;
  if (!calls->are_planned) petrel_plan_calls(runtime, calls);
  return xnn_status_success;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void run_call(const struct petrel_call* call) {
  switch (call->kind) {
    case kUnary:
      call->unary(call->size, call->a, call->y, call->params);
      break;
    case kBinary:
      call->binary(call->size, call->a, call->b, call->y, call->params);
      break;
    case kLoop:
      for (size_t i = 0; i < call->range[0]; i++) call->task_1d(call->context, i);
      break;
    case kTileLoop:
      for (size_t i = 0; i < call->range[0]; i += call->tile[0]) {
        call->task_1d_tile_1d(call->context, i, smaller(call->tile[0], call->range[0] - i));
      }
      break;
    case kLoop2d:
      for (size_t i = 0; i < call->range[0]; i++) {
        for (size_t j = 0; j < call->range[1]; j++) call->task_2d(call->context, i, j);
      }
      break;
    case kTileLoop2d:
      for (size_t i = 0; i < call->range[0]; i += call->tile[0]) {
        for (size_t j = 0; j < call->range[1]; j += call->tile[1]) {
          call->task_2d_tile_2d(call->context, i, j, smaller(call->tile[0], call->range[0] - i),
                                smaller(call->tile[1], call->range[1] - j));
        }
      }
      break;
    default:
      break;
  }
}

struct run {
  const struct petrel_call* first;
  const struct petrel_observer* observer;
};

/* The pool calls it once, on the thread that asks, with denormals off as for operators. */
static void run_in_a_row(void* context, size_t index) {
  (void)index;
  const struct run* run = context;
  const struct petrel_observer* observer = run->observer;
  const struct petrel_call* end = run->first + run->first->more + 1;
  for (const struct petrel_call* call = run->first; call != end; call++) {
    if (observer != NULL) observer->begin(observer->context, call->step);
    run_call(call);
    if (observer != NULL) observer->end(observer->context, call->step);
  }
}

static enum xnn_status run_operator(xnn_runtime_t runtime, size_t step, pthreadpool_t threads) {
  const size_t i = step / XNN_MAX_OPERATOR_OBJECTS;
  const size_t j = step % XNN_MAX_OPERATOR_OBJECTS;
  return xnn_run_operator_with_index(runtime->opdata[i].operator_objects[j], i, j, threads);
}

/* The first call behind those that run in a row with this one. */
static const struct petrel_call* next_of(const struct petrel_call* call) {
  return call + (call->kind == kOperator ? 1 : call->more + 1);
}

struct lane_run {
  xnn_runtime_t runtime;
  const struct petrel_call *first, *end; /* of the stretch */
  enum xnn_status statuses[2];
};

static void run_lane(void* context, size_t index) {
  struct lane_run* run = context;
  for (const struct petrel_call* call = run->first; call != run->end; call = next_of(call)) {
    if ((call->lane - 1u) % 2 != index) continue;
    if (call->kind != kOperator) {
      struct run row = {call, NULL};
      run_in_a_row(&row, 0);
      continue;
    }
    run->statuses[index] = run_operator(run->runtime, call->step, NULL);
    if (run->statuses[index] != xnn_status_success) return;
  }
}

static bool is_same_stretch(uint8_t lane, uint8_t other) {
  return other != 0 && (lane - 1) / 2 == (other - 1) / 2;
}

/* Runs both lanes of the stretch that begins with the call; *last becomes its last call. */
static enum xnn_status run_lanes(xnn_runtime_t runtime, const struct petrel_call* first,
                                 const struct petrel_call* end, const struct petrel_call** last) {
  const struct petrel_call* behind = first;
  while (behind != end && is_same_stretch(first->lane, behind->lane)) behind = next_of(behind);
  struct lane_run run = {runtime, first, behind, {xnn_status_success, xnn_status_success}};
  pthreadpool_parallelize_1d(runtime->threadpool, run_lane, &run, 2,
                             PTHREADPOOL_FLAG_DISABLE_DENORMALS);
  *last = behind - 1;
  return run.statuses[0] != xnn_status_success ? run.statuses[0] : run.statuses[1];
}

static enum xnn_status run_step(xnn_runtime_t runtime, size_t step,
                                const struct petrel_observer* observer) {
  const struct xnn_operator_data* data = &runtime->opdata[step / XNN_MAX_OPERATOR_OBJECTS];
  if (observer != NULL) observer->begin(observer->context, step);
  const enum xnn_status status =
      run_operator(runtime, step, data->is_small ? NULL : runtime->threadpool);
  if (observer != NULL) observer->end(observer->context, step);
  return status;
}

enum xnn_status petrel_run_calls(xnn_runtime_t runtime, const struct petrel_calls* calls,
                                 const struct petrel_observer* observer) {
  const struct petrel_call* end = calls->calls + calls->count;
  for (const struct petrel_call* call = calls->calls; call != end; call++) {
    enum xnn_status status = xnn_status_success;
    if (call->lane != 0 && observer == NULL) {
      status = run_lanes(runtime, call, end, &call);
    } else if (call->kind != kOperator) {
      struct run run = {call, observer};
      pthreadpool_parallelize_1d(NULL, run_in_a_row, &run, 1, PTHREADPOOL_FLAG_DISABLE_DENORMALS);
      call += call->more;
    } else {
      status = run_step(runtime, call->step, observer);
    }
    if (status != xnn_status_success) return status;
  }
  return xnn_status_success;
}
