/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/norm/norm.h"

#include <math.h>
#include <stdbool.h>

#include "third_party/xnnpack/norm/kernels.h"
#include "third_party/xnnpack/norm/scratch.h"
#include "xnnpack/allocator.h"
#include "xnnpack/common.h"
#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/log.h"
#include "xnnpack/node-type.h"
#include "xnnpack/operator-type.h"
#include "xnnpack/operator.h"
#include "xnnpack/subgraph-validation.h"
#include "xnnpack/subgraph.h"

/* Elements of rows that a thread takes at once. */
#define ROW_TASK_ELEMENTS 4096

_Static_assert(2 * (sizeof(double) + sizeof(float)) == PETREL_NORM_GROUP_BYTES,
               "what a part has of each group");

struct context {
  const struct norm_kernels* kernels;
  size_t axis, groups, channels, batch, pixels;
  bool has_weight, has_bias;
  struct petrel_norm_parts cut;
  float epsilon;
  const float *x, *weight, *bias;
  float* y;
  /* By batch and part, of each group. */
  double *sums, *squares;
  float *centers, *factors;
};

static struct context* context_of(const struct xnn_operator_data* data) {
  return (struct context*)&data->operator_objects[0]->context;
}

/* A vector must not be longer than a row or than the channels of a pixel. */
static const struct norm_kernels* choose_kernels(size_t channels) {
#if XNN_ARCH_X86_64
  const struct xnn_hardware_config* hardware = xnn_init_hardware_config();
  if (hardware->use_x86_avx512f && channels >= norm_avx512f.lanes) return &norm_avx512f;
  if (hardware->use_x86_fma3 && channels >= norm_fma3.lanes) return &norm_fma3;
#endif
  (void)channels;
  return &norm_plain;
}

static void run_rows(void* of, size_t first, size_t count) {
  const struct context* c = of;
  const size_t at = first * c->channels;
  c->kernels->rows(c->x + at, c->y + at, count, c->channels, c->weight, c->bias, c->epsilon);
}

/* The pixels of a task, and where they begin. */
static struct norm_pixels pixels_of(const struct context* c, size_t task, size_t* at) {
  const size_t batch = task / c->cut.parts, first = task % c->cut.parts * c->cut.pixels;
  const size_t left = c->pixels - first;
  *at = (batch * c->pixels + first) * c->channels;
  return (struct norm_pixels){left < c->cut.pixels ? left : c->cut.pixels, c->channels,
                              c->channels / c->groups};
}

/* Of all parts of the batch, divided by how many there are. */
static double mean_of(const struct context* c, const double* sums, size_t task, size_t group) {
  const size_t first = task / c->cut.parts * c->cut.parts;
  double sum = 0;
  for (size_t i = 0; i < c->cut.parts; i++) sum += sums[(first + i) * c->groups + group];
  return sum / ((double)c->pixels * (double)(c->channels / c->groups));
}

static void add_pixels(void* of, size_t task) {
  const struct context* c = of;
  size_t at = 0;
  const struct norm_pixels pixels = pixels_of(c, task, &at);
  c->kernels->add(&pixels, c->x + at, NULL, c->sums + task * c->groups);
}

static void add_squares(void* of, size_t task) {
  const struct context* c = of;
  size_t at = 0;
  const struct norm_pixels pixels = pixels_of(c, task, &at);
  float* centers = c->centers + task * c->groups;
  for (size_t g = 0; g < c->groups; g++) centers[g] = (float)mean_of(c, c->sums, task, g);
  c->kernels->add(&pixels, c->x + at, centers, c->squares + task * c->groups);
}

static void scale_pixels(void* of, size_t task) {
  const struct context* c = of;
  size_t at = 0;
  const struct norm_pixels pixels = pixels_of(c, task, &at);
  float* factors = c->factors + task * c->groups;
  for (size_t g = 0; g < c->groups; g++) {
    factors[g] = (float)(1 / sqrt(mean_of(c, c->squares, task, g) + (double)c->epsilon));
  }
  c->kernels->scale(&pixels, c->x + at, c->y + at, c->centers + task * c->groups, factors,
                    c->weight, c->bias);
}

