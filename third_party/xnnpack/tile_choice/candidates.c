/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/tile_choice/candidates.h"

#include <string.h>

#include "petrel/cap.h"
#include "petrel/f32-gemm-fma3.h"
#include "third_party/xnnpack/fourteen_rows/products.h"
#include "xnnpack/common.h"
#include "xnnpack/config.h"
#include "xnnpack/gemm.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/igemm.h"
#include "xnnpack/microparams-init.h"
#include "xnnpack/pack.h"
#include "xnnpack/packw.h"

static const struct petrel_tile* chosen = NULL;

#if XNN_ARCH_X86_64

#define GEMM(tile) xnn_f32_gemm_minmax_ukernel_##tile
#define IGEMM(tile) xnn_f32_igemm_minmax_ukernel_##tile

#define NAME(rows, columns, isa) #rows "x" #columns "-" isa

#define AVX512(rows, columns)                                                                  \
  {                                                                                            \
    NAME(rows, columns, "avx512f"), rows, columns, XNN_CAP_AVX512F,                            \
        GEMM(1x##columns##__avx512f_broadcast), GEMM(rows##x##columns##__avx512f_broadcast),   \
        IGEMM(1x##columns##__avx512f_broadcast), IGEMM(rows##x##columns##__avx512f_broadcast), \
        NULL, 0                                                                                \
  }

#define FMA3(rows, columns, more)                                                                  \
  {                                                                                                \
    NAME(rows, columns, "fma3"), rows, columns, XNN_CAP_FMA3, GEMM(1x##columns##__fma3_broadcast), \
        GEMM(rows##x##columns##__fma3_broadcast), IGEMM(1x##columns##__fma3_broadcast),            \
        IGEMM(rows##x##columns##__fma3_broadcast##more), NULL, 0                                   \
  }

/* Those of the rule are the first of their instructions. */
static const struct petrel_tile tiles[] = {
    {"14x32-avx512f", 14, 32, XNN_CAP_AVX512F, petrel_f32_gemm_minmax_ukernel_14x32__avx512f,
     petrel_f32_gemm_minmax_ukernel_14x32__avx512f, IGEMM(1x32__avx512f_broadcast),
     petrel_f32_igemm_minmax_ukernel_14x32__avx512f, petrel_f32_gemm_ahead_14x32__avx512f, 11},
    {"14x16-avx512f", 14, 16, XNN_CAP_AVX512F, petrel_f32_gemm_minmax_ukernel_14x16__avx512f,
     petrel_f32_gemm_minmax_ukernel_14x16__avx512f, IGEMM(1x16__avx512f_broadcast),
     petrel_f32_igemm_minmax_ukernel_14x16__avx512f, NULL, 0},
    AVX512(4, 32),
    AVX512(5, 32),
    AVX512(6, 32),
    AVX512(7, 32),
    AVX512(8, 32),
    AVX512(4, 16),
    AVX512(5, 16),
    AVX512(6, 16),
    AVX512(7, 16),
    AVX512(8, 16),
    {"6x16-fma3", 6, 16, XNN_CAP_FMA3, petrel_f32_gemm_minmax_ukernel_6x16__fma3,
     petrel_f32_gemm_minmax_ukernel_6x16__fma3, IGEMM(1x16__fma3_broadcast),
     petrel_f32_igemm_minmax_ukernel_6x16__fma3, petrel_f32_gemm_ahead_6x16__fma3, 5},
    FMA3(4, 16, ),
    FMA3(5, 16, _prfm),
    FMA3(4, 8, ),
    FMA3(5, 8, ),
    FMA3(6, 8, ),
    FMA3(7, 8, ),
    FMA3(8, 8, ),
};

const struct petrel_tile* petrel_tiles(size_t* count) {
  *count = sizeof(tiles) / sizeof(tiles[0]);
  return tiles;
}

bool petrel_tile_is_possible(const struct petrel_tile* tile) {
  const struct xnn_hardware_config* hardware = xnn_init_hardware_config();
  if (hardware == NULL) return false;
  /* The rule takes no AVX-512 there. */
  if (tile->needs == XNN_CAP_AVX512F) return !XNN_PLATFORM_MOBILE && hardware->use_x86_avx512f;
  return hardware->use_x86_fma3;
}

static xnn_packw_gemm_goi_ukernel_fn find_packing(size_t columns) {
  switch (columns) {
    case 32:
      return (xnn_packw_gemm_goi_ukernel_fn)xnn_x32_packw_gemm_goi_ukernel_x32__avx512f_u4_prfm;
    case 16:
      return (xnn_packw_gemm_goi_ukernel_fn)xnn_x32_packw_gemm_goi_ukernel_x16__avx_u4;
    default:
      return (xnn_packw_gemm_goi_ukernel_fn)xnn_x32_packw_gemm_goi_ukernel_x8__sse2_u4;
  }
}

void petrel_apply_tile(struct xnn_gemm_config* config) {
  if (chosen == NULL) return;
  memset(config, 0, sizeof(*config));
  config->minmax.gemm[chosen->rows - 1].function[XNN_UARCH_DEFAULT] =
      (xnn_gemm_ukernel_fn)chosen->product;
  config->minmax.gemm[0].function[XNN_UARCH_DEFAULT] = (xnn_gemm_ukernel_fn)chosen->product_of_row;
  config->minmax.igemm[chosen->rows - 1].function[XNN_UARCH_DEFAULT] =
      (xnn_igemm_ukernel_fn)chosen->windows;
  config->minmax.igemm[0].function[XNN_UARCH_DEFAULT] =
      (xnn_igemm_ukernel_fn)chosen->windows_of_row;
  config->init.f32 = xnn_init_f32_minmax_scalar_params;
  config->pack_gemm_gio = (xnn_packw_gemm_gio_ukernel_fn)xnn_pack_f32_gemm_gio_w;
  config->pack_gemm_goi = find_packing(chosen->columns);
  config->mr = (uint8_t)chosen->rows;
  config->nr = (uint8_t)chosen->columns;
}

#else

const struct petrel_tile* petrel_tiles(size_t* count) {
  *count = 0;
  return NULL;
}

bool petrel_tile_is_possible(const struct petrel_tile* tile) {
  (void)tile;
  return false;
}

void petrel_apply_tile(struct xnn_gemm_config* config) { (void)config; }

#endif

const struct petrel_tile* petrel_find_tile(const char* name) {
  size_t count = 0;
  const struct petrel_tile* all = petrel_tiles(&count);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(all[i].name, name) == 0) return &all[i];
  }
  return NULL;
}

const struct petrel_tile* petrel_usual_tile(void) {
  size_t count = 0;
  const struct petrel_tile* all = petrel_tiles(&count);
  for (size_t i = 0; i < count; i++) {
    if (petrel_tile_is_possible(&all[i])) return &all[i];
  }
  return NULL;
}

void petrel_choose_tile(const struct petrel_tile* tile) { chosen = tile; }

const struct petrel_tile* petrel_chosen_tile(void) { return chosen; }
