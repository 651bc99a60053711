/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/attention/row_step.h"

#include "xnnpack.h"
#include "xnnpack/config.h"

static const struct xnn_binary_elementwise_config* find_config(
    enum petrel_attention_function function) {
  switch (function) {
    case petrel_attention_add:
      return xnn_init_f32_vadd_config();
    case petrel_attention_subtract:
      return xnn_init_f32_vsub_config();
    case petrel_attention_multiply:
      return xnn_init_f32_vmul_config();
    default:
      return xnn_init_f32_vdiv_config();
  }
}

bool row_step_init(const struct petrel_attention_step* described, struct row_step* step) {
  const struct xnn_binary_elementwise_config* config = find_config(described->function);
  if (config == NULL) return false;
  step->operand_is_first = described->operand_is_first;
  step->pair = config->op_ukernel;
  step->single = described->operand_is_first ? config->ropc_ukernel : config->opc_ukernel;
  if (config->init != NULL) config->init(&step->params, NULL, NULL, NULL);
  step->clamp = NULL;
  if (!described->has_range) return true;
  const struct xnn_unary_elementwise_config* clamp = xnn_init_f32_clamp_config();
  if (clamp == NULL || clamp->ukernel == NULL) return false;
  step->clamp = clamp->ukernel;
  const union xnn_unary_params range = {.clamp = {described->min, described->max}};
  if (clamp->init != NULL) clamp->init(&step->clamp_params, &range, NULL, NULL);
  return true;
}

/* Of dims that are left out in front there is one. */
static size_t size_at(const struct petrel_attention_dims* operand,
                      const struct petrel_attention_dims* dims, size_t i) {
  const size_t left_out = dims->rank - operand->rank;
  return i < left_out ? 1 : operand->sizes[i - left_out];
}

bool row_step_reshape(struct row_step* step, const struct petrel_attention_dims* operand,
                      const struct petrel_attention_dims* dims) {
  if (operand->rank > dims->rank || dims->rank < 2) return false;
  size_t strides[PETREL_ATTENTION_MAX_DIMS];
  size_t stride = 1;
  for (size_t i = dims->rank; i-- > 0;) {
    const size_t size = size_at(operand, dims, i);
    if (size != 1 && size != dims->sizes[i]) return false;
    strides[i] = size == 1 ? 0 : stride;
    stride *= size;
  }
  step->num_batch_dims = dims->rank - 2;
  for (size_t i = 0; i < step->num_batch_dims; i++) {
    step->batch_dims[i] = dims->sizes[i];
    step->batch_strides[i] = strides[i];
  }
  step->row_stride = strides[dims->rank - 2];
  step->has_one_column = strides[dims->rank - 1] == 0;
  return true;
}

static const float* operand_of(const struct row_step* step, size_t batch) {
  const float* operand = step->operand;
  for (size_t i = step->num_batch_dims; i-- > 0;) {
    operand += batch % step->batch_dims[i] * step->batch_strides[i];
    batch /= step->batch_dims[i];
  }
  return operand;
}

void row_step_run(const struct row_step* step, size_t batch, size_t row, size_t rows,
                  size_t columns, const float* from, size_t from_row, float* to, size_t to_row) {
  const float* operand = operand_of(step, batch) + row * step->row_stride;
  const bool follow = from_row == columns && to_row == columns &&
                      step->row_stride == (step->has_one_column ? 0 : columns);
  if (follow) {
    columns *= rows;
    rows = 1;
  }
  const size_t bytes = columns * sizeof(float);
  for (size_t i = 0; i < rows; i++) {
    if (step->has_one_column) {
      step->single(bytes, from, operand, to, &step->params);
    } else if (step->operand_is_first) {
      step->pair(bytes, operand, from, to, &step->params);
    } else {
      step->pair(bytes, from, operand, to, &step->params);
    }
    if (step->clamp != NULL) step->clamp(bytes, to, to, &step->clamp_params);
    from += from_row;
    to += to_row;
    operand += step->row_stride;
  }
}
