// SPDX-License-Identifier: Apache-2.0
//
// Pieces of work that do not depend on one another, done by threads while their owner does
// something else, such as waiting for a disk, and then helps with what is left.
//
//   SharedWork digests(blobs.size(), work_threads() - 1, [&](size_t i) { blobs[i].sha256(); });
//   write_file(...);     // meanwhile; does not touch what the pieces change
//   digests.finish();    // all are done
//
// With no helpers nothing runs before finish(), which then is a plain loop and makes no thread.
//
// Invariant: each piece is begun once, by one thread, in ascending order; what it wrote is seen
// after finish(). No thread outlives the object: the destructor waits for the pieces that were
// begun and drops others. `work` must not throw, and keeps alive what it refers to.
#ifndef PETREL_EXIR_IR_SHARED_WORK_H_
#define PETREL_EXIR_IR_SHARED_WORK_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace petrel::exir {

// Threads that find a processor, the caller's included; at least 1.
size_t work_threads();

class SharedWork {
 public:
  using Work = std::function<void(size_t piece)>;

  // At most `helpers` threads besides the caller's; fewer where the system gives no more.
  SharedWork(size_t pieces, size_t helpers, Work work);
  ~SharedWork();
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;

  // Takes part in the work until all pieces are done. May be called again.
  void finish();

 private:
  void take_part();
  void wait_for_helpers();

  const size_t pieces_;
  const Work work_;
  std::atomic<size_t> next_{0};
  std::vector<std::thread> helpers_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_SHARED_WORK_H_
