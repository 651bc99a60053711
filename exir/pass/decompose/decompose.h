// SPDX-License-Identifier: Apache-2.0
//
// Writes composite operators as the ones that backends and kernels know, before
// partitioning. What a backend may want whole stays whole here (linear,
// attention, softmax, layer norm, gelu, silu, hardswish, pooling, ...), and so
// does what context.keep_whole names; lower_to_kernels.h takes that apart later.
//
//   before   %a = aten.matmul.default(%x, %y)       : f32[2,4,8] x f32[8,5]
//            %b = aten.softmax.int(%a, -1, none)
//            %c = aten.adaptive_avg_pool2d.default(%i, [1, 1])
//   after    %v = aten.view.default(%x, [8, 8])
//            %m = aten.mm.default(%v, %y)
//            %a = aten.view.default(%m, [2, 4, 5])
//            %b = aten._softmax.default(%a, 2, false)
//            %c = aten.mean.dim(%i, [2, 3], true, none)
//
// One row per operator, by family.
#ifndef PETREL_EXIR_PASS_DECOMPOSE_DECOMPOSE_H_
#define PETREL_EXIR_PASS_DECOMPOSE_DECOMPOSE_H_

#include <vector>

#include "exir/pass/framework/pass.h"
#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {

absl::StatusOr<bool> decompose(Graph& graph, const PassContext& context);

// The rows of every family: what this pass applies before partitioning, and
// lower_to_kernels again after it.
std::vector<Rewrites> decompositions();

Rewrites activation_decompositions();
Rewrites arithmetic_decompositions();
Rewrites calculus_decompositions();
Rewrites combine_decompositions();
Rewrites composite_decompositions();
Rewrites einsum_decompositions();
Rewrites embedding_bag_decompositions();
Rewrites factory_decompositions();
Rewrites fake_quantize_decompositions();
Rewrites gamma_decompositions();
Rewrites grid_volume_decompositions();
Rewrites grouped_decompositions();
Rewrites index_decompositions();
Rewrites linalg_decompositions();
Rewrites loss_decompositions();
Rewrites matmul_decompositions();
Rewrites norm_decompositions();
Rewrites pool_decompositions();
Rewrites quantized_decompositions();
Rewrites random_decompositions();
Rewrites recurrent_decompositions();
Rewrites reduction_decompositions();
Rewrites resample_decompositions();
Rewrites scatter_reduce_decompositions();
Rewrites shape_decompositions();
Rewrites sort_decompositions();
Rewrites special_decompositions();
Rewrites statistic_decompositions();
Rewrites transformer_decompositions();
Rewrites triangular_decompositions();
Rewrites volume_decompositions();

// The type in which several steps are computed that eager does in one: of half and bfloat16
// floats, which hold their squares and products.
ScalarType wide_type(ScalarType dtype);

// A constant that a row computes: `values` in row-major order.
BuiltValue computed_constant(Builder& b, const char* name, ScalarType dtype, const Ints& sizes,
                             const std::vector<double>& values);

// sum + part; the part alone where `sum` is null.
BuiltValue plus_part(Builder& b, Value* sum, Value* part);

// The row of an adaptive max pool of any rank: windows need not be alike, and
// the places of the largest elements are computed.
absl::StatusOr<bool> adaptive_max_pool_windows(Builder& b, Node& node);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_DECOMPOSE_DECOMPOSE_H_
