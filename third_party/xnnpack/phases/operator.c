/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/phases/operator.h"

#include <pthreadpool.h>
#include <stdint.h>

#include "petrel/f32-gemm-fma3.h"
#include "third_party/xnnpack/fourteen_rows/products.h"
#include "third_party/xnnpack/phases/phases.h"
#include "xnnpack/allocator.h"
#include "xnnpack/common.h"
#include "xnnpack/log.h"
#include "xnnpack/math.h"
#include "xnnpack/operator-type.h"
#include "xnnpack/operator-utils.h"

_Static_assert(sizeof(struct phases_layer) <= sizeof(((xnn_operator_t)NULL)->context),
               "a layer lies where the contexts of other operators do");

static struct phases_layer* layer_of(xnn_operator_t op) {
  return (struct phases_layer*)&op->context;
}

bool phases_are_possible(xnn_operator_t op) {
  return op->type == xnn_operator_type_deconvolution_nhwc_f32 &&
         op->ukernel.igemm.mr <= PHASES_MOST_TILE_ROWS;
}

/* Phases know where their weights are, which a cache of weights may have moved. */
static void find_weights(xnn_operator_t op, size_t phases) {
  struct subconvolution_params* phase = op->subconvolution_buffer;
  const uintptr_t moved = (uintptr_t)packed_weights(op) - (uintptr_t)phase->weights;
  for (size_t i = 0; i < phases; i++) {
    phase[i].weights = (void*)((uintptr_t)phase[i].weights + moved);
  }
}

#if XNN_ARCH_X86 || XNN_ARCH_X86_64

/* Tiles of 14 rows bring their own weights where no later ones are, and take so long that the first
 * of some counts little. */
static void choose_ahead(struct phases_layer* l) {
  if (l->gemm == (xnn_gemm_ukernel_fn)petrel_f32_gemm_minmax_ukernel_14x32__avx512f ||
      l->igemm == (xnn_igemm_ukernel_fn)petrel_f32_igemm_minmax_ukernel_14x32__avx512f) {
    l->gemm_ahead = petrel_f32_gemm_ahead_14x32__avx512f;
    l->igemm_ahead = petrel_f32_igemm_ahead_14x32__avx512f;
    l->most_tiles_ahead = 4;
  } else if (l->gemm == (xnn_gemm_ukernel_fn)petrel_f32_gemm_minmax_ukernel_6x16__fma3 ||
             l->igemm == (xnn_igemm_ukernel_fn)petrel_f32_igemm_minmax_ukernel_6x16__fma3) {
    l->gemm_ahead = petrel_f32_gemm_ahead_6x16__fma3;
    l->igemm_ahead = petrel_f32_igemm_ahead_6x16__fma3;
    l->most_tiles_ahead = 28;
  }
}

#else

static void choose_ahead(struct phases_layer* l) { (void)l; }

#endif

/* The kernel of the tiles that waste the fewest rows of the largest phase. */
static void choose_kernel(struct phases_layer* l, struct xnn_ukernel_igemm* kernel) {
  const size_t pixels = divide_round_up(l->output_height, l->stride_height) *
                        divide_round_up(l->output_width, l->stride_width);
  const uint32_t mr =
      l->is_product
          ? xnn_get_heuristic_mr_gemm(pixels, kernel->mr, kernel->nr, kernel->gemm_cases)
          : xnn_get_heuristic_mr_igemm(pixels, kernel->mr, kernel->nr, kernel->igemm_cases);
  l->tile_rows = mr;
  l->tile_columns = kernel->nr;
  if (l->is_product) {
    l->gemm = kernel->gemm_cases[mr - 1].function[XNN_UARCH_DEFAULT];
  } else {
    l->igemm = kernel->igemm_cases[mr - 1].function[XNN_UARCH_DEFAULT];
  }
  choose_ahead(l);
}

