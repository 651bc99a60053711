/* SPDX-License-Identifier: Apache-2.0
 *
 * A board that nobody has described yet. It compiles and links as it is; fill in what yours has,
 * and leave NULL what it lacks: petrel_board.h tells each function. */
#include "firmware.h"

/* Waits for `timeout_ms` at most; the number of bytes, 0 when there are none. */
static int32_t read_bytes(void *user, unsigned char *bytes, uint32_t size, uint32_t timeout_ms) {
  (void)user;
  (void)bytes;
  (void)size;
  (void)timeout_ms;
  return PETREL_BOARD_E_CLOSED;
}

static int32_t write_bytes(void *user, const unsigned char *bytes, uint32_t size) {
  (void)user;
  (void)bytes;
  (void)size;
  return PETREL_BOARD_OK;
}

static const struct petrel_board board = {
    .name = PETREL_BOARD_NAME,
    .read = read_bytes,
    .write = write_bytes,
};

/* Clocks, pins, the UART. */
const struct petrel_board *petrel_board_init(void) { return &board; }

/* Files come from an emulator only. */
int32_t petrel_board_method(void) { return -1; }

void petrel_board_exit(int32_t code) { (void)code; }
