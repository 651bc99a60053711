/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/attention/attention.h"

#include <string.h>

#include "third_party/xnnpack/attention/blocks.h"
#include "xnnpack/allocator.h"
#include "xnnpack/compute.h"
#include "xnnpack/log.h"
#include "xnnpack/node-type.h"
#include "xnnpack/operator-type.h"
#include "xnnpack/operator.h"
#include "xnnpack/subgraph-validation.h"
#include "xnnpack/subgraph.h"

_Static_assert(PETREL_ATTENTION_MAX_DIMS == XNN_MAX_TENSOR_DIMS, "as many as a value has");
_Static_assert(PETREL_ATTENTION_MAX_INPUTS == XNN_MAX_INPUTS, "as many as a node has");

/* An element of a step counts as much as eight multiply-adds (small_operators.patch). */
#define ELEMENT_WORK 8

/* Queries, keys and values. */
#define FIRST_OPERAND 3

struct context {
  struct attention_layer layer;
  const struct petrel_attention* attention;
};

static struct context* context_of(const struct xnn_operator_data* data) {
  return (struct context*)&data->operator_objects[0]->context;
}

static void run_batch(void* of, size_t thread, size_t batch) {
  attention_run_batch(&((const struct context*)of)->layer, thread, batch);
}

static void pack_panel(void* of, size_t batch, size_t panel) {
  attention_pack_panel(&((const struct context*)of)->layer, batch, panel);
}

static void run_block(void* of, size_t thread, size_t index) {
  attention_run_block(&((const struct context*)of)->layer, thread, index);
}

static bool make_layer(const struct petrel_attention* attention, struct attention_layer* layer) {
  if (!attention_find_kernels(layer)) return false;
  layer->keys.is_turned = attention->turns_keys;
  layer->values.is_turned = attention->turns_values;
  for (size_t i = 0; i < attention->num_steps; i++) {
    const struct petrel_attention_step* described = &attention->steps[i];
    if (!row_step_init(described, &layer->steps[i])) return false;
    for (size_t stage = described->stage; stage < 3; stage++) layer->first_step[stage + 1] = i + 1;
  }
  return true;
}

static enum xnn_status create_attention(const struct xnn_node* node, const struct xnn_value* values,
                                        size_t num_values, struct xnn_operator_data* data,
                                        struct xnn_code_cache* code_cache,
                                        xnn_weights_cache_t weights_cache) {
  (void)values, (void)num_values, (void)code_cache, (void)weights_cache;
  xnn_operator_t op = XNN_ALLOCATE_SHORT_OPERATOR(struct context);
  if (op == NULL) return xnn_status_out_of_memory;
  op->type = xnn_operator_type_attention;
  op->state = xnn_run_state_invalid;
  data->operator_objects[0] = op;
  struct context* context = context_of(data);
  context->attention = node->params.attention;
  const bool is_made = make_layer(context->attention, &context->layer);
  return is_made ? xnn_status_success : xnn_status_unsupported_hardware;
}

static struct petrel_attention_dims dims_of(const struct xnn_shape* shape) {
  struct petrel_attention_dims dims = {.rank = shape->num_dims};
  memcpy(dims.sizes, shape->dim, shape->num_dims * sizeof(size_t));
  return dims;
}

/* Rows and columns of the last two dims. */
struct matrices {
  size_t count, rows, columns;
};

static struct matrices matrices_of(const struct xnn_shape* shape) {
  struct matrices m = {1, 1, 1};
  if (shape->num_dims < 2) return (struct matrices){0, 0, 0};
  for (size_t i = 0; i + 2 < shape->num_dims; i++) m.count *= shape->dim[i];
  m.rows = shape->dim[shape->num_dims - 2];
  m.columns = shape->dim[shape->num_dims - 1];
  return m;
}

