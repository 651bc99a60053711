/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames in a stream of bytes: COBS, so that a 0 ends a frame and nothing else does, and a CRC.
 * Whoever falls out of step is back in it at the next 0.
 *
 *   struct petrel_unframer in = {buffer, sizeof buffer};
 *   while (...) if (petrel_unframe(&in, byte) == PETREL_FRAME_WHOLE) use(in.bytes, in.size);
 *
 * Invariant: writes within its buffer only. The buffer is the caller's.
 */
#ifndef PETREL_FRAME_H
#define PETREL_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "petrel_board.h"

#ifdef __cplusplus
extern "C" {
#endif

struct petrel_unframer {
  unsigned char *bytes;
  size_t capacity;
  size_t size;
  uint8_t block;    /* bytes before the next code */
  uint8_t has_zero; /* between this block and the next */
  uint8_t begun;
  uint8_t is_lost; /* too long: dropped up to its end */
};

enum petrel_frame_event {
  PETREL_FRAME_NONE = 0,
  PETREL_FRAME_WHOLE = 1, /* `size` bytes, head to CRC; not checked. The next byte begins anew */
  PETREL_FRAME_BROKEN = 2
};

enum petrel_frame_event petrel_unframe(struct petrel_unframer *in, unsigned char byte);

/* CRC-32 of IEEE 802.3 (of "123456789": cbf43926) or CRC-16/CCITT-FALSE (29b1), by
 * PETREL_RPC_CRC_BITS. Begins with petrel_crc_begin(). */
uint32_t petrel_crc_begin(void);
uint32_t petrel_crc_add(uint32_t crc, const unsigned char *bytes, size_t size);
uint32_t petrel_crc_end(uint32_t crc);

/* Frames two pieces and their CRC, and writes them with the hook of the board. */
int32_t petrel_write_frame(const struct petrel_board *board, const unsigned char *head,
                           size_t head_bytes, const unsigned char *rest, size_t rest_bytes);

static inline uint16_t petrel_get16(const unsigned char *from) {
  return (uint16_t)((unsigned)from[0] | (unsigned)from[1] << 8);
}

static inline uint32_t petrel_get32(const unsigned char *from) {
  return petrel_get16(from) | (uint32_t)petrel_get16(from + 2) << 16;
}

static inline void petrel_put16(unsigned char *to, uint32_t value) {
  to[0] = (unsigned char)(value & 255u);
  to[1] = (unsigned char)(value >> 8 & 255u);
}

static inline void petrel_put32(unsigned char *to, uint32_t value) {
  petrel_put16(to, value);
  petrel_put16(to + 2, value >> 16);
}

#ifdef __cplusplus
}
#endif

#endif /* PETREL_FRAME_H */
