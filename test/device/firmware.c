/* SPDX-License-Identifier: Apache-2.0
 *
 * Firmware for tests: a generated package that a host drives, on a process of this machine or on
 * Arm's boards MPS2 as QEMU has them.
 *
 *   cc -DNAME=kws -DMODEL_HEADER='"kws.h"' -DPLAN_HEADER='"kws_plan.h"' firmware.c kws*.c ...
 *
 * With -DIO_BYTES=N inputs and outputs lie apart from the memory of the model.
 */
#define _POSIX_C_SOURCE 200809L
#include MODEL_HEADER
#include PLAN_HEADER
#include "petrel_rpc.h"

#define PASTE(a, b) a##b
#define OF_MODEL(name, function) PASTE(name, function)

static unsigned char buffer[PETREL_RPC_BUFFER_BYTES];
static uint64_t memory[(1 << 20) / 8];
static uint32_t trace[512];
static struct petrel_rpc rpc;

int32_t OF_MODEL(NAME, _selftest)(struct OF_MODEL(NAME, _context) * context);

static int32_t test_itself(void *context) {
  return OF_MODEL(NAME, _selftest)((struct OF_MODEL(NAME, _context) *)context);
}

/* The next `bytes` of the memory, aligned as a pool wants it. */
static void *take(size_t *used, size_t bytes, size_t align) {
  const size_t rest = ((uintptr_t)memory + *used) % align;
  const size_t at = *used + (rest == 0 ? 0 : align - rest);
  *used = at + bytes;
  return *used <= sizeof memory ? (unsigned char *)memory + at : NULL;
}

static int serve(const struct petrel_board *board) {
  static void *pools[16];
  static size_t pool_bytes[16];
  struct petrel_rpc_config config = {0};
  size_t used = 0;
  uint32_t i;
  config.board = board;
  config.model = OF_MODEL(NAME, _get_model_metadata)();
  config.plan = OF_MODEL(NAME, _get_plan)();
  config.context = take(&used, config.model->context_bytes, 16);
  for (i = 0; i < config.model->num_pools && i < 16; ++i) {
    const struct petrel_pool_info *pool = &config.model->pools[i];
    pools[i] = take(&used, pool->bytes, pool->align);
    pool_bytes[i] = pool->bytes;
  }
#ifdef IO_BYTES
  config.io = (unsigned char *)take(&used, IO_BYTES, 16);
  config.io_bytes = IO_BYTES;
#endif
  config.pools = pools;
  config.pool_bytes = pool_bytes;
  config.buffer = buffer;
  config.buffer_bytes = sizeof buffer;
  config.trace = trace;
  config.num_trace = sizeof trace / sizeof trace[0];
  config.selftest = test_itself;
  config.build_id = 7;
  i = (uint32_t)petrel_rpc_init(&rpc, &config);
  return i == 0 ? (int)petrel_rpc_loop(&rpc) : -(int)i;
}

#ifndef __arm__

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

static char **arguments;
static struct timespec started;

static int32_t read_bytes(void *user, unsigned char *bytes, uint32_t size, uint32_t timeout_ms) {
  struct pollfd in = {0, POLLIN, 0};
  ssize_t got;
  (void)user;
  if (poll(&in, 1, (int)timeout_ms) <= 0) return 0;
  got = read(0, bytes, size);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  return got > 0 ? (int32_t)got : PETREL_BOARD_E_CLOSED;
}

static int32_t write_bytes(void *user, const unsigned char *bytes, uint32_t size) {
  (void)user;
  while (size > 0) {
    const ssize_t put = write(1, bytes, size);
    if (put < 0) return PETREL_BOARD_E_CLOSED;
    bytes += put;
    size -= (uint32_t)put;
  }
  return PETREL_BOARD_OK;
}

static int32_t start_timer(void *user) {
  (void)user;
  return clock_gettime(CLOCK_MONOTONIC, &started) == 0 ? PETREL_BOARD_OK : PETREL_BOARD_E_STUCK;
}

static int32_t stop_timer(void *user, uint64_t *ticks) {
  struct timespec now;
  (void)user;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return PETREL_BOARD_E_STUCK;
  *ticks = (uint64_t)((now.tv_sec - started.tv_sec) * 1000000000LL + now.tv_nsec - started.tv_nsec);
  return PETREL_BOARD_OK;
}

/* A process that starts anew, with the same streams. */
static void reset(void *user) {
  (void)user;
  execv(arguments[0], arguments);
}

int main(int count, char **words) {
  static const struct petrel_board board = {.name = "process",
                                            .read = read_bytes,
                                            .write = write_bytes,
                                            .timer = {1000000000u, 63, 0, start_timer, stop_timer},
                                            .reset = reset};
  (void)count;
  arguments = words;
  return serve(&board);
}

#else

#define UART ((volatile uint32_t *)0x40004000u)
#define TIMER ((volatile uint32_t *)0x40000000u)

extern unsigned char end_of_memory[], end[];

static int32_t read_bytes(void *user, unsigned char *bytes, uint32_t size, uint32_t timeout_ms) {
  uint32_t spins = 25000u * timeout_ms;
  (void)user;
  while ((UART[1] & 2u) == 0) {
    if (spins-- == 0) return 0;
  }
  for (timeout_ms = 0; timeout_ms < size && (UART[1] & 2u) != 0; ++timeout_ms) {
    bytes[timeout_ms] = (unsigned char)UART[0];
  }
  return (int32_t)timeout_ms;
}

static int32_t write_bytes(void *user, const unsigned char *bytes, uint32_t size) {
  (void)user;
  while (size-- > 0) {
    uint32_t spins = 100000000u;
    while ((UART[1] & 1u) != 0) {
      if (spins-- == 0) return PETREL_BOARD_E_TIMEOUT;
    }
    UART[0] = *bytes++;
  }
  return PETREL_BOARD_OK;
}

/* It counts down from the largest number, and says so when it has begun again. */
static int32_t start_timer(void *user) {
  (void)user;
  TIMER[0] = 0;
  TIMER[1] = TIMER[2] = 0xffffffffu;
  TIMER[3] = 1;
  TIMER[0] = 1 | 8;
  return PETREL_BOARD_OK;
}

static int32_t stop_timer(void *user, uint64_t *ticks) {
  (void)user;
  *ticks = 0xffffffffu - TIMER[1];
  TIMER[0] = 0;
  return (TIMER[3] & 1u) != 0 ? PETREL_BOARD_E_OVERFLOW : PETREL_BOARD_OK;
}

static void reset(void *user) {
  (void)user;
  *(volatile uint32_t *)0xe000ed0cu = 0x05fa0004u;
  for (;;) {
  }
}

static void start(void) {
  static struct petrel_board board;
  *(volatile uint32_t *)0xe000ed88u |= 0x00f00000u; /* the floating point unit */
  __asm volatile("dsb\n isb");
  UART[4] = 16;
  UART[2] = 3;
  board.name = "mps2";
  board.read = read_bytes;
  board.write = write_bytes;
  board.timer.hz = 25000000u;
  board.timer.bits = 32;
  board.timer.start = start_timer;
  board.timer.stop = stop_timer;
  board.stack_low = end;
  board.stack_high = end_of_memory;
  board.reset = reset;
  serve(&board);
  for (;;) {
  }
}

static void fault(void) {
  for (;;) {
  }
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    end_of_memory,       (const void *)start, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault};

#endif