static bool reshape_layer(struct context* context, const struct xnn_operator_data* data,
                          const struct xnn_value* values) {
  const struct petrel_attention* attention = context->attention;
  struct attention_layer* layer = &context->layer;
  const struct matrices queries = matrices_of(&values[data->inputs[0]].shape);
  const struct matrices keys = matrices_of(&values[data->inputs[1]].shape);
  const struct matrices of_values = matrices_of(&values[data->inputs[2]].shape);
  layer->batches = queries.count;
  layer->rows = queries.rows;
  layer->keys.depth = queries.columns;
  layer->keys.columns = attention->turns_keys ? keys.rows : keys.columns;
  layer->values.depth = layer->keys.columns;
  layer->values.columns = attention->turns_values ? of_values.rows : of_values.columns;
  return queries.count != 0 && keys.count == queries.count && of_values.count == queries.count &&
         layer->keys.depth == (attention->turns_keys ? keys.columns : keys.rows) &&
         layer->values.depth == (attention->turns_values ? of_values.columns : of_values.rows);
}

static bool reshape_steps(struct context* context, const struct xnn_operator_data* data,
                          const struct xnn_value* values) {
  const struct petrel_attention* attention = context->attention;
  const struct petrel_attention_dims queries = dims_of(&values[data->inputs[0]].shape);
  struct petrel_attention_dims scores = queries;
  scores.sizes[scores.rank - 1] = context->layer.keys.columns;
  for (size_t i = 0; i < attention->num_steps; i++) {
    const struct petrel_attention_step* step = &attention->steps[i];
    const struct petrel_attention_dims* dims =
        step->stage == petrel_attention_queries ? &queries : &scores;
    const struct petrel_attention_dims operand =
        step->constant != NULL ? step->constant_dims
                               : dims_of(&values[data->inputs[step->input]].shape);
    if (!row_step_reshape(&context->layer.steps[i], &operand,
                          step->view.rank == 0 ? dims : &step->view)) {
      return false;
    }
  }
  return true;
}

static void choose_tasks(xnn_operator_t op, const struct attention_layer* layer) {
  for (size_t i = 0; i < XNN_MAX_COMPUTE_INVOCATIONS; i++) {
    op->compute[i].type = xnn_parallelization_type_invalid;
  }
  struct compute_parameters* blocks = &op->compute[layer->shares_batches ? 0 : 1];
  blocks->type = xnn_parallelization_type_1d_with_thread;
  if (layer->shares_batches) {
    blocks->task_1d_with_thread = run_batch;
    blocks->range[0] = layer->batches;
    return;
  }
  op->compute[0].type = xnn_parallelization_type_2d;
  op->compute[0].task_2d = pack_panel;
  op->compute[0].range[0] = layer->batches;
  op->compute[0].range[1] = attention_num_panels(layer);
  blocks->task_1d_with_thread = run_block;
  blocks->range[0] = attention_num_blocks(layer);
}

static enum xnn_status reshape_attention(struct xnn_operator_data* data, struct xnn_value* values,
                                         size_t num_values, pthreadpool_t threads) {
  (void)num_values;
  struct context* context = context_of(data);
  if (!reshape_layer(context, data, values) || !reshape_steps(context, data, values)) {
    xnn_log_error("failed to reshape attention #%u: its inputs do not fit", data->id);
    return xnn_status_invalid_parameter;
  }
  struct attention_layer* layer = &context->layer;
  const size_t had = data->workspace_size;
  data->workspace_size = attention_plan(layer, context->attention->block_bytes,
                                        pthreadpool_get_threads_count(threads));
  data->workspace_alignment = XNN_ALLOCATION_ALIGNMENT;
  choose_tasks(data->operator_objects[0], layer);
  struct xnn_value* output = &values[data->outputs[0]];
  output->shape = values[data->inputs[2]].shape;
  output->shape.dim[output->shape.num_dims - 2] = layer->rows;
  output->shape.dim[output->shape.num_dims - 1] = layer->values.columns;
  const size_t bytes = xnn_tensor_get_size(output);
  const bool has_grown = data->workspace_size > had || bytes > output->size;
  if (bytes > output->size) output->size = bytes;
  data->operator_objects[0]->state = xnn_run_state_needs_setup;
  return has_grown ? xnn_status_reallocation_required : xnn_status_success;
}

