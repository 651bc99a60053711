// SPDX-License-Identifier: Apache-2.0
//
// The thread pool of the process. Everything that computes in parallel uses
// this one, so that threads are not created twice for the same processors.
//
//   set_thread_count(2);                       // optional, before loading
//   SharedThreadPool pool = shared_thread_pool();
//   pthreadpool_parallelize_1d(pool.get(), ...);
//
// A pool stays alive while somebody holds it. Changing the count makes a new
// pool for those who ask afterwards: methods that were loaded before keep the
// threads they were loaded with.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_THREAD_POOL_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_THREAD_POOL_H_

#include <pthreadpool.h>

#include <cstddef>
#include <memory>

#include "runtime/core/error.h"

namespace petrel::backends::xnnpack {

// Null, which pthreadpool takes for "the calling thread only", when the count
// is 1 or threads cannot be made.
using SharedThreadPool = std::shared_ptr<pthreadpool>;

inline constexpr size_t kMaxThreads = 1024;

// Made on first use, with as many threads as there are processors to run on
// unless set_thread_count said otherwise.
SharedThreadPool shared_thread_pool();

// Threads, the caller's included, of pools from now on. 0 means one for each
// processor. InvalidArgument above kMaxThreads.
runtime::Error set_thread_count(size_t count);
size_t thread_count();

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_THREAD_POOL_H_
