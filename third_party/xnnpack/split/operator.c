/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/split/operator.h"

#include <pthreadpool.h>

#include "petrel/pack-f32.h"
#include "third_party/xnnpack/split/flag.h"
#include "third_party/xnnpack/split/split.h"
#include "xnnpack/common.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/math.h"
#include "xnnpack/microparams-init.h"

#if XNN_ARCH_X86_64

#include <cpuinfo.h>

/* What both kinds of kernels are told of B, C and the bounds. */
static struct split_call call_of(size_t rows, size_t columns, size_t k_bytes, const void* w,
                                 void* c, size_t c_stride, size_t panel_stride,
                                 const union xnn_f32_minmax_params* bounds) {
  struct split_call call = {0};
  call.rows = rows;
  call.columns = columns;
  call.depth = k_bytes / sizeof(float);
  call.packed = w;
  call.c = c;
  call.row_stride = c_stride;
  call.panel_stride = panel_stride;
  call.low = bounds->scalar.min;
  call.high = bounds->scalar.max;
  return call;
}

static void gemm(size_t rows, size_t columns, size_t k_bytes, const void* a, size_t a_stride,
                 const void* w, void* c, size_t c_stride, size_t panel_stride, const void* params) {
  struct split_call call = call_of(rows, columns, k_bytes, w, c, c_stride, panel_stride, params);
  call.taps = 1;
  call.first = a;
  call.a_stride = a_stride;
  split_multiply_amx(&call);
}

static void igemm(size_t rows, size_t columns, size_t k_bytes, size_t pointer_bytes, const void** a,
                  const void* w, void* c, size_t c_stride, size_t panel_stride, size_t a_offset,
                  const void* zero, const void* params) {
  struct split_call call = call_of(rows, columns, k_bytes, w, c, c_stride, panel_stride, params);
  call.taps = pointer_bytes / (SPLIT_MAX_ROWS * sizeof(void*));
  call.a = (const float* const*)a;
  call.a_step = SPLIT_MAX_ROWS;
  call.a_offset = a_offset;
  call.zero = zero;
  split_multiply_amx(&call);
}

/* Weights [outputs, taps, depth]. */
struct packing {
  size_t outputs;
  size_t taps;
  size_t depth;
  size_t column_stride;
  size_t row_stride;
  const float* kernel;
  const float* bias;
  float* packed;
};

static void pack_panel(struct packing* p, size_t first, size_t count) {
  split_pack_panel(p->taps, p->depth, count, p->column_stride, p->row_stride,
                   p->kernel + first * p->column_stride, p->bias == NULL ? NULL : p->bias + first,
                   p->packed + first / SPLIT_COLUMNS * split_panel_floats(p->taps, p->depth));
}

static void pack_panels(struct packing* p, pthreadpool_t threads) {
  pthreadpool_parallelize_1d_tile_1d(threads, (pthreadpool_task_1d_tile_1d_t)pack_panel, p,
                                     p->outputs, SPLIT_COLUMNS, 0);
}

/* Called for a part of the columns, within a task of its own. */
static void pack_goi(size_t groups, size_t outputs, size_t depth, size_t nr, size_t kr, size_t sr,
                     const void* kernel, const void* bias, const void* scale, void* packed,
                     size_t extra_bytes, const void* params) {
  struct packing p = {outputs, 1, depth, depth, 1, kernel, bias, packed};
  pack_panels(&p, NULL);
}

static void pack_gio(size_t groups, size_t outputs, size_t depth, size_t nr, size_t kr, size_t sr,
                     size_t k_stride, const void* kernel, const void* bias, const void* scale,
                     void* packed, size_t extra_bytes, const void* params) {
  struct packing p = {outputs, 1, depth, 1, k_stride, kernel, bias, packed};
  pack_panels(&p, NULL);
}

static void pack_goki(size_t groups, size_t outputs, size_t taps, size_t depth, size_t nr,
                      size_t kr, size_t sr, const void* kernel, const void* bias, const void* scale,
                      void* packed, size_t extra_bytes, const void* params) {
  const float* from = kernel;
  const float* biases = bias;
  float* to = packed;
  for (size_t group = 0; group < groups; ++group) {
    struct packing p = {outputs, taps, depth, taps * depth, 1, from, biases, to};
    pack_panels(&p, xnn_get_packing_threads());
    from += outputs * taps * depth;
    if (biases != NULL) biases += outputs;
    to += divide_round_up(outputs, SPLIT_COLUMNS) * split_panel_floats(taps, depth);
  }
}

static const struct xnn_gemm_config split_config = {
    .minmax = {.gemm = {[SPLIT_MAX_ROWS - 1] = {.function = {(xnn_gemm_ukernel_fn)gemm}}},
               .igemm = {[SPLIT_MAX_ROWS - 1] = {.function = {(xnn_igemm_ukernel_fn)igemm}}}},
    .init = {.f32 = xnn_init_f32_minmax_scalar_params},
    .pack_gemm_gio = (xnn_packw_gemm_gio_ukernel_fn)pack_gio,
    .pack_gemm_goi = (xnn_packw_gemm_goi_ukernel_fn)pack_goi,
    .pack_igemm_goki = (xnn_pack_conv_goki_w_fn)pack_goki,
    .mr = SPLIT_MAX_ROWS,
    .nr = SPLIT_COLUMNS,
    .log2_kr = 5,
    .planes = 1,
};

bool split_is_available(void) {
  const struct xnn_hardware_config* hardware = xnn_init_hardware_config();
  return hardware != NULL && hardware->use_x86_avx512amx && cpuinfo_has_x86_amx_bf16();
}

const struct xnn_gemm_config* split_gemm_config(const struct xnn_gemm_config* floats) {
  return split_is_available() ? &split_config : floats;
}

#else

bool split_is_available(void) { return false; }

const struct xnn_gemm_config* split_gemm_config(const struct xnn_gemm_config* floats) {
  return floats;
}

#endif
