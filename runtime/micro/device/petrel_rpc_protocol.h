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

#define PETREL_RPC_HELLO 1u
#define PETREL_RPC_INFO 2u
#define PETREL_RPC_READ 3u
#define PETREL_RPC_WRITE 4u
#define PETREL_RPC_CRC 5u
#define PETREL_RPC_FILL 6u
#define PETREL_RPC_RUN 7u
#define PETREL_RPC_RUN_OP 8u
#define PETREL_RPC_TIME 9u
#define PETREL_RPC_TRACE 10u
#define PETREL_RPC_LOOKUP_PARAM 11u
#define PETREL_RPC_STACK 12u
#define PETREL_RPC_SELFTEST 13u
#define PETREL_RPC_SET_SIZES 14u
#define PETREL_RPC_GET_SIZES 15u
#define PETREL_RPC_RESET_STATE 16u
#define PETREL_RPC_RESET 17u
#define PETREL_RPC_TIMER 18u
#define PETREL_RPC_BULK 19u
/* Sent by the device unasked. */
#define PETREL_RPC_BUSY 0x60u /* the request has arrived, and what it asks for runs */
#define PETREL_RPC_LOG 0x61u
#define PETREL_RPC_BOOT 0x62u  /* the device has started: there is no session */
#define PETREL_RPC_NAK 0x63u   /* what came was no frame, or damaged */
#define PETREL_RPC_ERROR 0x64u /* instead of an answer */

/* Memory that READ, WRITE, CRC, FILL and BULK name, with an index and an offset. */
#define PETREL_RPC_INPUT 0u
#define PETREL_RPC_OUTPUT 1u
#define PETREL_RPC_TENSOR 2u /* of the plan of a method */
#define PETREL_RPC_POOL 3u

/* What an ERROR is about; then its code is one of those named here. */
#define PETREL_RPC_OF_REQUEST 1u /* PETREL_RPC_E_... */
#define PETREL_RPC_OF_MODEL 2u   /* PETREL_MODEL_E_... */
#define PETREL_RPC_OF_BOARD 3u   /* PETREL_BOARD_E_... */

#define PETREL_RPC_E_PROTOCOL 1 /* detail: the version of the device */
#define PETREL_RPC_E_SESSION 2  /* none, or another; detail: how often the board was started */
#define PETREL_RPC_E_TYPE 3     /* an unknown type of message */
#define PETREL_RPC_E_LENGTH 4   /* detail: the length that it must have */
#define PETREL_RPC_E_INDEX 5 /* no such method, tensor, pool or step; detail: how many there are */
#define PETREL_RPC_E_RANGE 6 /* bytes beyond the end; detail: how many there are */
#define PETREL_RPC_E_MISSING 7  /* this firmware or board has no such thing */
#define PETREL_RPC_E_INPUTS 8   /* a run destroys its inputs: give them before each */
#define PETREL_RPC_E_SEQUENCE 9 /* detail: the last one */
#define PETREL_RPC_E_STEP 10    /* step 0 of the method must be done first: it checks and copies */

/* What HELLO says of the firmware. */
#define PETREL_RPC_HAS_PLAN 1u
#define PETREL_RPC_HAS_TIMER 2u
#define PETREL_RPC_HAS_TRACE 4u
#define PETREL_RPC_HAS_STACK 8u
#define PETREL_RPC_HAS_SELFTEST 16u
#define PETREL_RPC_HAS_RESET 32u
#define PETREL_RPC_HAS_BULK 64u
#define PETREL_RPC_KEEPS_INPUTS 128u /* of all methods, from run to run */
#define PETREL_RPC_MAY_SLEEP 256u    /* the model has devices, and drivers may wait asleep */

#define PETREL_RPC_TRACED 1u /* a flag of RUN: count the ticks of each step */

#endif /* PETREL_RPC_PROTOCOL_H */
