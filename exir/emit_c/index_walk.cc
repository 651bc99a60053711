// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/index_walk.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/loop_nest.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// What the kernels have pointers for.
constexpr size_t kMostIndices = 4;

}  // namespace

bool is_mask(const TensorType& index) {
  return index.dtype == ScalarType::kBool || index.dtype == ScalarType::kByte;
}

const Value* single_index(const Node& node, size_t* dim) {
  const Argument& indices = node.argument(arg::indices);
  const Value* index = nullptr;
  for (size_t d = 0; indices.is_list() && d < indices.as_list().size(); ++d) {
    const Value* value = tensor_of(indices.as_list()[d]);
    if (value == nullptr) continue;
    if (index != nullptr) return nullptr;
    index = value;
    *dim = d;
  }
  return index;
}

absl::StatusOr<IndexWalk> IndexWalk::make(const Value* self, const Argument& indices) {
  IndexWalk walk;
  walk.self_ = self;
  for (size_t d = 0; indices.is_list() && d < indices.as_list().size(); ++d) {
    const Value* value = tensor_of(indices.as_list()[d]);
    if (value == nullptr) continue;
    const ScalarType type = value->tensor().dtype;
    if (type != ScalarType::kLong && type != ScalarType::kInt) {
      return absl::UnimplementedError("masks are indices in C only where one alone is read");
    }
    if (!walk.indices_.empty() && type != walk.indices_[0].value->tensor().dtype) {
      return absl::UnimplementedError("indices of several types do not exist in C yet");
    }
    walk.indices_.push_back({value, d, {}});
  }
  if (walk.indices_.empty()) return absl::UnimplementedError("there is no index");
  if (walk.indices_.size() > kMostIndices) {
    return absl::UnimplementedError(absl::StrCat(walk.indices_.size(),
                                                 " indices at once do not exist in C yet, at most ",
                                                 kMostIndices, " do"));
  }
  walk.place(self->tensor());
  return walk;
}

void IndexWalk::place(const TensorType& type) {
  Extents block;
  for (const Index& index : indices_) {
    const Extents own = extents_of(index.value->tensor());
    if (own.size() > block.size()) block.insert(block.begin(), own.size() - block.size(), 1);
    for (size_t d = 0; d < own.size(); ++d) {
      Extent& size = block[block.size() - own.size() + d];
      if (size == 1) size = own[d];
    }
  }
  const size_t first = indices_.front().dim, last = indices_.back().dim;
  const bool is_together = last - first + 1 == indices_.size();
  const Extents sizes = extents_of(type), strides = strides_of(type);
  size_t begin = 0;  // of the block
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (is_together && d == first) begin = sizes_.size();
    const bool is_named = std::any_of(indices_.begin(), indices_.end(),
                                      [&](const Index& index) { return index.dim == d; });
    if (is_named) continue;
    sizes_.push_back(sizes[d]);
    strides_.push_back(strides[d]);
  }
  const auto put = [&](Extents* list, const Extents& values) {
    list->insert(list->begin() + static_cast<std::ptrdiff_t>(begin), values.begin(), values.end());
  };
  const size_t rest = sizes_.size();
  put(&sizes_, block);
  put(&strides_, Extents(block.size(), 0));
  for (Index& index : indices_) {
    index.strides = Extents(rest, 0);
    put(&index.strides, broadcast_strides(index.value->tensor(), block));
  }
}

void IndexWalk::bind(KernelCall* call, const Operand& operand) const {
  LoopNest nest(2 + indices_.size());
  for (size_t d = 0; d < sizes_.size(); ++d) {
    Extents strides = {strides_[d], operand.strides[d]};
    for (const Index& index : indices_) strides.push_back(index.strides[d]);
    nest.add(sizes_[d], strides);
  }
  nest.bind_sizes(*call, "", "COUNT");
  NodeCalls::bind_list(*call, "STRIDES", nest.strides(0));
  NodeCalls::bind_list(*call, operand.token, nest.strides(1));
  const Extents sizes = extents_of(self_->tensor()), strides = strides_of(self_->tensor());
  Extents index_strides, limits, steps;
  for (size_t k = 0; k < indices_.size(); ++k) {
    const Extents& own = nest.strides(2 + k);
    index_strides.insert(index_strides.end(), own.begin(), own.end());
    limits.push_back(sizes[indices_[k].dim]);
    steps.push_back(strides[indices_[k].dim]);
  }
  NodeCalls::bind_list(*call, "INDEX_STRIDES", index_strides);
  NodeCalls::bind_list(*call, "LIMITS", limits);
  NodeCalls::bind_list(*call, "STEPS", steps);
  NodeCalls::bind(*call, "INDICES", static_cast<int64_t>(indices_.size()));
  call->tokens["INDEX_TYPE"] = c_type(indices_[0].value->tensor().dtype);
}

std::vector<std::string> IndexWalk::reads(const NodeCalls& calls) const {
  std::vector<std::string> texts;
  for (size_t k = 0; k < kMostIndices; ++k) {
    // What is not read is the first one again.
    texts.push_back(calls.read(indices_[k < indices_.size() ? k : 0].value));
  }
  return texts;
}

}  // namespace petrel::exir::emit_c
