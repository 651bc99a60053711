// SPDX-License-Identifier: Apache-2.0
//
// A layer of nn.TransformerEncoder as one call, which strict exports under torch.no_grad() have:
//
//   %x = %src + attention(%src)         %src normed first where norm_first says so
//   %y = %x + ffn(%x)                   the same; else each sum is normed
#include <cmath>
#include <cstddef>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

enum MaskType : int64_t { kOfScores = 0, kOfKeys = 1, kOfHeads = 2 };

BuiltValue normed(Builder& b, const Node& node, Value* x, ArgHandle weight, ArgHandle bias) {
  return b.call(aten::layer_norm, {x, Sizes{sizes_of(x).back()}, node.argument(weight),
                                   node.argument(bias), node.argument(arg::eps)});
}

// Of the parts of x [N, L, 3 * E] one, as [N, heads, L, E / heads].
BuiltValue heads_of(Builder& b, Value* x, int64_t part, int64_t heads, int64_t width) {
  const Sizes sizes = sizes_of(x);
  PETREL_ASSIGN_OR_RETURN(x, b.slice(x, 2, part * width, (part + 1) * width));
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {sizes[0], sizes[1], heads, width / heads}));
  return b.permute(x, {0, 2, 1, 3});
}

// Softmax of scores [N, heads, L, L] where the mask is false or zero. A row that is masked whole
// gives NaN, as it does in eager.
BuiltValue masked_weights(Builder& b, Value* scores, Value* mask, int64_t type) {
  const Sizes sizes = sizes_of(scores);
  PETREL_ASSIGN_OR_RETURN(mask, b.cast(mask, ScalarType::kBool));
  if (type == kOfKeys) {
    PETREL_ASSIGN_OR_RETURN(mask, b.view(mask, {sizes[0], 1, 1, sizes[3]}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * low, b.scalar(-HUGE_VAL, scores->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(scores, b.call(aten::where_self, {mask, low, scores}));
  return b.call(aten::_softmax, {scores, 3, false});
}

BuiltValue attention_of(Builder& b, const Node& node, Value* x) {
  const int64_t heads = fixed_int(node.argument(arg::num_heads));
  const int64_t width = fixed_int(node.argument(arg::embed_dim));
  const Sizes sizes = sizes_of(x);
  PETREL_ASSIGN_OR_RETURN(Value * all, b.call(aten::linear, {x, node.argument(arg::qkv_weight),
                                                             node.argument(arg::qkv_bias)}));
  PETREL_ASSIGN_OR_RETURN(Value * q, heads_of(b, all, 0, heads, width));
  PETREL_ASSIGN_OR_RETURN(Value * k, heads_of(b, all, 1, heads, width));
  PETREL_ASSIGN_OR_RETURN(Value * v, heads_of(b, all, 2, heads, width));
  Value* y = nullptr;
  if (Value* mask = tensor_at(node, arg::mask); mask != nullptr) {
    const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
    PETREL_ASSIGN_OR_RETURN(q, b.call(aten::mul_Scalar, {q, scale}));
    PETREL_ASSIGN_OR_RETURN(k, b.swap_last_two(k));
    PETREL_ASSIGN_OR_RETURN(Value * scores, b.call(aten::matmul, {q, k}));
    PETREL_ASSIGN_OR_RETURN(
        scores, masked_weights(b, scores, mask, fixed_int(node.argument(arg::mask_type))));
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::matmul, {scores, v}));
  } else {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::scaled_dot_product_attention, {q, k, v}));
  }
  PETREL_ASSIGN_OR_RETURN(y, b.permute(y, {0, 2, 1, 3}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::reshape, {y, sizes}));
  return b.call(aten::linear, {y, node.argument(arg::proj_weight), node.argument(arg::proj_bias)});
}

BuiltValue ffn_of(Builder& b, const Node& node, Value* x) {
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::linear, {x, node.argument(arg::ffn_weight_1),
                                                   node.argument(arg::ffn_bias_1)}));
  const bool is_gelu = node.argument(arg::use_gelu) == Argument(true);
  PETREL_ASSIGN_OR_RETURN(x, b.call(is_gelu ? aten::gelu : aten::relu, {x}));
  return b.call(aten::linear,
                {x, node.argument(arg::ffn_weight_2), node.argument(arg::ffn_bias_2)});
}

Rewritten encoder_layer(Builder& b, Node& node) {
  const bool norm_first = node.argument(arg::norm_first) == Argument(true);
  Value* x = tensor_at(node, arg::src);
  for (const bool is_attention : {true, false}) {
    const ArgHandle weight = is_attention ? arg::norm_weight_1 : arg::norm_weight_2;
    const ArgHandle bias = is_attention ? arg::norm_bias_1 : arg::norm_bias_2;
    Value* y = x;
    if (norm_first) {
      PETREL_ASSIGN_OR_RETURN(y, normed(b, node, y, weight, bias));
    }
    PETREL_ASSIGN_OR_RETURN(y, is_attention ? attention_of(b, node, y) : ffn_of(b, node, y));
    PETREL_ASSIGN_OR_RETURN(x, b.binary(aten::add_Tensor, y, x));
    if (!norm_first) {
      PETREL_ASSIGN_OR_RETURN(x, normed(b, node, x, weight, bias));
    }
  }
  return done(b, node, x);
}

constexpr Rewrite kRows[] = {{aten::_transformer_encoder_layer_fwd, encoder_layer}};

}  // namespace

Rewrites transformer_decompositions() { return kRows; }

}  // namespace petrel::exir
