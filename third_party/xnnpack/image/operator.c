/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/image/operator.h"

#include <pthreadpool.h>

#include "third_party/xnnpack/image/image.h"
#include "xnnpack/common.h"
#include "xnnpack/config.h"
#include "xnnpack/operator-utils.h"

_Static_assert(sizeof(struct image_layer) <= sizeof(((xnn_operator_t)NULL)->context),
               "a layer lies where the contexts of other operators do");

static struct image_layer* layer_of(xnn_operator_t op) { return (struct image_layer*)&op->context; }

/* The kernel that xnn_create_convolution2d_nhwc_f32() takes. */
static const struct xnn_gemm_config* find_float_config(size_t outputs) {
  const struct xnn_gemm_config* config = xnn_init_f32_gemm_config();
  if (config == NULL || config->nr <= outputs) return config;
  const struct xnn_gemm_config* narrow = xnn_init_f32_gemm_nr2_config();
  const bool is_there =
      narrow != NULL && narrow->minmax.igemm[config->mr].function[XNN_UARCH_DEFAULT] != NULL;
  return is_there ? narrow : config;
}

static bool has_kernel(bool is_float, const struct xnn_gemm_config* config) {
  const bool is_one_by_one = config->log2_kr == 0 && config->log2_sr == 0;
  return (is_one_by_one || !is_float) && config->mr <= IMAGE_MOST_TILE_ROWS;
}

bool petrel_takes_images(size_t outputs, bool is_float) {
  const struct xnn_gemm_config* config =
      is_float ? find_float_config(outputs) : xnn_init_qs8_qc8w_gemm_config();
  return config != NULL && has_kernel(is_float, config);
}

static bool is_float(enum xnn_operator_type type) {
  return type == xnn_operator_type_convolution_nhwc_f32;
}

static bool is_known(enum xnn_operator_type type) {
  return is_float(type) || type == xnn_operator_type_convolution_nhwc_qs8 ||
         type == xnn_operator_type_convolution_nhwc_qc8;
}

bool image_is_possible(const struct image_convolution* c) {
  return is_known(c->type) && c->kernel_type == xnn_microkernel_type_igemm && c->groups == 1 &&
         c->dilation_height == 1 && c->dilation_width == 1 &&
         c->channels <= PETREL_MOST_IMAGE_CHANNELS && has_kernel(is_float(c->type), c->gemm_config);
}

bool image_joins_taps(uint32_t flags, enum xnn_operator_type type) {
  return (flags & XNN_FLAG_IMAGE) != 0 && !is_float(type);
}

enum xnn_status image_reshape(xnn_operator_t op, size_t* workspace_size,
                              size_t* workspace_alignment, size_t threads) {
  struct image_layer* layer = layer_of(op);
  const struct xnn_ukernel_igemm* kernel = &op->ukernel.igemm;
  const size_t element = is_float(op->type) ? sizeof(float) : 1;
  *layer = (struct image_layer){
      .channels = op->group_input_channels,
      .outputs = op->group_output_channels,
      .kernel_height = op->kernel_height,
      .kernel_width = op->kernel_width,
      .stride_height = op->stride_height,
      .stride_width = op->stride_width,
      .input_height = op->input_height,
      .input_width = op->input_width,
      .output_height = op->output_height,
      .output_width = op->output_width,
      .padding_top = op->padding_top,
      .padding_left = op->padding_left,
      .is_planar = (op->flags & XNN_FLAG_PLANES) != 0,
      .input_stride = op->input_pixel_stride,
      .output_stride = op->output_pixel_stride,
      .element = element,
      .pixel = op->group_input_channels * element,
      .zero = op->zero_size == 0 ? 0 : *(const unsigned char*)op->zero_buffer,
      .product = (image_product)kernel->igemm_cases[kernel->mr - 1].function[XNN_UARCH_DEFAULT],
      .tile_rows = kernel->mr,
      .panel_columns = kernel->nr,
      .params = &op->params,
      .packed = packed_weights(op),
  };
  image_plan(layer, op->batch_size, threads);
  *workspace_size = threads * layer->scratch_bytes;
  *workspace_alignment = XNN_ALLOCATION_ALIGNMENT;
  op->compute[0].type = xnn_parallelization_type_1d_with_thread;
  op->compute[0].context_offset = 0;
  op->compute[0].task_1d_with_thread = (pthreadpool_task_1d_with_thread_t)image_run;
  op->compute[0].range[0] = image_tasks(layer, op->batch_size);
  op->state = xnn_run_state_needs_setup;
  return xnn_status_success;
}

enum xnn_status image_setup(xnn_operator_t op, void* workspace) {
  struct image_layer* layer = layer_of(op);
  layer->input = op->input;
  layer->output = op->output;
  layer->scratch = workspace;
  op->state = xnn_run_state_ready;
  return xnn_status_success;
}
