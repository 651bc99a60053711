// SPDX-License-Identifier: Apache-2.0
//
// Has the system give the pages of memory that will be written soon. It gives them one
// by one when they are first written, each after a fault; asked for together they take
// less, and what asks can be loading instead of the first run.
//
//   touch(data, size, pool.get());   // contents stay
//
// Owns nothing. Nobody else writes the memory meanwhile.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_TOUCH_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_TOUCH_H_

#include <pthreadpool.h>

#include <cstddef>

namespace petrel::backends::xnnpack {

// Whole pages between `data` and `data` + `size`, with these threads; null for the
// calling thread alone.
void touch(void* data, size_t size, pthreadpool_t threads);

// The same of a mapped file, all pages from the first to the last byte, that will be read.
void touch_to_read(const void* data, size_t size);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_TOUCH_H_
