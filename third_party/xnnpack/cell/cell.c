/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/cell/cell.h"

#include <stdbool.h>

#include "xnnpack/allocator.h"
#include "xnnpack/compute.h"
#include "xnnpack/config.h"
#include "xnnpack/log.h"
#include "xnnpack/microfnptr.h"
#include "xnnpack/microparams.h"
#include "xnnpack/node-type.h"
#include "xnnpack/operator-type.h"
#include "xnnpack/operator.h"
#include "xnnpack/reference-config.h"
#include "xnnpack/subgraph-validation.h"
#include "xnnpack/subgraph.h"

_Static_assert(PETREL_CELL_MAX_INPUTS == XNN_MAX_INPUTS, "as many as a node has");
_Static_assert(PETREL_CELL_MAX_OUTPUTS == XNN_MAX_OUTPUTS, "as many as a node has");

/* An element of a node counts as much as eight multiply-adds (small_operators.patch). */
#define ELEMENT_WORK 8

struct call {
  bool is_pair;
  union {
    xnn_vbinary_ukernel_fn pair;
    xnn_vunary_ukernel_fn single;
  };
  const void* a;
  const void* b;
  void* y;
  union {
    union xnn_binary_uparams pair_params;
    union xnn_unary_uparams single_params;
  };
};

/* Ends behind the calls of its steps. */
struct context {
  const struct petrel_cell* cell;
  struct call calls[];
};

typedef const struct xnn_binary_elementwise_config* (*pair_config_fn)(void);
typedef const struct xnn_unary_elementwise_config* (*single_config_fn)(void);

struct function {
  pair_config_fn pair_config;
  enum xnn_binary_operator pair;
  single_config_fn single_config;
  enum xnn_unary_operator single;
};

