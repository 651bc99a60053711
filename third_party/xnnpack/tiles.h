// SPDX-License-Identifier: Apache-2.0
//
// Tile instructions of AMX that say they read memory. Those of gcc 12 do not: a row that is
// written just before may reach memory after the tile that is loaded from it. Included before
// XNNPACK's kernels, and by our own.

#ifndef PETREL_THIRD_PARTY_XNNPACK_TILES_H_
#define PETREL_THIRD_PARTY_XNNPACK_TILES_H_

#include <immintrin.h>

#if defined(__GNUC__) && !defined(__clang__)

#undef _tile_loadd
#define _tile_loadd(tile, base, stride)                            \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile              \
                   :                                               \
                   : "r"((const void*)(base)), "r"((long)(stride)) \
                   : "memory")

// The configuration has 64 bytes.
#define petrel_tile_configure(config) \
  __asm__ volatile("ldtilecfg %0" : : "m"(*(const char(*)[64])(config)))

#else

#define petrel_tile_configure(config) _tile_loadconfig(config)

#endif

#endif  // PETREL_THIRD_PARTY_XNNPACK_TILES_H_
