// SPDX-License-Identifier: Apache-2.0
//
// The sizes that vary from call to call of a method: symbols of its program, and the dim of
// an input that tells each, or the node that finds it.
//
//   f32[s31,8], f32[2*s5 + 1]       s31 is dim 0 of the first input,
//                                   s5 half of dim 0 of the second less 1
//
//   %n = aten._local_scalar_dense.default(%x) : int(u0)
//                                   u0 is what a step finds in x
//   %i = aten.nonzero.default(%x) : i64[u1,2]
//                                   u1 is how many a step finds in x
//   %f = aten._local_scalar_dense.default(%x) : float
//                                   %f is a number that a step finds, and no size
//
// Invariant: each symbol of an input is there, once.
#ifndef PETREL_EXIR_EMIT_C_METHOD_SIZES_H_
#define PETREL_EXIR_EMIT_C_METHOD_SIZES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/ir/size_range.h"

namespace petrel::exir::emit_c {

// (dim - shift) / factor, where that is whole; or the result of `finder`, which is any double
// where `is_real`.
struct MethodSize {
  std::string symbol;
  std::string member;  // of the struct of sizes
  SizeRange range;
  size_t input = 0, dim = 0;
  int64_t factor = 1, shift = 0;
  const Node* finder = nullptr;
  bool is_real = false;
};

// InvalidArgument for a size that no dim of an input tells, and for names that clash.
absl::StatusOr<std::vector<MethodSize>> find_sizes(const Graph& graph);

// The node reads an element of a tensor that becomes a size, an index or a number.
bool finds_size(const Node& node);

// The dim of its result whose size data tell, as those of a mask; nullopt for other nodes.
std::optional<size_t> dim_by_data(const Node& node);

// "number_forward_item", of a graph and its value: where the number is that such a node finds, if
// it is a float.
std::string number_member(const Value* value);

// "" or what is wrong with `size`: it needs one that no input tells, or C cannot compute it.
std::string problem_of_size(const SizeExpression& size, const std::vector<MethodSize>& sizes);
// The same for all sizes of `type`.
std::string problem_of_sizes(const TensorType& type, const std::vector<MethodSize>& sizes);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_METHOD_SIZES_H_
