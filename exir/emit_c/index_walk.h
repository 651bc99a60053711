// SPDX-License-Identifier: Apache-2.0
//
// What tensor[i, :, j] means where several index tensors name elements together.
//
//   tensor [5, 6, 7], indices {none, [2, 1], [4]}   ->  result [5, 2, 4]
//
// The dims to which the indices are repeated together, the block, stand where the first index
// stood, or first where the indices are not beside each other.
//
//   const absl::StatusOr<IndexWalk> walk = IndexWalk::make(self, node.argument(arg::indices));
//   walk->sizes();                                   of the result
//   walk->bind(&call, {"VALUE_STRIDES", strides});   of take_at.h or put_at.h
//   call.arguments = walk->reads(calls);             their first four arguments
#ifndef PETREL_EXIR_EMIT_C_INDEX_WALK_H_
#define PETREL_EXIR_EMIT_C_INDEX_WALK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/emit_c/node_calls.h"

namespace petrel::exir::emit_c {

// It chooses, others name.
bool is_mask(const TensorType& index);

// The one index of a list, and the dim that it stands for; null where there are several, or none.
const Value* single_index(const Node& node, size_t* dim);

class IndexWalk {
 public:
  // A further operand that is walked with the result.
  struct Operand {
    std::string token;
    Extents strides;
  };

  // Unimplemented for masks, for more than four indices, and for several types of them.
  static absl::StatusOr<IndexWalk> make(const Value* self, const Argument& indices);

  const Extents& sizes() const { return sizes_; }
  void bind(KernelCall* call, const Operand& operand) const;
  std::vector<std::string> reads(const NodeCalls& calls) const;

 private:
  struct Index {
    const Value* value;
    size_t dim;       // of the tensor
    Extents strides;  // for each dim of the result
  };

  void place(const TensorType& type);

  const Value* self_ = nullptr;
  std::vector<Index> indices_;
  Extents sizes_;
  Extents strides_;  // of the tensor; 0 in the block
};

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_INDEX_WALK_H_
