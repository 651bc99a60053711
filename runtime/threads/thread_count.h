// SPDX-License-Identifier: Apache-2.0
//
// How many threads this process computes with. Only a number: who never asks
// for a pool (thread_pool.h) links no threads.
//
//   PETREL_RETURN_IF_ERROR(set_thread_count(2));  // optional, before loading
#ifndef PETREL_RUNTIME_THREADS_THREAD_COUNT_H_
#define PETREL_RUNTIME_THREADS_THREAD_COUNT_H_

#include <cstddef>

#include "runtime/core/error.h"

namespace petrel::runtime {

inline constexpr size_t kMaxThreads = 1024;

// Threads, the caller's included, from now on. 0 means one for each processor that this process
// may keep busy (runtime/platform/processors.h).
// InvalidArgument above kMaxThreads.
Error set_thread_count(size_t count);

// What set_thread_count() was given, 0 replaced by the number of processors.
size_t thread_count();

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_THREADS_THREAD_COUNT_H_
