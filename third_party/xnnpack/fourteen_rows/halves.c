/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/fourteen_rows/halves.h"

#include "third_party/xnnpack/fourteen_rows/products.h"
#include "xnnpack/common.h"
#include "xnnpack/microfnptr.h"
#include "xnnpack/microparams-init.h"
#include "xnnpack/pack.h"
#include "xnnpack/packw.h"

#if XNN_ARCH_X86_64

#define ROWS 14
#define GEMM                                                                          \
  {                                                                                   \
    .function = {(xnn_gemm_ukernel_fn)petrel_f32_gemm_minmax_ukernel_14x16__avx512f } \
  }
#define IGEMM                                                                           \
  {                                                                                     \
    .function = {(xnn_igemm_ukernel_fn)petrel_f32_igemm_minmax_ukernel_14x16__avx512f } \
  }

static const struct xnn_gemm_config halves = {
    .minmax = {.gemm = {[0] = GEMM, [ROWS - 1] = GEMM}, .igemm = {[ROWS - 1] = IGEMM}},
    .init = {.f32 = xnn_init_f32_minmax_scalar_params},
    .pack_gemm_gio = (xnn_packw_gemm_gio_ukernel_fn)xnn_pack_f32_gemm_gio_w,
    .pack_gemm_goi = (xnn_packw_gemm_goi_ukernel_fn)xnn_x32_packw_gemm_goi_ukernel_x16__avx_u4,
    .mr = ROWS,
    .nr = 16,
};

const struct xnn_gemm_config* petrel_f32_config_of_group(const struct xnn_gemm_config* usual,
                                                         size_t outputs) {
  const int has_tiles = usual->mr == ROWS && usual->nr == 32;
  return has_tiles && outputs > 8 && outputs <= 16 ? &halves : usual;
}

#else

const struct xnn_gemm_config* petrel_f32_config_of_group(const struct xnn_gemm_config* usual,
                                                         size_t outputs) {
  (void)outputs;
  return usual;
}

#endif
