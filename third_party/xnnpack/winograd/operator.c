/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/winograd/operator.h"

#include <math.h>
#include <pthreadpool.h>

#include "petrel/f32-gemm-fma3.h"
#include "petrel/pack-f32.h"
#include "third_party/xnnpack/fourteen_rows/products.h"
#include "third_party/xnnpack/winograd/filters.h"
#include "third_party/xnnpack/winograd/winograd.h"
#include "xnnpack/allocator.h"
#include "xnnpack/cache.h"
#include "xnnpack/common.h"
#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/math.h"
#include "xnnpack/operator-utils.h"

_Static_assert(sizeof(struct winograd_layer) <= sizeof(((xnn_operator_t)NULL)->context),
               "a layer lies where the contexts of other operators do");
_Static_assert(sizeof(union xnn_f32_minmax_params) ==
                   sizeof(((struct winograd_layer*)NULL)->params),
               "bounds of products");

static struct winograd_layer* layer_of(xnn_operator_t op) {
  return (struct winograd_layer*)&op->context;
}

static bool is_possible(const struct winograd_convolution* c) {
  const bool has_stride =
      c->stride_height == c->stride_width && (c->stride_height == 1 || c->stride_height == 2);
  const bool has_dilation =
      c->dilation_height == c->dilation_width && (c->dilation_height == 1 || c->stride_height == 1);
  return c->is_float && c->kernel_height == 3 && c->kernel_width == 3 && has_stride &&
         has_dilation && c->gemm_config->log2_kr == 0 && c->gemm_config->log2_sr == 0 &&
         c->gemm_config->mr <= WINOGRAD_MAX_ROWS && c->gemm_config->nr <= WINOGRAD_MOST_COLUMNS;
}

static const struct winograd_transforms* choose_transforms(const struct winograd_convolution* c) {
  const bool is_apart = c->stride_height == 2;
#if XNN_ARCH_X86_64
  static const struct winograd_transforms* const avx512f[2][2] = {
      {&winograd_2_avx512f, &winograd_4_avx512f},
      {&winograd_2_apart_avx512f, &winograd_4_apart_avx512f}};
  static const struct winograd_transforms* const fma3[2][2] = {
      {&winograd_2_fma3, &winograd_4_fma3}, {&winograd_2_apart_fma3, &winograd_4_apart_fma3}};
  const struct xnn_hardware_config* hardware = xnn_init_hardware_config();
  if (hardware->use_x86_avx512f) return avx512f[is_apart][c->is_large];
  if (hardware->use_x86_fma3) return fma3[is_apart][c->is_large];
#endif
  static const struct winograd_transforms* const plain[2][2] = {
      {&winograd_2_plain, &winograd_4_plain}, {&winograd_2_apart_plain, &winograd_4_apart_plain}};
  return plain[is_apart][c->is_large];
}

struct packing {
  const struct winograd_convolution* of;
  float* packed;
  bool is_spoiled;
};

/* Of a group. */
static size_t count_panels(const struct winograd_convolution* c) {
  return divide_round_up(c->outputs, c->gemm_config->nr);
}

static size_t floats_of_group(const struct winograd_convolution* c) {
  const size_t columns = c->gemm_config->nr;
  return c->is_made_each_run ? winograd_kept_floats(c->depth, c->outputs, columns)
                             : winograd_packed_floats(choose_transforms(c)->filter_planes, c->depth,
                                                      c->outputs, columns);
}

static void pack_panel(struct packing* p, size_t group, size_t panel) {
  const struct winograd_convolution* c = p->of;
  const size_t columns = c->gemm_config->nr;
  const float* filter = c->filter + group * c->outputs * 9 * c->depth;
  const float* bias = c->bias == NULL ? NULL : c->bias + group * c->outputs;
  float* packed = p->packed + group * floats_of_group(c);
  const bool is_finite =
      c->is_made_each_run
          ? winograd_keep(c->depth, c->outputs, columns, panel, 1, filter, bias, packed)
          : winograd_pack(choose_transforms(c), c->depth, c->outputs, columns, panel, 1, filter,
                          bias, packed);
  if (!is_finite) {
    __atomic_store_n(&p->is_spoiled, true, __ATOMIC_RELAXED);
  }
}

static bool pack(const struct winograd_convolution* c, float* packed) {
  struct packing p = {c, packed, false};
  pthreadpool_parallelize_2d(xnn_get_packing_threads(), (pthreadpool_task_2d_t)pack_panel, &p,
                             c->groups, count_panels(c), 0);
  return !p.is_spoiled;
}

/* What the packed form depends on beside the filter. */
static uint32_t seed_of(const struct winograd_convolution* c) {
  uint32_t seed = XNN_FLAG_WINOGRAD;
  if (c->is_made_each_run) {
    seed |= XNN_FLAG_WINOGRAD_EACH_RUN;
  } else {
    seed |= (c->is_large ? XNN_FLAG_WINOGRAD_LARGE : 0) | (uint32_t)c->stride_height;
  }
  const size_t parts[] = {c->groups, c->depth, c->outputs, c->gemm_config->nr};
  for (size_t i = 0; i < 4; ++i) seed = (seed ^ (uint32_t)parts[i]) * UINT32_C(0x9E3779B1);
  return seed;
}

/* Null where the processor's kernel has no such form. */
static winograd_product_ahead find_product_ahead(xnn_gemm_ukernel_fn product) {
#if XNN_ARCH_X86_64
  if (product == (xnn_gemm_ukernel_fn)petrel_f32_gemm_minmax_ukernel_6x16__fma3) {
    return (winograd_product_ahead)petrel_f32_gemm_ahead_6x16__fma3;
  }
  if (product == (xnn_gemm_ukernel_fn)petrel_f32_gemm_minmax_ukernel_14x32__avx512f) {
    return (winograd_product_ahead)petrel_f32_gemm_ahead_14x32__avx512f;
  }
#endif
  return NULL;
}

