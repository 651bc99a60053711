/* SPDX-License-Identifier: Apache-2.0
 *
 * A main program that does what the host asks, through the stream of the board: run the model or
 * a step of it, read and write tensors, measure. */
#include "firmware.h"
#include "petrel_rpc.h"

static unsigned char buffer[PETREL_RPC_BUFFER_BYTES];
static struct petrel_rpc rpc;

int main(void) {
  const struct petrel_app *app = petrel_app();
  struct petrel_rpc_config config = {0};
  int32_t code;
  config.board = petrel_board_init();
  config.model = app->model;
  config.plan = petrel_app_plan();
  config.context = app->context;
  config.pools = app->pools;
  config.pool_bytes = app->pool_bytes;
  config.buffer = buffer;
  config.buffer_bytes = sizeof buffer;
  config.io = app->io;
  config.io_bytes = app->io_bytes;
  config.selftest = app->selftest;
  config.build_id = PETREL_BUILD_ID;
  code = petrel_rpc_init(&rpc, &config);
  if (code == PETREL_RPC_OK) code = petrel_rpc_loop(&rpc);
  petrel_board_exit(code);
  return (int)code;
}
