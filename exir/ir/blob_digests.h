// SPDX-License-Identifier: Apache-2.0
//
// Digests of many Blobs, computed by several threads, so that whoever asks a Blob for its digest
// afterwards has it at once. Threads begin with the object; their owner may write the blobs' bytes
// to a disk meanwhile:
//
//   BlobDigests digests(weights, work_threads());
//   write_file(...);       // reads bytes(), and asks for no digest of these
//   digests.finish();
//   weights[0].sha256();   // is there
//
// Blobs that are copies of one another are hashed once. What is produced is hashed by the
// constructor, in the caller's thread: memory stays at one such blob. Few bytes make no thread.
//
// Invariant: digests are those that sha256() computes, whatever the number of threads. The object
// keeps the blobs alive.
#ifndef PETREL_EXIR_IR_BLOB_DIGESTS_H_
#define PETREL_EXIR_IR_BLOB_DIGESTS_H_

#include <cstddef>
#include <vector>

#include "exir/ir/blob.h"
#include "exir/ir/shared_work.h"

namespace petrel::exir {

class BlobDigests {
 public:
  // `threads`: at most so many, the caller's included.
  BlobDigests(const std::vector<Blob>& blobs, size_t threads);

  // Takes part until all digests are there.
  void finish() { work_.finish(); }

 private:
  const std::vector<Blob> blobs_;  // none is produced, and each has its own digest
  SharedWork work_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_BLOB_DIGESTS_H_
