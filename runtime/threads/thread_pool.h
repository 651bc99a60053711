// SPDX-License-Identifier: Apache-2.0
//
// The thread pool of the process. Everything that computes in parallel uses
// this one, so that threads are not created twice for the same processors.
//
//   SharedThreadPool pool = shared_thread_pool();
//   pthreadpool_parallelize_1d(pool.get(), ...);
//
// A pool stays alive while somebody holds it. After set_thread_count()
// (thread_count.h) whoever asks gets a new one; who holds the old one keeps it.
// So it is in the child of fork(), where a pool of the parent must not be used.
#ifndef PETREL_RUNTIME_THREADS_THREAD_POOL_H_
#define PETREL_RUNTIME_THREADS_THREAD_POOL_H_

#include <pthreadpool.h>

#include <memory>

#include "runtime/threads/thread_count.h"

namespace petrel::runtime {

// Null, which pthreadpool takes for "the calling thread only", when the count
// is 1 or threads cannot be made.
using SharedThreadPool = std::shared_ptr<pthreadpool>;

// Has thread_count() threads; made on first use.
SharedThreadPool shared_thread_pool();

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_THREADS_THREAD_POOL_H_
