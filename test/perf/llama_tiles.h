// SPDX-License-Identifier: Apache-2.0
//
// Included before llama.cpp's sources (with_llama). Tile instructions of AMX do not say what memory
// they read in gcc 12: it leaves out what is written just before, and the configuration of tiles
// is not one.

#ifndef PETREL_TEST_PERF_LLAMA_TILES_H_
#define PETREL_TEST_PERF_LLAMA_TILES_H_

#if defined(__AMX_TILE__) && defined(__GNUC__) && !defined(__clang__)

#include <immintrin.h>

#define _tile_loadconfig(config) \
  __asm__ volatile("ldtilecfg %0" : : "m"(*(const char(*)[64])(config)))

#undef _tile_loadd_internal
#define _tile_loadd_internal(tile, base, stride)                   \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile              \
                   :                                               \
                   : "r"((const void*)(base)), "r"((long)(stride)) \
                   : "memory")

#endif

#endif  // PETREL_TEST_PERF_LLAMA_TILES_H_
