/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/unpacked/operator.h"

#include <pthreadpool.h>

#include "third_party/xnnpack/unpacked/unpacked.h"
#include "xnnpack/allocator.h"
#include "xnnpack/common.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/log.h"
#include "xnnpack/math.h"

_Static_assert(sizeof(struct unpacked_layer) <= sizeof(((xnn_operator_t)NULL)->context),
               "a layer lies where the contexts of other operators do");

/* Parts of a row for each thread: one that is slower computes fewer. */
#define PARTS 5

static unpacked_run* find_run(void) {
#if XNN_ARCH_X86_64
  const struct xnn_hardware_config* hardware = xnn_init_hardware_config();
  if (hardware == NULL) return NULL;
  if (hardware->use_x86_fma3) return unpacked_run_fma3;
#endif
  return NULL;
}

bool petrel_takes_unpacked(void) { return find_run() != NULL; }

static struct unpacked_layer* layer_of(xnn_operator_t op) {
  return (struct unpacked_layer*)&op->context;
}

enum xnn_status unpacked_create(size_t inputs, size_t outputs, size_t input_stride,
                                size_t output_stride, const float* weights, const float* bias,
                                float low, float high, uint32_t flags, xnn_operator_t* op) {
  if (find_run() == NULL || (flags & XNN_FLAG_TRANSPOSE_WEIGHTS) != 0) {
    xnn_log_error("failed to create an operator with weights as they are stored");
    return xnn_status_unsupported_hardware;
  }
  if (inputs == 0 || outputs == 0 || input_stride < inputs || output_stride < outputs) {
    return xnn_status_invalid_parameter;
  }
  xnn_operator_t made = xnn_allocate_zero_simd_memory(sizeof(struct xnn_operator));
  if (made == NULL) return xnn_status_out_of_memory;
  *layer_of(made) = (struct unpacked_layer){
      .inputs = inputs,
      .weights = weights,
      .bias = bias,
      .low = low,
      .high = high,
      .input_stride = input_stride,
      .output_stride = output_stride,
  };
  made->group_input_channels = inputs;
  made->group_output_channels = outputs;
  made->input_pixel_stride = input_stride;
  made->output_pixel_stride = output_stride;
  made->type = xnn_operator_type_fully_connected_nc_f32;
  made->flags = flags;
  made->state = xnn_run_state_invalid;
  *op = made;
  return xnn_status_success;
}

enum xnn_status unpacked_reshape(xnn_operator_t op, size_t rows, size_t threads) {
  op->state = rows == 0 ? xnn_run_state_skip : xnn_run_state_needs_setup;
  if (rows == 0) return xnn_status_success;
  const size_t outputs = op->group_output_channels;
  const size_t parts = threads > 1 ? PARTS * threads : 1;
  op->compute[0].type = xnn_parallelization_type_2d_tile_1d;
  op->compute[0].context_offset = 0;
  op->compute[0].task_2d_tile_1d = (pthreadpool_task_2d_tile_1d_t)find_run();
  op->compute[0].range[0] = rows;
  op->compute[0].range[1] = outputs;
  op->compute[0].tile[0] = round_up(divide_round_up(outputs, parts), UNPACKED_BLOCK);
  return xnn_status_success;
}

enum xnn_status unpacked_setup(xnn_operator_t op, const float* input, float* output) {
  if (op->state == xnn_run_state_skip) return xnn_status_success;
  if (op->state == xnn_run_state_invalid) return xnn_status_invalid_state;
  layer_of(op)->input = input;
  layer_of(op)->output = output;
  op->state = xnn_run_state_ready;
  return xnn_status_success;
}
