/* SPDX-License-Identifier: Apache-2.0
 *
 * Lets the host run a model on this device, step by step if it likes, see all of its memory and
 * measure it, through any stream of bytes. No heap, no recursion: memory is one static buffer of
 * the app, which limits the length of requests only.
 *
 *   static unsigned char buffer[PETREL_RPC_BUFFER_BYTES];
 *   static struct petrel_rpc rpc;
 *   struct petrel_rpc_config config = {0};
 *   config.board = &board;
 *   config.model = kws_get_model_metadata();
 *   config.plan = kws_get_plan();              NULL: no steps, no tensors but inputs and outputs
 *   config.context = &context;
 *   config.pools = pools;                      void *, aligned, as model->pools wants them
 *   config.pool_bytes = pool_bytes;
 *   config.buffer = buffer;
 *   config.buffer_bytes = sizeof buffer;
 *   if (petrel_rpc_init(&rpc, &config) != PETREL_RPC_OK) return 1;
 *   return petrel_rpc_loop(&rpc);              or petrel_rpc_feed(), from wherever bytes come
 *
 * Invariant: nothing that comes in, whole or damaged, makes it read or write memory but that of
 * the buffer, the context and the pools. What the config points to stays as long as the struct.
 */
#ifndef PETREL_RPC_H
#define PETREL_RPC_H

#include <stddef.h>
#include <stdint.h>

#include "petrel_board.h"
#include "petrel_frame.h"
#include "petrel_model.h"
#include "petrel_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A good size of the buffer, and the least. */
#define PETREL_RPC_BUFFER_BYTES 256u
#define PETREL_RPC_LEAST_BUFFER_BYTES 64u

/* Inputs and outputs of a method, together. */
#ifndef PETREL_RPC_MAX_TENSORS
#define PETREL_RPC_MAX_TENSORS 16u
#endif

/* 32, or 16 for parts where every byte of code counts. Both sides find out. */
#ifndef PETREL_RPC_CRC_BITS
#define PETREL_RPC_CRC_BITS 32
#endif

#define PETREL_RPC_OK 0
#define PETREL_RPC_E_NULL (-1)    /* of board, read, write, model, context, pools, buffer */
#define PETREL_RPC_E_SIZE (-2)    /* the buffer is too small, or a method has too many tensors */
#define PETREL_RPC_E_VERSION (-3) /* of the model or plan, which are of another petrel_model.h */
#define PETREL_RPC_E_INIT (-4)    /* the model refuses its pools */
#define PETREL_RPC_E_IO (-5)      /* inputs and outputs have no place, and config.io is too small */

struct petrel_rpc_config {
  const struct petrel_board *board;
  const struct petrel_model_metadata *model;
  const struct petrel_plan *plan; /* (optional) */
  void *context;                  /* model->context_bytes; petrel_rpc_init() calls model->init() */
  void *const *pools;             /* model->num_pools */
  const size_t *pool_bytes;
  unsigned char *buffer;
  size_t buffer_bytes;
  /* (optional) Where inputs and outputs lie: io_bytes of the largest method, and up to 15 more for
   * each of them, aligned to 16. Needed for a package made with `--io caller`. Other packages then
   * keep inputs from one run to the next. */
  unsigned char *io;
  size_t io_bytes;
  /* (optional) A count of ticks for each step of the largest method, for the profile of a run. */
  uint32_t *trace;
  uint32_t num_trace;
  /* (optional) NAME_selftest() on the context. */
  int32_t (*selftest)(void *context);
  uint32_t build_id; /* told to the host, as it is */
};

/* Of the library; no app looks inside. */
struct petrel_rpc {
  struct petrel_rpc_config config;
  struct petrel_unframer in;
  uint16_t session; /* 0 until the host has said hello */
  uint16_t last;    /* sequence number of the request that was answered */
  uint16_t longest; /* payload that the host takes */
  uint8_t logs_left;
  uint8_t is_closed;
  uint8_t is_timing;          /* the timer runs */
  uint16_t begun;             /* the method whose step 0 was done, from 1 */
  volatile uint8_t is_inside; /* a kernel: a heartbeat may be sent */
  /* What the last action gave, for a host that asks again. */
  uint8_t domain;
  int32_t status;
  uint32_t next;
  uint64_t ticks;
  /* Arguments of a run. */
  const void *inputs[PETREL_RPC_MAX_TENSORS];
  void *outputs[PETREL_RPC_MAX_TENSORS];
};

/* Checks the config, calls model->init(), paints the unused stack, and tells the host of the
 * start. */
int32_t petrel_rpc_init(struct petrel_rpc *rpc, const struct petrel_rpc_config *config);

/* Takes bytes as they come, in pieces of any size, and answers each request that is complete. */
void petrel_rpc_feed(struct petrel_rpc *rpc, const unsigned char *bytes, size_t size);

/* Reads and answers until the stream is closed; then returns PETREL_RPC_OK. */
int32_t petrel_rpc_loop(struct petrel_rpc *rpc);

/* A line for the host, cut to what a frame holds. Few between two requests are sent, others
 * dropped. Not from interrupts. */
void petrel_rpc_log(struct petrel_rpc *rpc, const char *text);

/* Tells a waiting host that a step still runs. From a timer interrupt, say once a second: then
 * no kernel is too long. Does nothing outside of kernels. */
void petrel_rpc_heartbeat(struct petrel_rpc *rpc);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_RPC_H */
