// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/parallel.h"

#include <algorithm>

#include "runtime/threads/thread_pool.h"

namespace petrel::runtime::optimized {
namespace {

// A piece takes at least this long, so that handing it out costs little.
constexpr double kLeastPieceNanoseconds = 2000.0;
// Pieces per thread: more than one evens out threads that are interrupted.
constexpr size_t kPiecesPerThread = 4;

struct Call {
  RangeFunction function;
  void* context;
};

}  // namespace

void parallel_ranges(size_t count, double nanoseconds, RangeFunction function, void* context) {
  // To ask for a pool takes memory the first time.
  if (thread_count() == 1) return function(context, 0, count);
  const SharedThreadPool pool = shared_thread_pool();
  if (pool == nullptr) return function(context, 0, count);
  const size_t threads = pthreadpool_get_threads_count(pool.get());
  const size_t worth =
      static_cast<size_t>(static_cast<double>(count) * nanoseconds / kLeastPieceNanoseconds);
  const size_t pieces = std::min({count, std::max<size_t>(worth, 1), threads * kPiecesPerThread});
  Call call{function, context};
  pthreadpool_parallelize_1d_tile_1d(
      pool.get(),
      [](void* c, size_t begin, size_t size) {
        const Call* call = static_cast<const Call*>(c);
        call->function(call->context, begin, begin + size);
      },
      &call, count, (count + pieces - 1) / pieces, 0);
}

}  // namespace petrel::runtime::optimized
