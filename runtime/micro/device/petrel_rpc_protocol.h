/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of the protocol between a device and its host, which both sides include. Integers
 * are little-endian. docs/device.md draws a frame and says what each message holds.
 *
 *   00 | COBS( version type session16 sequence16 length16 | payload | crc ) | 00
 *
 * The host asks, the device answers with type | PETREL_RPC_ANSWER and the same session and
 * sequence number; one request at a time.
 */
#ifndef PETREL_RPC_PROTOCOL_H
#define PETREL_RPC_PROTOCOL_H

#define PETREL_RPC_VERSION 1u
#define PETREL_RPC_HEAD_BYTES 8u
#define PETREL_RPC_ANSWER 0x80u
#define PETREL_RPC_HELLO_BYTES 40u
#define PETREL_RPC_INFO_VERSION 2u

enum petrel_rpc_type {
  PETREL_RPC_HELLO = 1,
  PETREL_RPC_INFO = 2,
  PETREL_RPC_READ = 3,
  PETREL_RPC_WRITE = 4,
  PETREL_RPC_CRC = 5,
  PETREL_RPC_FILL = 6,
  PETREL_RPC_RUN = 7,
  PETREL_RPC_RUN_OP = 8,
  PETREL_RPC_TIME = 9,
  PETREL_RPC_TRACE = 10,
  PETREL_RPC_LOOKUP_PARAM = 11,
  PETREL_RPC_STACK = 12,
  PETREL_RPC_SELFTEST = 13,
  PETREL_RPC_SET_SIZES = 14,
  PETREL_RPC_GET_SIZES = 15,
  PETREL_RPC_RESET_STATE = 16,
  PETREL_RPC_RESET = 17,
  PETREL_RPC_TIMER = 18,
  PETREL_RPC_BULK = 19,
  /* Sent by the device unasked. */
  PETREL_RPC_BUSY = 0x60, /* the request has arrived, and what it asks for runs */
  PETREL_RPC_LOG = 0x61,
  PETREL_RPC_BOOT = 0x62, /* the device has started: there is no session */
  PETREL_RPC_NAK = 0x63,  /* what came was no frame, or damaged */
  PETREL_RPC_ERROR = 0x64 /* instead of an answer */
};

/* Memory that READ, WRITE, CRC, FILL and BULK name, with an index and an offset. */
enum petrel_rpc_memory {
  PETREL_RPC_INPUT = 0,
  PETREL_RPC_OUTPUT = 1,
  PETREL_RPC_TENSOR = 2, /* of the plan of a method */
  PETREL_RPC_POOL = 3
};

/* What an ERROR is about; then its code is one of the enums named here. */
enum petrel_rpc_domain {
  PETREL_RPC_OF_REQUEST = 1, /* petrel_rpc_refusal */
  PETREL_RPC_OF_MODEL = 2,   /* petrel_model_status */
  PETREL_RPC_OF_BOARD = 3    /* petrel_board_status */
};

enum petrel_rpc_refusal {
  PETREL_RPC_E_PROTOCOL = 1, /* detail: the version of the device */
  PETREL_RPC_E_SESSION = 2,  /* none, or another; detail: how often the board was started */
  PETREL_RPC_E_TYPE = 3,     /* an unknown type of message */
  PETREL_RPC_E_LENGTH = 4,   /* detail: the length that it must have */
  PETREL_RPC_E_INDEX = 5,    /* no such method, tensor, pool or step; detail: how many there are */
  PETREL_RPC_E_RANGE = 6,    /* bytes beyond the end; detail: how many there are */
  PETREL_RPC_E_MISSING = 7,  /* this firmware or board has no such thing */
  PETREL_RPC_E_INPUTS = 8,   /* a run destroys its inputs: give them before each */
  PETREL_RPC_E_SEQUENCE = 9, /* detail: the last one */
  PETREL_RPC_E_STEP = 10     /* step 0 of the method must be done first: it checks and copies */
};

/* What HELLO says of the firmware. */
enum petrel_rpc_feature {
  PETREL_RPC_HAS_PLAN = 1,
  PETREL_RPC_HAS_TIMER = 2,
  PETREL_RPC_HAS_TRACE = 4,
  PETREL_RPC_HAS_STACK = 8,
  PETREL_RPC_HAS_SELFTEST = 16,
  PETREL_RPC_HAS_RESET = 32,
  PETREL_RPC_HAS_BULK = 64,
  PETREL_RPC_KEEPS_INPUTS = 128, /* of all methods, from run to run */
  PETREL_RPC_MAY_SLEEP = 256     /* the model has devices, and drivers may wait for them asleep */
};

#define PETREL_RPC_TRACED 1u /* a flag of RUN: count the ticks of each step */

#endif /* PETREL_RPC_PROTOCOL_H */
