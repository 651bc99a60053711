/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the RPC share, and nobody else includes. A request is the payload of a frame
 * that is whole; `read` of its bytes is bounded by `size`.
 */
#ifndef PETREL_RPC_PARTS_H
#define PETREL_RPC_PARTS_H

#include "petrel_rpc.h"
#include "petrel_rpc_protocol.h"

struct petrel_request {
  const unsigned char *payload;
  size_t size;
  uint16_t sequence;
  uint8_t type;
  uint8_t is_again; /* the answer to it was lost */
};

/* Bytes of the device that a request may name. */
struct petrel_span {
  unsigned char *data;
  size_t bytes;
};

/* An answer: `head` first, then `rest`. */
void petrel_rpc_answer(struct petrel_rpc *rpc, const struct petrel_request *request,
                       const unsigned char *head, size_t head_bytes, const unsigned char *rest,
                       size_t rest_bytes);
void petrel_rpc_refuse(struct petrel_rpc *rpc, const struct petrel_request *request,
                       uint32_t domain, int32_t code, uint32_t detail);
/* Whether the payload has at least `size` bytes; refuses it if not. */
int petrel_rpc_has(struct petrel_rpc *rpc, const struct petrel_request *request, size_t size);
/* Refuses what this firmware lacks. */
void petrel_rpc_missing(struct petrel_rpc *rpc, const struct petrel_request *request);
void petrel_rpc_busy(struct petrel_rpc *rpc, const struct petrel_request *request);

/* Whether there is a method of that index; refuses it if not. */
int petrel_rpc_has_method(struct petrel_rpc *rpc, const struct petrel_request *request,
                          uint32_t method);
/* Fills the arguments of a run. */
void petrel_rpc_point(struct petrel_rpc *rpc, uint32_t method);
struct petrel_span petrel_rpc_tensor(const struct petrel_rpc *rpc, uint32_t method,
                                     uint32_t is_output, uint32_t index);
/* Bytes of `config.io` that a method needs. */
size_t petrel_rpc_io_bytes(const struct petrel_method_info *method);
/* 1 where inputs are the same after a run. */
int petrel_rpc_keeps_inputs(const struct petrel_rpc *rpc, uint32_t method);
/* Fills the stack that is not in use. */
void petrel_rpc_paint(const struct petrel_rpc *rpc);

/* Start and stop of the board's timer, in the right state only. */
int32_t petrel_rpc_start_timer(struct petrel_rpc *rpc);
int32_t petrel_rpc_stop_timer(struct petrel_rpc *rpc, uint64_t *ticks);

/* Handlers, by file. */
void petrel_rpc_on_memory(struct petrel_rpc *rpc, const struct petrel_request *request);
void petrel_rpc_on_bulk(struct petrel_rpc *rpc, const struct petrel_request *request);
void petrel_rpc_on_stack(struct petrel_rpc *rpc, const struct petrel_request *request);
void petrel_rpc_on_param(struct petrel_rpc *rpc, const struct petrel_request *request);
void petrel_rpc_on_info(struct petrel_rpc *rpc, const struct petrel_request *request);
void petrel_rpc_on_action(struct petrel_rpc *rpc, const struct petrel_request *request);
void petrel_rpc_on_trace(struct petrel_rpc *rpc, const struct petrel_request *request);
void petrel_rpc_on_sizes(struct petrel_rpc *rpc, const struct petrel_request *request);

#endif /* PETREL_RPC_PARTS_H */
