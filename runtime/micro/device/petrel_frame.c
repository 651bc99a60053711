/* SPDX-License-Identifier: Apache-2.0 */
#include "petrel_frame.h"

#include <stdbool.h>

#include "petrel_rpc.h"

static enum petrel_frame_event add_byte(struct petrel_unframer *in, unsigned char byte) {
  if (in->size == in->capacity) {
    in->is_lost = 1;
  } else {
    in->bytes[in->size] = byte;
    ++in->size;
  }
  return PETREL_FRAME_NONE;
}

static enum petrel_frame_event end_frame(struct petrel_unframer *in) {
  const bool is_whole = in->block == 0u && in->is_lost == 0u;
  const bool is_empty = in->begun == 0u;
  in->block = 0;
  in->begun = 0;
  in->is_lost = 0;
  if (is_empty) {
    return PETREL_FRAME_NONE;
  }
  return is_whole ? PETREL_FRAME_WHOLE : PETREL_FRAME_BROKEN;
}

enum petrel_frame_event petrel_unframe(struct petrel_unframer *in, unsigned char byte) {
  if (byte == 0u) {
    return end_frame(in);
  }
  if (in->begun == 0u) {
    in->size = 0;
    in->has_zero = 0;
  }
  in->begun = 1;
  if (in->block == 0u) {
    const uint8_t has_zero = in->has_zero;
    in->block = (uint8_t)(byte - 1u);
    in->has_zero = byte != 255u ? 1u : 0u;
    return has_zero != 0u ? add_byte(in, 0) : PETREL_FRAME_NONE;
  }
  --in->block;
  return add_byte(in, byte);
}

#if PETREL_RPC_CRC_BITS == 16
/* By nibbles: a table for whole bytes is 16 times as large. */
static const uint16_t crc_table[16] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5,
                                       0x60c6, 0x70e7, 0x8108, 0x9129, 0xa14a, 0xb16b,
                                       0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};

uint32_t petrel_crc_begin(void) { return 0xffffu; }

uint32_t petrel_crc_add(uint32_t before, const unsigned char *bytes, size_t size) {
  uint32_t crc = before;
  size_t i;
  for (i = 0; i < size; ++i) {
    crc = (crc << 4 & 0xffffu) ^ crc_table[(crc >> 12 ^ (uint32_t)(bytes[i] >> 4)) & 15u];
    crc = (crc << 4 & 0xffffu) ^ crc_table[(crc >> 12 ^ bytes[i]) & 15u];
  }
  return crc;
}

uint32_t petrel_crc_end(uint32_t crc) { return crc; }
#else
static const uint32_t crc_table[16] = {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu,
                                       0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
                                       0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
                                       0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};

uint32_t petrel_crc_begin(void) { return 0xffffffffu; }

uint32_t petrel_crc_add(uint32_t before, const unsigned char *bytes, size_t size) {
  uint32_t crc = before;
  size_t i;
  for (i = 0; i < size; ++i) {
    crc = crc >> 4 ^ crc_table[(crc ^ bytes[i]) & 15u];
    crc = crc >> 4 ^ crc_table[(crc ^ (uint32_t)(bytes[i] >> 4)) & 15u];
  }
  return crc;
}

uint32_t petrel_crc_end(uint32_t crc) { return ~crc; }
#endif

/* Bytes on their way to the board, a few at a time. */
struct outlet {
  const struct petrel_board *board;
  int32_t status;
  uint32_t size;
  unsigned char bytes[32];
};

static void flush(struct outlet *out) {
  if (out->size > 0u && out->status == PETREL_BOARD_OK) {
    out->status = out->board->write(out->board->user, out->bytes, out->size);
  }
  out->size = 0;
}

static void put(struct outlet *out, unsigned char byte) {
  if (out->size == sizeof out->bytes) {
    flush(out);
  }
  out->bytes[out->size] = byte;
  ++out->size;
}

struct pieces {
  const unsigned char *at[3];
  size_t bytes[3];
};

static unsigned char byte_of(const struct pieces *all, size_t index) {
  size_t i = index;
  uint32_t piece = 0;
  while (i >= all->bytes[piece]) {
    i -= all->bytes[piece];
    ++piece;
  }
  return all->at[piece][i];
}

int32_t petrel_write_frame(const struct petrel_board *board, const unsigned char *head,
                           size_t head_bytes, const unsigned char *rest, size_t rest_bytes) {
  struct outlet out;
  struct pieces all;
  unsigned char crc[4];
  const size_t size = head_bytes + rest_bytes + (size_t)PETREL_RPC_CRC_BITS / 8u;
  size_t at = 0;
  petrel_put32(crc, petrel_crc_end(petrel_crc_add(
                        petrel_crc_add(petrel_crc_begin(), head, head_bytes), rest, rest_bytes)));
  all.at[0] = head;
  all.bytes[0] = head_bytes;
  all.at[1] = rest;
  all.bytes[1] = rest_bytes;
  all.at[2] = crc;
  all.bytes[2] = (size_t)PETREL_RPC_CRC_BITS / 8u;
  out.board = board;
  out.status = PETREL_BOARD_OK;
  out.size = 0;
  put(&out, 0);
  for (;;) {
    size_t run = 0;
    size_t i;
    while (run < 254u && at + run < size && byte_of(&all, at + run) != 0u) {
      ++run;
    }
    put(&out, (unsigned char)(run + 1u));
    for (i = 0; i < run; ++i) {
      put(&out, byte_of(&all, at + i));
    }
    at += run;
    if (at == size) {
      break;
    }
    if (run < 254u) {
      ++at; /* the 0 that the code stands for */
    }
  }
  put(&out, 0);
  flush(&out);
  return out.status;
}
