/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine that petrel runs on as a board: standard input and output are its stream, files
 * its bulk, and the method is what the environment says in PETREL_METHOD. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "firmware.h"

static struct timespec started;
static int is_running;

static int32_t read_bytes(void *user, unsigned char *bytes, uint32_t size, uint32_t timeout_ms) {
  struct pollfd in = {STDIN_FILENO, POLLIN, 0};
  ssize_t got;
  (void)user;
  if (poll(&in, 1, timeout_ms < 60000u ? (int)timeout_ms : 60000) <= 0) return 0;
  got = read(STDIN_FILENO, bytes, size);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  return got > 0 ? (int32_t)got : PETREL_BOARD_E_CLOSED;
}

static int32_t write_bytes(void *user, const unsigned char *bytes, uint32_t size) {
  (void)user;
  while (size > 0) {
    struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
    ssize_t written;
    if (poll(&out, 1, 10000) <= 0) return PETREL_BOARD_E_TIMEOUT;
    written = write(STDOUT_FILENO, bytes, size);
    if (written < 0) return PETREL_BOARD_E_CLOSED;
    bytes += written;
    size -= (uint32_t)written;
  }
  return PETREL_BOARD_OK;
}

static int32_t start_timer(void *user) {
  (void)user;
  if (is_running) return PETREL_BOARD_E_STATE;
  is_running = 1;
  return clock_gettime(CLOCK_MONOTONIC, &started) == 0 ? PETREL_BOARD_OK : PETREL_BOARD_E_STUCK;
}

static int32_t stop_timer(void *user, uint64_t *ticks) {
  struct timespec now;
  (void)user;
  if (!is_running) return PETREL_BOARD_E_STATE;
  is_running = 0;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return PETREL_BOARD_E_STUCK;
  *ticks = (uint64_t)((int64_t)(now.tv_sec - started.tv_sec) * 1000000000 +
                      (int64_t)(now.tv_nsec - started.tv_nsec));
  return PETREL_BOARD_OK;
}

static int32_t read_file(void *user, const char *path, size_t offset, void *to, size_t bytes) {
  FILE *file = fopen(path, "rb");
  int32_t status = PETREL_BOARD_E_MISSING;
  (void)user;
  if (file == NULL) return status;
  if (fseek(file, (long)offset, SEEK_SET) == 0 && fread(to, 1, bytes, file) == bytes) {
    status = PETREL_BOARD_OK;
  }
  (void)fclose(file);
  return status;
}

static int32_t write_file(void *user, const char *path, size_t offset, const void *from,
                          size_t bytes) {
  FILE *file = fopen(path, offset == 0 ? "wb" : "ab");
  size_t written;
  (void)user;
  if (file == NULL) return PETREL_BOARD_E_MISSING;
  written = fwrite(from, 1, bytes, file);
  return fclose(file) == 0 && written == bytes ? PETREL_BOARD_OK : PETREL_BOARD_E_MISSING;
}

static uint32_t count_boots(void *user) {
  (void)user;
  return (uint32_t)getpid();
}

static const struct petrel_board board = {
    .name = PETREL_BOARD_NAME,
    .read = read_bytes,
    .write = write_bytes,
    .timer = {.hz = PETREL_TIMER_HZ,
              .bits = 64u,
              .flags = PETREL_TIMER_STOPS_IN_SLEEP,
              .start = start_timer,
              .stop = stop_timer},
    .bulk = {.read = read_file, .write = write_file},
    .boot_count = count_boots,
};

const struct petrel_board *petrel_board_init(void) { return &board; }

int32_t petrel_board_method(void) {
  const char *text = getenv("PETREL_METHOD");
  return text == NULL ? -1 : (int32_t)atoi(text);
}

void petrel_board_exit(int32_t code) { exit((int)code); }
