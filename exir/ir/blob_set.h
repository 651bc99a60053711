// SPDX-License-Identifier: Apache-2.0
//
// Blobs without repetitions, in the order in which they were first added.
//
//   BlobSet blobs;
//   blobs.add(Blob::owned({1, 2}));   // 0
//   blobs.add(Blob::owned({3, 4}));   // 1
//   blobs.add(Blob::owned({1, 2}));   // 0
//
// No more is read of a blob than tells it from the others: nothing where its size is the only
// one, its first bytes where it is not, and all of it where others begin alike. Weights of
// gigabytes are hardly read.
//
// Invariant: no two blobs of the set are equal. Nothing is copied: the set keeps Blobs.
#ifndef PETREL_EXIR_IR_BLOB_SET_H_
#define PETREL_EXIR_IR_BLOB_SET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "exir/ir/blob.h"

namespace petrel::exir {

class BlobSet {
 public:
  size_t add(const Blob& blob);  // index of the blob or of its equal
  // Index of an equal blob, or -1.
  int64_t find(const Blob& blob) const;
  const std::vector<Blob>& blobs() const { return blobs_; }

 private:
  using Head = std::pair<size_t, Sha256>;  // size and Blob::head()
  static Head head_of(const Blob& blob) { return {blob.size(), blob.head()}; }

  std::vector<Blob> blobs_;
  std::map<size_t, size_t> first_of_size_;
  std::map<Head, size_t> first_of_head_;  // of sizes that several have
  std::map<Sha256, size_t> by_digest_;    // of heads that several have
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_BLOB_SET_H_
