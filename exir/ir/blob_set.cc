// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/blob_set.h"

namespace petrel::exir {

size_t BlobSet::add(const Blob& blob) {
  const int64_t known = find(blob);
  if (known >= 0) return static_cast<size_t>(known);
  const size_t index = blobs_.size();
  blobs_.push_back(blob);
  const auto [of_size, is_first_of_size] = first_of_size_.emplace(blob.size(), index);
  if (is_first_of_size) return index;
  const size_t first = of_size->second;
  first_of_head_.emplace(head_of(blobs_[first]), first);
  const auto [of_head, is_first_of_head] = first_of_head_.emplace(head_of(blob), index);
  if (is_first_of_head) return index;
  by_digest_.emplace(blobs_[of_head->second].sha256(), of_head->second);
  by_digest_.emplace(blob.sha256(), index);
  return index;
}

int64_t BlobSet::find(const Blob& blob) const {
  const auto of_size = first_of_size_.find(blob.size());
  if (of_size == first_of_size_.end()) return -1;
  if (blobs_[of_size->second].equals(blob)) return static_cast<int64_t>(of_size->second);
  const auto of_head = first_of_head_.find(head_of(blob));
  if (of_head == first_of_head_.end()) return -1;
  if (blobs_[of_head->second].equals(blob)) return static_cast<int64_t>(of_head->second);
  const auto equal = by_digest_.find(blob.sha256());
  return equal == by_digest_.end() ? -1 : static_cast<int64_t>(equal->second);
}

}  // namespace petrel::exir
