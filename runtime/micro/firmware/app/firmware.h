/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of a firmware know of each other: the code for a board, the model with its
 * memory, and one of the main programs.
 *
 *   board.c        petrel_board_init(), petrel_board_exit(), petrel_board_method()
 *   model.c        petrel_app(): the model of the project, its context and its memory
 *   standalone.c   runs the model alone: files of an emulator, or the self-test
 *   host_driven.c  the host runs the model, through the stream of the board
 *   profile.c      tells the ticks of each step; places.h, say.h: what several of them do
 *
 * Nothing here is allocated; everything lives as long as the program.
 */
#ifndef PETREL_FIRMWARE_H
#define PETREL_FIRMWARE_H

#include <stddef.h>
#include <stdint.h>

#include "petrel_board.h"
#include "petrel_model.h"
#include "petrel_plan.h"

struct petrel_app {
  const struct petrel_model_metadata *model;
  void *context;
  void *const *pools;
  const size_t *pool_bytes;
  unsigned char *io; /* inputs and outputs of a package made with --io caller, else NULL */
  size_t io_bytes;
  int32_t (*selftest)(void *context); /* NULL where there is none */
};

/* Sets the clocks and pins as the product has them. Called once, first. */
const struct petrel_board *petrel_board_init(void);

/* Ends the emulation with this code, and where there is none stops for ever. */
void petrel_board_exit(int32_t code);

/* The index of the method that whoever started the program asks for; negative: none. */
int32_t petrel_board_method(void);

const struct petrel_app *petrel_app(void);

/* The steps of the model, for the host; NULL: it was generated without --device-rpc. */
const struct petrel_plan *petrel_app_plan(void);

#endif /* PETREL_FIRMWARE_H */