static enum xnn_status setup_attention(const struct xnn_operator_data* data,
                                       const struct xnn_value* values, size_t num_values,
                                       pthreadpool_t threads) {
  (void)num_values, (void)threads;
  xnn_operator_t op = data->operator_objects[0];
  if (op->state == xnn_run_state_invalid) return xnn_status_invalid_state;
  struct context* context = context_of(data);
  struct attention_layer* layer = &context->layer;
  layer->queries = values[data->inputs[0]].data;
  layer->keys.data = values[data->inputs[1]].data;
  layer->values.data = values[data->inputs[2]].data;
  layer->output = values[data->outputs[0]].data;
  layer->memory = data->workspace;
  for (size_t i = 0; i < context->attention->num_steps; i++) {
    const struct petrel_attention_step* step = &context->attention->steps[i];
    layer->steps[i].operand =
        step->constant != NULL ? step->constant : values[data->inputs[step->input]].data;
  }
  op->state = xnn_run_state_ready;
  return xnn_status_success;
}

static enum xnn_status check_value(xnn_subgraph_t subgraph, uint32_t id) {
  enum xnn_status status =
      xnn_subgraph_check_input_node_id(xnn_node_type_attention, id, subgraph->num_values);
  if (status != xnn_status_success) return status;
  const struct xnn_value* value = &subgraph->values[id];
  status = xnn_subgraph_check_input_type_dense(xnn_node_type_attention, id, value);
  if (status != xnn_status_success) return status;
  return value->datatype == xnn_datatype_fp32 ? xnn_status_success : xnn_status_invalid_parameter;
}

static bool is_known(const struct petrel_attention* attention) {
  if (attention->num_inputs < FIRST_OPERAND || attention->num_inputs > XNN_MAX_INPUTS ||
      attention->num_steps > PETREL_ATTENTION_MAX_STEPS) {
    return false;
  }
  enum petrel_attention_stage stage = petrel_attention_queries;
  for (size_t i = 0; i < attention->num_steps; i++) {
    const struct petrel_attention_step* step = &attention->steps[i];
    const bool has_operand = step->constant != NULL ||
                             (step->input >= FIRST_OPERAND && step->input < attention->num_inputs);
    if (!has_operand || step->stage < stage) return false;
    stage = step->stage;
  }
  return true;
}

enum xnn_status petrel_define_attention(xnn_subgraph_t subgraph,
                                        const struct petrel_attention* attention,
                                        const uint32_t* inputs, uint32_t output) {
  enum xnn_status status = xnn_subgraph_check_xnnpack_initialized(xnn_node_type_attention);
  if (status != xnn_status_success) return status;
  if (!is_known(attention)) return xnn_status_invalid_parameter;
  for (uint32_t i = 0; i < attention->num_inputs; i++) {
    status = check_value(subgraph, inputs[i]);
    if (status != xnn_status_success) return status;
  }
  status = check_value(subgraph, output);
  if (status != xnn_status_success) return status;
  struct xnn_node* node = xnn_subgraph_new_node(subgraph);
  if (node == NULL) return xnn_status_out_of_memory;
  node->type = xnn_node_type_attention;
  node->params.attention = attention;
  node->num_inputs = attention->num_inputs;
  for (uint32_t i = 0; i < attention->num_inputs; i++) node->inputs[i] = inputs[i];
  node->num_outputs = 1;
  node->outputs[0] = output;
  node->create = create_attention;
  node->reshape = reshape_attention;
  node->setup = setup_attention;
  return xnn_status_success;
}

size_t petrel_attention_work(const struct xnn_operator_data* data, const struct xnn_value* values) {
  const struct petrel_attention* attention = context_of(data)->attention;
  const struct matrices queries = matrices_of(&values[data->inputs[0]].shape);
  const struct matrices keys = matrices_of(&values[data->inputs[1]].shape);
  const struct matrices of_values = matrices_of(&values[data->inputs[2]].shape);
  const size_t columns = attention->turns_keys ? keys.rows : keys.columns;
  const size_t width = attention->turns_values ? of_values.rows : of_values.columns;
  const size_t elements = (1 + attention->num_steps) * ELEMENT_WORK;
  return queries.count * queries.rows * columns * (queries.columns + width + elements);
}
