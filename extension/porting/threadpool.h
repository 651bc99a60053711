// SPDX-License-Identifier: Apache-2.0
//
// The number of threads of the process as ExecuTorch's apps set it, before they load a program:
//
//   const uint32_t cores = executorch::extension::cpuinfo::get_num_performant_cores();
//   executorch::extension::threadpool::get_threadpool()->_unsafe_reset_threadpool(cores);
//
// Delegates and kernels share them. Work of the app's own cannot be given to them.
#ifndef PETREL_EXTENSION_PORTING_THREADPOOL_H_
#define PETREL_EXTENSION_PORTING_THREADPOOL_H_

#include <cstddef>
#include <cstdint>

#include "runtime/platform/processors.h"
#include "runtime/threads/thread_count.h"

namespace petrel::porting::extension::threadpool {

class ThreadPool final {
 public:
  size_t get_thread_count() const { return ::petrel::runtime::thread_count(); }
  // False, and nothing changes, above kMaxThreads. 0 means one for each processor.
  bool _unsafe_reset_threadpool(uint32_t threads) {
    return ::petrel::runtime::set_thread_count(threads) == ::petrel::runtime::Error::Ok;
  }
};

inline ThreadPool* get_threadpool() {
  static ThreadPool pool;
  return &pool;
}

}  // namespace petrel::porting::extension::threadpool

namespace petrel::porting::extension::cpuinfo {

// All that the process may use: which are faster is not told apart.
inline uint32_t get_num_performant_cores() {
  return static_cast<uint32_t>(::petrel::runtime::usable_processors());
}

}  // namespace petrel::porting::extension::cpuinfo

#endif  // PETREL_EXTENSION_PORTING_THREADPOOL_H_