/* A kernel for more rows than there are computes the last one several times. */
static void choose_products(const struct xnn_gemm_config* config, struct winograd_layer* layer) {
  layer->panel_columns = config->nr;
  layer->panel_rows = config->mr;
  winograd_product product = NULL;
  for (size_t rows = config->mr; rows > 0; --rows) {
    const xnn_gemm_ukernel_fn function = config->minmax.gemm[rows - 1].function[XNN_UARCH_DEFAULT];
    if (function != NULL) product = (winograd_product)function;
    layer->products[rows - 1] = product;
  }
  layer->product_ahead =
      find_product_ahead(config->minmax.gemm[config->mr - 1].function[XNN_UARCH_DEFAULT]);
}

static enum xnn_status find_or_pack(xnn_operator_t op, const struct winograd_convolution* of) {
  const size_t size =
      round_up_po2(of->groups * floats_of_group(of) * sizeof(float), XNN_ALLOCATION_ALIGNMENT);
  struct xnn_weights_cache_look_up_key key;
  key.seed = seed_of(of);
  key.kernel = of->filter;
  key.bias = of->bias;
  if (use_weights_cache(op) &&
      xnn_weights_cache_look_up(op->weights_cache, &key) != XNN_CACHE_NOT_FOUND) {
    op->packed_weights.offset =
        xnn_look_up_or_insert_weights_cache(op->weights_cache, &key, NULL, size);
    if (op->packed_weights.offset != XNN_CACHE_NOT_FOUND) return xnn_status_success;
  }
  float* packed = xnn_get_pointer_to_write_weights(op, size, 0);
  if (packed == NULL) return xnn_status_out_of_memory;
  if (!pack(of, packed)) {
    if (!use_weights_cache(op)) {
      xnn_release_simd_memory(packed);
      op->packed_weights.pointer = NULL;
    }
    return xnn_status_unsupported_parameter;
  }
  if (use_weights_cache(op)) {
    op->packed_weights.offset =
        xnn_look_up_or_insert_weights_cache(op->weights_cache, &key, packed, size);
  }
  return xnn_status_success;
}

enum xnn_status winograd_create(xnn_operator_t op, const struct winograd_convolution* of) {
  if (!is_possible(of)) return xnn_status_unsupported_parameter;
  const enum xnn_status status = find_or_pack(op, of);
  if (status != xnn_status_success) return status;
  struct winograd_layer* layer = layer_of(op);
  layer->groups = of->groups;
  layer->depth = of->depth;
  layer->outputs = of->outputs;
  layer->dilation = of->dilation_height;
  layer->params[0] = -INFINITY;
  layer->params[1] = INFINITY;
  layer->low = of->bounds->scalar.min;
  layer->high = of->bounds->scalar.max;
  layer->transforms = choose_transforms(of);
  choose_products(of->gemm_config, layer);
  return xnn_status_success;
}

static bool is_made_each_run(xnn_operator_t op) {
  return (op->flags & XNN_FLAG_WINOGRAD_EACH_RUN) != 0;
}

/* Before what each thread has. */
static size_t shared_bytes(const struct winograd_layer* layer) {
  return round_up_po2(winograd_shared_floats(layer) * sizeof(float), XNN_ALLOCATION_ALIGNMENT);
}

enum xnn_status winograd_reshape(xnn_operator_t op, size_t* workspace_size,
                                 size_t* workspace_alignment, size_t threads) {
  struct winograd_layer* layer = layer_of(op);
  layer->input_height = op->input_height;
  layer->input_width = op->input_width;
  layer->output_height = op->output_height;
  layer->output_width = op->output_width;
  layer->padding_top = op->padding_top;
  layer->padding_left = op->padding_left;
  layer->input_stride = op->input_pixel_stride;
  layer->output_stride = op->output_pixel_stride;
  layer->kept = is_made_each_run(op) ? packed_weights(op) : NULL;
  layer->packed = is_made_each_run(op) ? NULL : packed_weights(op);
  winograd_plan(layer, op->batch_size, threads);
  if (layer->tiles == 0) {
    op->state = xnn_run_state_skip;
    return xnn_status_success;
  }
  *workspace_size = shared_bytes(layer) + threads * winograd_thread_floats(layer) * sizeof(float);
  *workspace_alignment = XNN_ALLOCATION_ALIGNMENT;
  struct compute_parameters* compute = op->compute;
  if (winograd_first_tasks(layer) > 0) {
    compute->type = xnn_parallelization_type_1d;
    compute->context_offset = 0;
    compute->task_1d = (pthreadpool_task_1d_t)winograd_first;
    compute->range[0] = winograd_first_tasks(layer);
    ++compute;
  }
  compute->type = xnn_parallelization_type_1d_with_thread;
  compute->context_offset = 0;
  compute->task_1d_with_thread = (pthreadpool_task_1d_with_thread_t)winograd_run;
  compute->range[0] = winograd_tasks(layer);
  /* Other sizes may have had one stage more. */
  if (compute == op->compute) compute[1].type = xnn_parallelization_type_invalid;
  op->state = xnn_run_state_needs_setup;
  return xnn_status_success;
}

enum xnn_status winograd_setup(xnn_operator_t op, void* workspace) {
  struct winograd_layer* layer = layer_of(op);
  layer->input = op->input;
  layer->zeros = op->zero_buffer;
  layer->output = op->output;
  layer->shared = workspace;
  layer->scratch = (float*)((char*)workspace + shared_bytes(layer));
  op->state = xnn_run_state_ready;
  return xnn_status_success;
}