static void fill_layer(xnn_operator_t op) {
  struct phases_layer* l = layer_of(op);
  const struct xnn_ukernel_igemm* kernel = &op->ukernel.igemm;
  const size_t depth = op->group_input_channels * sizeof(float);
  const size_t packed_depth =
      round_up_po2(op->group_input_channels, kernel->kr * kernel->sr) * sizeof(float);
  const size_t phases = (size_t)op->stride_height * op->stride_width;
  const size_t column =
      phases * sizeof(float) + packed_depth * op->kernel_height * op->kernel_width;
  *l = (struct phases_layer){
      .phases = op->subconvolution_buffer,
      .images = op->batch_size,
      .groups = op->groups,
      .outputs = op->group_output_channels,
      .depth = depth,
      .input_height = op->input_height,
      .input_width = op->input_width,
      .output_height = op->output_height,
      .output_width = op->output_width,
      .kernel_height = op->kernel_height,
      .kernel_width = op->kernel_width,
      .stride_height = op->stride_height,
      .stride_width = op->stride_width,
      .padding_top = op->padding_top,
      .padding_left = op->padding_left,
      .input_pixel = op->input_pixel_stride * sizeof(float),
      .output_pixel = op->output_pixel_stride * sizeof(float),
      .weights_group = column * round_up(op->group_output_channels, kernel->nr),
      .is_product = op->ukernel.subtype == xnn_microkernel_type_gemm,
      .params = op->params.f32_minmax,
      .zero = op->zero_buffer,
  };
  choose_kernel(l, &op->ukernel.igemm);
}

static bool has_other_sizes(xnn_operator_t op, const struct phases_layer* l) {
  return op->input_height != op->last_input_height || op->input_width != op->last_input_width ||
         op->output_height != op->last_output_height || op->output_width != op->last_output_width ||
         l->tile_rows != op->last_mr;
}

static enum xnn_status make_pointers(xnn_operator_t op, struct phases_layer* l) {
  /* Until all are there again, they are made for no sizes. */
  op->last_output_height = 0;
  const size_t bytes = phases_count_pointers(l) * sizeof(void*);
  const void** pointers = xnn_reallocate_memory(op->indirection_buffer, bytes);
  if (pointers == NULL) {
    xnn_log_error("failed to allocate %zu bytes for %s operator indirection buffer", bytes,
                  xnn_operator_type_to_string(op->type));
    return xnn_status_out_of_memory;
  }
  op->indirection_buffer = pointers;
  /* No address of the input is that of the zeros, which offsets are not added to. */
  op->last_input = (const char*)op->zero_buffer + XNN_ALLOCATION_ALIGNMENT;
  phases_point(l, pointers, op->last_input);
  op->last_input_height = op->input_height;
  op->last_input_width = op->input_width;
  op->last_output_height = op->output_height;
  op->last_output_width = op->output_width;
  op->last_mr = (uint32_t)l->tile_rows;
  return xnn_status_success;
}

enum xnn_status phases_reshape(xnn_operator_t op, size_t threads) {
  struct phases_layer* l = layer_of(op);
  find_weights(op, (size_t)op->stride_height * op->stride_width);
  fill_layer(op);
  phases_lay_out(l);
  phases_plan(l, threads);
  if (!l->is_product && has_other_sizes(op, l)) {
    const enum xnn_status status = make_pointers(op, l);
    if (status != xnn_status_success) return status;
  }
  op->last_mr = (uint32_t)l->tile_rows;
  op->compute[0].type = xnn_parallelization_type_1d;
  op->compute[0].context_offset = 0;
  op->compute[0].task_1d = (pthreadpool_task_1d_t)phases_run;
  op->compute[0].range[0] = phases_tasks(l);
  op->state = xnn_run_state_needs_setup;
  return xnn_status_success;
}

enum xnn_status phases_setup(xnn_operator_t op, const void* input, void* output) {
  struct phases_layer* l = layer_of(op);
  l->input = input;
  l->output = output;
  l->input_offset = (uintptr_t)input - (uintptr_t)op->last_input;
  op->state = xnn_run_state_ready;
  return xnn_status_success;
}
