/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of the machine that emulates or debugs this one, by Arm's semihosting, which RISC-V has
 * taken over. Without an emulator or debugger a call is a fault, so only firmware that is
 * compiled for one (PETREL_SEMIHOSTING) makes any.
 *
 *   int32_t code = semihosting_read(NULL, "input_0.bin", 0, data, bytes);
 */
#ifndef PETREL_SEMIHOSTING_H
#define PETREL_SEMIHOSTING_H

#include <stddef.h>
#include <stdint.h>

/* As the functions of petrel_board_bulk. */
int32_t semihosting_read(void *user, const char *path, size_t offset, void *to, size_t bytes);
int32_t semihosting_write(void *user, const char *path, size_t offset, const void *from,
                          size_t bytes);

/* The number behind the name of the program in its command line; -1 where there is none. */
int32_t semihosting_number(void);

/* Ends the emulation. */
void semihosting_exit(int32_t code);

#endif /* PETREL_SEMIHOSTING_H */