#define PAIR(name, config) \
  { .pair_config = xnn_init_f32_##config##_config, .pair = xnn_binary_##name }
#define SINGLE(name, config) \
  { .single_config = xnn_init_f32_##config##_config, .single = xnn_unary_##name }

static const struct function kFunctions[] = {
    [petrel_cell_add] = PAIR(add, vadd),           [petrel_cell_subtract] = PAIR(subtract, vsub),
    [petrel_cell_multiply] = PAIR(multiply, vmul), [petrel_cell_divide] = PAIR(divide, vdiv),
    [petrel_cell_maximum] = PAIR(maximum, vmax),   [petrel_cell_minimum] = PAIR(minimum, vmin),
    [petrel_cell_abs] = SINGLE(abs, abs),          [petrel_cell_exp] = SINGLE(exp, exp),
    [petrel_cell_negate] = SINGLE(negate, neg),    [petrel_cell_sigmoid] = SINGLE(sigmoid, sigmoid),
    [petrel_cell_square] = SINGLE(square, sqr),    [petrel_cell_tanh] = SINGLE(tanh, tanh),
};

/* The kernel and its parameters as operators of the function have them; false for none. */
static bool find_kernel(enum petrel_cell_function name, struct call* call) {
  const struct function* function = &kFunctions[name];
  call->is_pair = function->pair_config != NULL;
  if (call->is_pair) {
    const struct xnn_binary_elementwise_config* config = function->pair_config();
    if (config == NULL) {
      config = xnn_init_binary_reference_config(function->pair, xnn_datatype_fp32);
    }
    if (config == NULL) return false;
    call->pair = config->op_ukernel;
    if (config->init != NULL) config->init(&call->pair_params, NULL, NULL, NULL);
    return true;
  }
  const struct xnn_unary_elementwise_config* config = function->single_config();
  if (config == NULL) {
    config =
        xnn_init_unary_reference_config(function->single, xnn_datatype_fp32, xnn_datatype_fp32);
  }
  if (config == NULL) return false;
  call->single = config->ukernel;
  if (config->init != NULL) config->init(&call->single_params, NULL, NULL, NULL);
  return true;
}

static struct context* context_of(const struct xnn_operator_data* data) {
  return (struct context*)&data->operator_objects[0]->context;
}

static void run_cell(void* of, size_t index) {
  (void)index;
  const struct context* context = of;
  const struct petrel_cell_step* steps = context->cell->steps;
  for (size_t i = 0; i < context->cell->num_steps; i++) {
    const struct call* call = &context->calls[i];
    if (call->is_pair) {
      call->pair(steps[i].bytes, call->a, call->b, call->y, &call->pair_params);
    } else {
      call->single(steps[i].bytes, call->a, call->y, &call->single_params);
    }
  }
}

static enum xnn_status create_cell(const struct xnn_node* node, const struct xnn_value* values,
                                   size_t num_values, struct xnn_operator_data* data,
                                   struct xnn_code_cache* code_cache,
                                   xnn_weights_cache_t weights_cache) {
  (void)values, (void)num_values, (void)code_cache, (void)weights_cache;
  const struct petrel_cell* cell = node->params.cell;
  const size_t bytes = sizeof(struct context) + cell->num_steps * sizeof(struct call);
  xnn_operator_t op = xnn_allocate_short_operator(offsetof(struct xnn_operator, context) + bytes);
  if (op == NULL) return xnn_status_out_of_memory;
  op->type = xnn_operator_type_cell;
  op->state = xnn_run_state_invalid;
  data->operator_objects[0] = op;
  struct context* context = context_of(data);
  context->cell = cell;
  for (size_t i = 0; i < cell->num_steps; i++) {
    if (!find_kernel(cell->steps[i].function, &context->calls[i])) {
      return xnn_status_unsupported_hardware;
    }
  }
  op->compute[0].type = xnn_parallelization_type_1d;
  op->compute[0].task_1d = run_cell;
  op->compute[0].range[0] = 1;
  return xnn_status_success;
}

static bool have_bytes(const struct xnn_value* values, const uint32_t* ids, size_t count,
                       const size_t* bytes) {
  for (size_t i = 0; i < count; i++) {
    if (xnn_tensor_get_size(&values[ids[i]]) != bytes[i]) return false;
  }
  return true;
}

static enum xnn_status reshape_cell(struct xnn_operator_data* data, struct xnn_value* values,
                                    size_t num_values, pthreadpool_t threads) {
  (void)num_values, (void)threads;
  const struct petrel_cell* cell = context_of(data)->cell;
  if (!have_bytes(values, data->inputs, cell->num_inputs, cell->input_bytes) ||
      !have_bytes(values, data->outputs, cell->num_outputs, cell->output_bytes)) {
    xnn_log_error("failed to reshape cell #%u: it was made for other sizes", data->id);
    return xnn_status_unsupported_parameter;
  }
  bool has_grown = data->workspace_size < cell->scratch_bytes;
  data->workspace_size = cell->scratch_bytes;
  data->workspace_alignment = XNN_ALLOCATION_ALIGNMENT;
  for (uint32_t i = 0; i < cell->num_outputs; i++) {
    struct xnn_value* output = &values[data->outputs[i]];
    has_grown |= output->size < cell->output_bytes[i];
    output->size = cell->output_bytes[i];
  }
  data->operator_objects[0]->state = xnn_run_state_needs_setup;
  return has_grown ? xnn_status_reallocation_required : xnn_status_success;
}

static char* find_place(const struct xnn_operator_data* data, const struct xnn_value* values,
                        const struct petrel_cell_run* run) {
  switch (run->place) {
    case petrel_cell_input:
      return (char*)values[data->inputs[run->index]].data + run->offset;
    case petrel_cell_output:
      return (char*)values[data->outputs[run->index]].data + run->offset;
    default:
      return (char*)data->workspace + run->offset;
  }
}

static enum xnn_status setup_cell(const struct xnn_operator_data* data,
                                  const struct xnn_value* values, size_t num_values,
                                  pthreadpool_t threads) {
  (void)num_values, (void)threads;
  xnn_operator_t op = data->operator_objects[0];
  if (op->state == xnn_run_state_invalid) return xnn_status_invalid_state;
  struct context* context = context_of(data);
  for (size_t i = 0; i < context->cell->num_steps; i++) {
    const struct petrel_cell_step* step = &context->cell->steps[i];
    struct call* call = &context->calls[i];
    call->a = find_place(data, values, &step->a);
    call->b = call->is_pair ? find_place(data, values, &step->b) : NULL;
    call->y = find_place(data, values, &step->y);
  }
  op->state = xnn_run_state_ready;
  return xnn_status_success;
}

static enum xnn_status check_value(xnn_subgraph_t subgraph, uint32_t id) {
  enum xnn_status status =
      xnn_subgraph_check_input_node_id(xnn_node_type_cell, id, subgraph->num_values);
  if (status != xnn_status_success) return status;
  const struct xnn_value* value = &subgraph->values[id];
  status = xnn_subgraph_check_input_type_dense(xnn_node_type_cell, id, value);
  if (status != xnn_status_success) return status;
  return value->datatype == xnn_datatype_fp32 ? xnn_status_success : xnn_status_invalid_parameter;
}

enum xnn_status petrel_define_cell(xnn_subgraph_t subgraph, const struct petrel_cell* cell,
                                   const uint32_t* inputs, const uint32_t* outputs) {
  enum xnn_status status = xnn_subgraph_check_xnnpack_initialized(xnn_node_type_cell);
  if (status != xnn_status_success) return status;
  if (cell->num_inputs == 0 || cell->num_inputs > XNN_MAX_INPUTS || cell->num_outputs == 0 ||
      cell->num_outputs > XNN_MAX_OUTPUTS) {
    return xnn_status_invalid_parameter;
  }
  for (uint32_t i = 0; i < cell->num_inputs; i++) {
    status = check_value(subgraph, inputs[i]);
    if (status != xnn_status_success) return status;
  }
  for (uint32_t i = 0; i < cell->num_outputs; i++) {
    status = check_value(subgraph, outputs[i]);
    if (status != xnn_status_success) return status;
  }
  struct xnn_node* node = xnn_subgraph_new_node(subgraph);
  if (node == NULL) return xnn_status_out_of_memory;
  node->type = xnn_node_type_cell;
  node->params.cell = cell;
  node->num_inputs = cell->num_inputs;
  node->num_outputs = cell->num_outputs;
  for (uint32_t i = 0; i < cell->num_inputs; i++) node->inputs[i] = inputs[i];
  for (uint32_t i = 0; i < cell->num_outputs; i++) node->outputs[i] = outputs[i];
  node->create = create_cell;
  node->reshape = reshape_cell;
  node->setup = setup_cell;
  return xnn_status_success;
}

size_t petrel_cell_work(const struct xnn_operator_data* data) {
  const struct petrel_cell* cell = context_of(data)->cell;
  size_t bytes = 0;
  for (size_t i = 0; i < cell->num_steps; i++) bytes += cell->steps[i].bytes;
  return bytes / sizeof(float) * ELEMENT_WORK;
}
