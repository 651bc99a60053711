/* SPDX-License-Identifier: Apache-2.0 */
#include "semihosting.h"

#include "petrel_board.h"

enum {
  OPEN = 0x01,
  CLOSE = 0x02,
  WRITE = 0x05,
  READ = 0x06,
  SEEK = 0x0a,
  CMDLINE = 0x15,
  EXIT = 0x20
};
enum { READ_BINARY = 1, WRITE_BINARY = 5, APPEND_BINARY = 9 };

#ifdef PETREL_SEMIHOSTING

#if defined(__riscv)
/* In startup.S. */
int32_t petrel_semihosting_call(uintptr_t operation, const void *arguments);

static int32_t call(uintptr_t operation, const void *arguments) {
  return petrel_semihosting_call(operation, arguments);
}
#else
static int32_t call(uintptr_t operation, const void *arguments) {
  register uintptr_t r0 __asm("r0") = operation;
  register const void *r1 __asm("r1") = arguments;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return (int32_t)r0;
}
#endif

static size_t length_of(const char *text) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

static int32_t open_file(const char *path, uintptr_t mode) {
  const uintptr_t arguments[3] = {(uintptr_t)path, mode, length_of(path)};
  return call(OPEN, arguments);
}

static void close_file(int32_t file) {
  const uintptr_t arguments[1] = {(uintptr_t)file};
  (void)call(CLOSE, arguments);
}

int32_t semihosting_read(void *user, const char *path, size_t offset, void *to, size_t bytes) {
  const int32_t file = open_file(path, READ_BINARY);
  int32_t left = 0;
  (void)user;
  if (file < 0) return PETREL_BOARD_E_MISSING;
  if (offset > 0) {
    const uintptr_t seek[2] = {(uintptr_t)file, offset};
    left = call(SEEK, seek);
  }
  if (left == 0 && bytes > 0) {
    const uintptr_t arguments[3] = {(uintptr_t)file, (uintptr_t)to, bytes};
    left = call(READ, arguments);
  }
  close_file(file);
  return left == 0 ? PETREL_BOARD_OK : PETREL_BOARD_E_MISSING;
}

int32_t semihosting_write(void *user, const char *path, size_t offset, const void *from,
                          size_t bytes) {
  const int32_t file = open_file(path, offset == 0 ? WRITE_BINARY : APPEND_BINARY);
  int32_t left = 0;
  (void)user;
  if (file < 0) return PETREL_BOARD_E_MISSING;
  if (bytes > 0) {
    const uintptr_t arguments[3] = {(uintptr_t)file, (uintptr_t)from, bytes};
    left = call(WRITE, arguments);
  }
  close_file(file);
  return left == 0 ? PETREL_BOARD_OK : PETREL_BOARD_E_MISSING;
}

int32_t semihosting_number(void) {
  char text[48];
  const char *c = text;
  int32_t number = 0;
  uintptr_t arguments[2];
  arguments[0] = (uintptr_t)text;
  arguments[1] = sizeof text;
  text[0] = '\0';
  if (call(CMDLINE, arguments) != 0) return -1;
  while (*c != '\0' && *c != ' ') ++c;
  if (*c != ' ') return -1;
  for (++c; *c >= '0' && *c <= '9' && number < 1000; ++c) number = 10 * number + (*c - '0');
  return *c == '\0' ? number : -1;
}

void semihosting_exit(int32_t code) {
  const uintptr_t arguments[2] = {0x20026u, (uintptr_t)code};
  (void)call(EXIT, arguments);
}

#else

int32_t semihosting_number(void) { return -1; }
void semihosting_exit(int32_t code) { (void)code; }

#endif
