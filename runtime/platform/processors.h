// SPDX-License-Identifier: Apache-2.0
//
// How many processors this process may keep busy: those it may run on, and no more than the time
// that a container gives it is enough for.
//
//   machine has 64, taskset -c 0-7          8
//   docker run --cpus 2.5                   2: a third thread would stop the others now and then

#ifndef PETREL_RUNTIME_PLATFORM_PROCESSORS_H_
#define PETREL_RUNTIME_PLATFORM_PROCESSORS_H_

#include <cstddef>

namespace petrel::runtime {

// At least 1. Asks the system, which is slow.
size_t usable_processors();

// What control groups of Linux give at most, whole processors and at least 1; 0 where they set no
// limit. Of all groups above this process the least counts. `root` is where the file systems of
// the machine begin, "" but for tests.
size_t processor_quota(const char* root);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_PROCESSORS_H_