static void run_batch(void* of, size_t task) {
  add_pixels(of, task);
  add_squares(of, task);
  scale_pixels(of, task);
}

static enum xnn_status create_norm(const struct xnn_node* node, const struct xnn_value* values,
                                   size_t num_values, struct xnn_operator_data* data,
                                   struct xnn_code_cache* code_cache,
                                   xnn_weights_cache_t weights_cache) {
  (void)values, (void)num_values, (void)code_cache, (void)weights_cache;
  xnn_operator_t op =
      xnn_allocate_short_operator(offsetof(struct xnn_operator, context) + sizeof(struct context));
  if (op == NULL) return xnn_status_out_of_memory;
  op->type = xnn_operator_type_norm;
  op->state = xnn_run_state_invalid;
  data->operator_objects[0] = op;
  struct context* c = context_of(data);
  c->groups = node->params.norm.groups;
  c->channels = node->params.norm.channels;
  c->epsilon = node->params.norm.epsilon;
  c->kernels = choose_kernels(c->channels);
  c->axis = node->params.norm.axis;
  c->has_weight = node->params.norm.has_weight;
  c->has_bias = node->params.norm.has_bias;
  return xnn_status_success;
}

static void set_tasks(xnn_operator_t op, struct context* c) {
  for (size_t i = 0; i < XNN_MAX_COMPUTE_INVOCATIONS; i++) {
    op->compute[i].type = xnn_parallelization_type_invalid;
  }
  if (c->pixels == 1 && c->groups == 1) {
    const size_t rows = (ROW_TASK_ELEMENTS - 1) / c->channels + 1;
    op->compute[0].type = xnn_parallelization_type_1d_tile_1d;
    op->compute[0].task_1d_tile_1d = run_rows;
    op->compute[0].range[0] = c->batch;
    op->compute[0].tile[0] = rows;
    return;
  }
  const pthreadpool_task_1d_t alone[] = {run_batch},
                              steps[] = {add_pixels, add_squares, scale_pixels};
  const bool is_cut = c->cut.parts > 1;
  for (size_t i = 0; i < (is_cut ? 3 : 1); i++) {
    op->compute[i].type = xnn_parallelization_type_1d;
    op->compute[i].task_1d = is_cut ? steps[i] : alone[i];
    op->compute[i].range[0] = c->batch * c->cut.parts;
  }
}

static enum xnn_status reshape_norm(struct xnn_operator_data* data, struct xnn_value* values,
                                    size_t num_values, pthreadpool_t threads) {
  (void)num_values, (void)threads;
  xnn_operator_t op = data->operator_objects[0];
  struct context* c = context_of(data);
  const struct xnn_shape* shape = &values[data->inputs[0]].shape;
  struct xnn_value* output = &values[data->outputs[0]];
  if (shape->num_dims <= c->axis || shape->dim[shape->num_dims - 1] != c->channels) {
    xnn_log_error("failed to reshape norm #%u: it was made for %zu channels", data->id,
                  c->channels);
    return xnn_status_unsupported_parameter;
  }
  c->batch = c->pixels = 1;
  for (size_t i = 0; i < c->axis; i++) c->batch *= shape->dim[i];
  for (size_t i = c->axis; i + 1 < shape->num_dims; i++) c->pixels *= shape->dim[i];
  if (c->batch == 0 || c->pixels == 0) return xnn_status_unsupported_parameter;
  c->cut = petrel_cut_pixels(c->batch, c->pixels, c->channels);
  set_tasks(op, c);
  const bool has_rows = op->compute[0].type == xnn_parallelization_type_1d_tile_1d;
  const size_t bytes = has_rows ? 0 : c->batch * c->cut.parts * c->groups * PETREL_NORM_GROUP_BYTES;
  bool has_grown = data->workspace_size < bytes;
  data->workspace_size = bytes;
  data->workspace_alignment = XNN_ALLOCATION_ALIGNMENT;
  output->shape = *shape;
  has_grown |= output->size < xnn_tensor_get_size(output);
  output->size = xnn_tensor_get_size(output);
  op->state = xnn_run_state_needs_setup;
  return has_grown ? xnn_status_reallocation_required : xnn_status_success;
}

