// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/loop_nest.h"

#include "exir/emit_c/literal.h"
#include "exir/emit_c/node_calls.h"

namespace petrel::exir::emit_c {
namespace {

// Of `rank` sizes petrel_offset() reads all but the first. What is never read is a number here: gcc
// leaves out to store it where it varies, and at -Os warns that it is not there.
void bind_read_sizes(KernelCall& call, const std::string& token, Extents sizes, size_t rank) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool is_read = d > 0 && d < rank;
    if (!is_read && !sizes[d].is_number()) sizes[d] = 1;
  }
  NodeCalls::bind_list(call, token, sizes);
}

}  // namespace

void LoopNest::add(const Extent& size, const Extents& strides) {
  count_ *= size;
  if (size == 1) return;
  bool joins = !sizes_.empty();
  for (size_t i = 0; i < strides_.size(); ++i) {
    joins = joins && strides_[i].back() == size * strides[i];
  }
  if (joins) {
    sizes_.back() *= size;
    for (size_t i = 0; i < strides_.size(); ++i) strides_[i].back() = strides[i];
    return;
  }
  sizes_.push_back(size);
  for (size_t i = 0; i < strides_.size(); ++i) strides_[i].push_back(strides[i]);
}

bool LoopNest::is_dense() const {
  if (sizes_.size() > 1) return false;
  for (const Extents& strides : strides_) {
    if (!strides.empty() && strides[0] != 1) return false;
  }
  return true;
}

void LoopNest::make_not_empty() {
  if (!sizes_.empty()) return;
  sizes_.push_back(1);
  for (Extents& strides : strides_) strides.push_back(0);
}

void LoopNest::bind_sizes(KernelCall& call, const std::string& prefix,
                          const std::string& count) const {
  bind_read_sizes(call, prefix + "SIZES", sizes_, sizes_.size());
  NodeCalls::bind(call, prefix + "RANK", static_cast<int64_t>(sizes_.size()));
  NodeCalls::bind(call, count, count_);
}

void LoopNest::bind_rows(KernelCall& call) const {
  bind_read_sizes(call, "SIZES", sizes_, sizes_.size() - 1);
  NodeCalls::bind(call, "OUTER_RANK", static_cast<int64_t>(sizes_.size()) - 1);
  NodeCalls::bind(call, "COLUMNS", sizes_.back());
  Extent rows = sizes_.back() == 0 ? 0 : 1;
  for (size_t d = 0; d + 1 < sizes_.size(); ++d) rows *= sizes_[d];
  NodeCalls::bind(call, "ROWS", rows);
}

Extents broadcast_strides(const TensorType& type, const Extents& sizes) {
  Extents strides = strides_of(type);
  const Extents own = extents_of(type);
  for (size_t d = 0; d < strides.size(); ++d) {
    const size_t in_result = sizes.size() - strides.size() + d;
    if (own[d] == 1 && sizes[in_result] != 1) strides[d] = 0;
  }
  strides.insert(strides.begin(), sizes.size() - strides.size(), 0);
  return strides;
}

}  // namespace petrel::exir::emit_c
