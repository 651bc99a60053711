/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "third_party/xnnpack/dot_taps/taps.h"

#define CHANNELS 16
#define MAX_TAPS 25

void petrel_interleave_taps(size_t taps, size_t channels, void* packed) {
  const size_t bytes = taps * CHANNELS;
  uint8_t* tile = packed;
  for (size_t first = 0; first < channels; first += CHANNELS) {
    int8_t by_tap[MAX_TAPS * CHANNELS];
    uint32_t sums[CHANNELS];
    int8_t* const weights = (int8_t*)tile + sizeof sums;
    memcpy(sums, tile, sizeof sums);
    memcpy(by_tap, weights, bytes);
    for (size_t tap = 0; tap < taps; tap++) {
      const size_t quad = tap / 4 * 4 * CHANNELS;
      const size_t step = tap + 1 == taps ? 1 : 4;
      for (size_t c = 0; c < CHANNELS; c++) {
        const int8_t weight = by_tap[tap * CHANNELS + c];
        weights[quad + c * step + tap % 4] = weight;
        sums[c] -= 128 * (uint32_t)weight;
      }
    }
    memcpy(tile, sums, sizeof sums);
    tile += sizeof sums + bytes + CHANNELS * sizeof(float);
  }
}