static enum xnn_status setup_norm(const struct xnn_operator_data* data,
                                  const struct xnn_value* values, size_t num_values,
                                  pthreadpool_t threads) {
  (void)num_values, (void)threads;
  xnn_operator_t op = data->operator_objects[0];
  if (op->state == xnn_run_state_invalid) return xnn_status_invalid_state;
  struct context* c = context_of(data);
  c->x = values[data->inputs[0]].data;
  c->y = values[data->outputs[0]].data;
  c->weight = c->has_weight ? values[data->inputs[1]].data : NULL;
  c->bias = c->has_bias ? values[data->inputs[c->has_weight ? 2 : 1]].data : NULL;
  const size_t count = c->batch * c->cut.parts * c->groups;
  c->sums = data->workspace;
  c->squares = c->sums + count;
  c->centers = (float*)(c->squares + count);
  c->factors = c->centers + count;
  op->state = xnn_run_state_ready;
  return xnn_status_success;
}

static enum xnn_status check_floats(xnn_subgraph_t subgraph, uint32_t id) {
  enum xnn_status status =
      xnn_subgraph_check_input_node_id(xnn_node_type_norm, id, subgraph->num_values);
  if (status != xnn_status_success) return status;
  const struct xnn_value* value = &subgraph->values[id];
  status = xnn_subgraph_check_input_type_dense(xnn_node_type_norm, id, value);
  if (status != xnn_status_success) return status;
  return value->datatype == xnn_datatype_fp32 ? xnn_status_success : xnn_status_invalid_parameter;
}

static enum xnn_status check_operand(xnn_subgraph_t subgraph, uint32_t id, size_t channels) {
  const enum xnn_status status = check_floats(subgraph, id);
  if (status != xnn_status_success) return status;
  const struct xnn_value* value = &subgraph->values[id];
  const bool fits = value->allocation_type == xnn_allocation_type_static &&
                    xnn_shape_multiply_all_dims(&value->shape) == channels;
  return fits ? xnn_status_success : xnn_status_invalid_parameter;
}

enum xnn_status petrel_define_norm(xnn_subgraph_t subgraph, const struct petrel_norm* norm,
                                   uint32_t x, uint32_t weight, uint32_t bias, uint32_t y) {
  enum xnn_status status = xnn_subgraph_check_xnnpack_initialized(xnn_node_type_norm);
  if (status != xnn_status_success) return status;
  if (norm->axis >= XNN_MAX_TENSOR_DIMS || norm->groups == 0 || norm->channels == 0 ||
      norm->channels % norm->groups != 0) {
    return xnn_status_invalid_parameter;
  }
  status = check_floats(subgraph, x);
  if (status == xnn_status_success) status = check_floats(subgraph, y);
  uint32_t inputs[3] = {x}, num_inputs = 1;
  const uint32_t given[2] = {weight, bias};
  for (uint32_t i = 0; i < 2 && status == xnn_status_success; i++) {
    if (given[i] == XNN_INVALID_VALUE_ID) continue;
    status = check_operand(subgraph, given[i], norm->channels);
    inputs[num_inputs++] = given[i];
  }
  if (status != xnn_status_success) return status;
  struct xnn_node* node = xnn_subgraph_new_node(subgraph);
  if (node == NULL) return xnn_status_out_of_memory;
  node->type = xnn_node_type_norm;
  node->params.norm.axis = norm->axis;
  node->params.norm.groups = norm->groups;
  node->params.norm.channels = norm->channels;
  node->params.norm.epsilon = norm->epsilon;
  node->params.norm.has_weight = weight != XNN_INVALID_VALUE_ID;
  node->params.norm.has_bias = bias != XNN_INVALID_VALUE_ID;
  node->num_inputs = num_inputs;
  node->num_outputs = 1;
  for (uint32_t i = 0; i < num_inputs; i++) node->inputs[i] = inputs[i];
  node->outputs[0] = y;
  node->create = create_norm;
  node->reshape = reshape_norm;
  node->setup = setup_norm;
  return xnn_status_success;
}
