// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/decompose/decompose.h"

#include <utility>

#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"

namespace petrel::exir {

std::vector<Rewrites> decompositions() {
  return {
      activation_decompositions(),  arithmetic_decompositions(),     composite_decompositions(),
      einsum_decompositions(),      embedding_bag_decompositions(),  factory_decompositions(),
      index_decompositions(),       matmul_decompositions(),         norm_decompositions(),
      pool_decompositions(),        quantized_decompositions(),      recurrent_decompositions(),
      reduction_decompositions(),   resample_decompositions(),       shape_decompositions(),
      sort_decompositions(),        special_decompositions(),        loss_decompositions(),
      volume_decompositions(),      random_decompositions(),         combine_decompositions(),
      statistic_decompositions(),   scatter_reduce_decompositions(), grid_volume_decompositions(),
      linalg_decompositions(),      calculus_decompositions(),       triangular_decompositions(),
      gamma_decompositions(),       grouped_decompositions(),        fake_quantize_decompositions(),
      transformer_decompositions(),
  };
}

ScalarType wide_type(ScalarType dtype) {
  const bool is_narrow = dtype == ScalarType::kHalf || dtype == ScalarType::kBFloat16;
  return is_narrow ? ScalarType::kFloat : dtype;
}

BuiltValue plus_part(Builder& b, Value* sum, Value* part) {
  return sum == nullptr ? part : b.binary(aten::add_Tensor, sum, part);
}

BuiltValue computed_constant(Builder& b, const char* name, ScalarType dtype, const Ints& sizes,
                             const std::vector<double>& values) {
  PETREL_ASSIGN_OR_RETURN(Blob data, encode_constant(values, dtype));
  return add_unique_constant(b.graph(), name, TensorType::contiguous(dtype, sizes),
                             std::move(data));
}

absl::StatusOr<bool> decompose(Graph& graph, const PassContext& context) {
  return apply_rewrites(graph, decompositions(), context.keep_whole);
}

}  // namespace petrel::exir
