/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/fourteen_rows/shallow.h"

#include <stdint.h>

#include "third_party/xnnpack/fourteen_rows/products.h"
#include "xnnpack/common.h"
#include "xnnpack/gemm.h"
#include "xnnpack/microfnptr.h"
#include "xnnpack/microparams-init.h"
#include "xnnpack/pack.h"
#include "xnnpack/packw.h"

#if XNN_ARCH_X86_64

#define ROWS 14
#define HALF 7
#define COLUMNS 32
/* //third_party/xnnpack/fourteen_rows:products_bench */
#define MOST_DEPTH 96

static void compute_whole(size_t mr, size_t nc, size_t kc, const float* a, size_t a_stride,
                          const float* w, float* c, size_t cm_stride, size_t cn_stride,
                          const union xnn_f32_minmax_params* params) {
  for (size_t row = 0; row < mr; row += HALF) {
    xnn_f32_gemm_minmax_ukernel_7x32__avx512f_broadcast(
        mr - row < HALF ? mr - row : HALF, nc, kc, (const float*)((uintptr_t)a + row * a_stride),
        a_stride, w, (float*)((uintptr_t)c + row * cm_stride), cm_stride, cn_stride, params);
  }
}

static void compute_shallow(size_t mr, size_t nc, size_t kc, const float* a, size_t a_stride,
                            const float* w, float* c, size_t cm_stride, size_t cn_stride,
                            const union xnn_f32_minmax_params* params) {
  const size_t whole = mr < HALF ? 0 : nc / COLUMNS * COLUMNS;
  if (whole > 0) {
    compute_whole(mr, whole, kc, a, a_stride, w, c, cm_stride, cn_stride, params);
  }
  if (whole == nc) return;
  const size_t blocks = whole / COLUMNS;
  petrel_f32_gemm_minmax_ukernel_14x32__avx512f(
      mr, nc - whole, kc, a, a_stride, w + blocks * COLUMNS * (1 + kc / sizeof(float)),
      (float*)((uintptr_t)c + blocks * cn_stride), cm_stride, cn_stride, params);
}

#define GEMM                                            \
  {                                                     \
    .function = {(xnn_gemm_ukernel_fn)compute_shallow } \
  }
#define IGEMM                                                                           \
  {                                                                                     \
    .function = {(xnn_igemm_ukernel_fn)petrel_f32_igemm_minmax_ukernel_14x32__avx512f } \
  }

static const struct xnn_gemm_config shallow = {
    .minmax = {.gemm = {[0] = GEMM, [ROWS - 1] = GEMM}, .igemm = {[ROWS - 1] = IGEMM}},
    .init = {.f32 = xnn_init_f32_minmax_scalar_params},
    .pack_gemm_gio = (xnn_packw_gemm_gio_ukernel_fn)xnn_pack_f32_gemm_gio_w,
    .pack_gemm_goi =
        (xnn_packw_gemm_goi_ukernel_fn)xnn_x32_packw_gemm_goi_ukernel_x32__avx512f_u4_prfm,
    .mr = ROWS,
    .nr = COLUMNS,
};

const struct xnn_gemm_config* petrel_f32_config_of_depth(const struct xnn_gemm_config* usual,
                                                         size_t depth) {
  const int has_tiles = usual->minmax.gemm[ROWS - 1].function[XNN_UARCH_DEFAULT] ==
                        (xnn_gemm_ukernel_fn)petrel_f32_gemm_minmax_ukernel_14x32__avx512f;
  return has_tiles && depth <= MOST_DEPTH ? &shallow : usual;
}

#else

const struct xnn_gemm_config* petrel_f32_config_of_depth(const struct xnn_gemm_config* usual,
                                                         size_t depth) {
  (void)depth;
  return usual;
}

#endif
