/* SPDX-License-Identifier: Apache-2.0 */
/* What GCC's static library of C++ takes from the newest glibc, for programs that shall run
 * with older ones: arc4random(), which glibc has from 2.36 on and std::random_device calls.
 *
 *   unsigned number = arc4random();    any 32 bits, which nobody can foretell
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number;
  /* glibc ends the process, too, where there are none. */
  if (syscall(SYS_getrandom, &number, sizeof number, 0) != sizeof number) abort();
  return number;
}
