// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

Rewritten layer_norm(Builder& b, Node& node) {
  return done(
      b, node,
      b.call(aten::native_layer_norm,
             {node.argument(arg::input), node.argument(arg::normalized_shape),
              node.argument(arg::weight), node.argument(arg::bias), node.argument(arg::eps)}));
}

BuiltValue grouped(Builder& b, Value* x, const Size& groups, const Argument& weight,
                   const Argument& bias, const Argument& eps) {
  const Sizes& sizes = sizes_of(x);
  const Size area = product(Sizes(sizes.begin() + 2, sizes.end()));
  return b.call(aten::native_group_norm, {x, weight, bias, sizes[0], sizes[1], area, groups, eps});
}

Rewritten group_norm(Builder& b, Node& node) {
  return done(
      b, node,
      grouped(b, tensor_at(node, arg::input), fixed_int(node.argument(arg::num_groups)),
              node.argument(arg::weight), node.argument(arg::bias), node.argument(arg::eps)));
}

// Statistics of each channel of each sample: a group per channel.
Rewritten instance_norm(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  if (node.argument(arg::use_input_stats) == Argument(true)) {
    const Size channels = sizes_of(x)[1];
    // Which backends may have.
    if (channels.expression().is_constant()) {
      return done(b, node,
                  b.call(aten::group_norm, {x, channels, node.argument(arg::weight),
                                            node.argument(arg::bias), node.argument(arg::eps)}));
    }
    return done(b, node,
                grouped(b, x, sizes_of(x)[1], node.argument(arg::weight), node.argument(arg::bias),
                        node.argument(arg::eps)));
  }
  if (node.argument(arg::running_mean).is_none() || node.argument(arg::running_var).is_none()) {
    return false;
  }
  return done(b, node,
              b.call(aten::_native_batch_norm_legit_no_training,
                     {x, node.argument(arg::weight), node.argument(arg::bias),
                      node.argument(arg::running_mean), node.argument(arg::running_var),
                      node.argument(arg::momentum), node.argument(arg::eps)}));
}

// Statistics of the batch itself. Running statistics would have to be written:
// with them the node stays and is reported.
Rewritten batch_norm(Builder& b, Node& node) {
  if (node.argument(arg::training) != Argument(true) ||
      !node.argument(arg::running_mean).is_none() || !node.argument(arg::running_var).is_none()) {
    return false;
  }
  return done(
      b, node,
      b.call(aten::_native_batch_norm_legit_no_stats,
             {tensor_at(node, arg::input), node.argument(arg::weight), node.argument(arg::bias),
              true, node.argument(arg::momentum), node.argument(arg::eps)}));
}

double machine_epsilon(ScalarType type) {
  switch (type) {
    case ScalarType::kHalf:
      return std::ldexp(1.0, -10);
    case ScalarType::kBFloat16:
      return std::ldexp(1.0, -7);
    case ScalarType::kDouble:
      return std::ldexp(1.0, -52);
    default:
      return std::ldexp(1.0, -23);
  }
}

// x * rsqrt(mean(x^2) + eps) * weight, in f32 for halves.
Rewritten rms_norm(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  if (node.num_results() > 1 && node.result(1)->is_used()) return false;
  const ScalarType dtype = x->tensor().dtype;
  const size_t rank = x->tensor().rank();
  const double eps = node.argument(arg::eps).is_none() ? machine_epsilon(dtype)
                                                       : fixed_number(node.argument(arg::eps));
  Ints dims;
  for (size_t i = ints_at(node, arg::normalized_shape, 1).size(); i > 0; --i) {
    dims.push_back(static_cast<int64_t>(rank - i));
  }
  PETREL_ASSIGN_OR_RETURN(x, b.cast(x, wide_type(dtype)));
  PETREL_ASSIGN_OR_RETURN(Value * s, b.call(aten::pow_Tensor_Scalar, {x, 2}));
  PETREL_ASSIGN_OR_RETURN(s, b.call(aten::mean_dim, {s, dims, true}));
  PETREL_ASSIGN_OR_RETURN(s, b.call(aten::add_Scalar, {s, eps}));
  PETREL_ASSIGN_OR_RETURN(s, b.call(aten::rsqrt, {s}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::mul_Tensor, x, s));
  if (Value* weight = tensor_at(node, arg::weight)) {
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, weight));
  }
  return done(b, node, b.cast(y, node.result()->tensor().dtype));
}

// v * (g / |v|), the length taken over all dims but one.
Rewritten weight_norm(Builder& b, Node& node) {
  if (node.num_results() > 1 && node.result(1)->is_used()) return false;
  Value* v = tensor_at(node, arg::v);
  const size_t rank = v->tensor().rank();
  const int64_t kept = wrap_dim(fixed_int(node.argument(arg::dim)), rank);
  Ints dims;
  for (int64_t dim : all_dims(rank)) {
    if (dim != kept || node.argument(arg::dim) == Argument(int64_t{-1})) {
      dims.push_back(dim);
    }
  }
  const ScalarType dtype = v->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * s, b.cast(v, wide_type(dtype)));
  PETREL_ASSIGN_OR_RETURN(s, b.call(aten::pow_Tensor_Scalar, {s, 2}));
  PETREL_ASSIGN_OR_RETURN(s, b.call(aten::sum_dim_IntList, {s, dims, true}));
  PETREL_ASSIGN_OR_RETURN(s, b.call(aten::sqrt, {s}));
  PETREL_ASSIGN_OR_RETURN(s, b.cast(s, dtype));
  PETREL_ASSIGN_OR_RETURN(s, b.binary(aten::div_Tensor, tensor_at(node, arg::g), s));
  return done(b, node, b.binary(aten::mul_Tensor, v, s));
}

constexpr Rewrite kRows[] = {
    {aten::layer_norm, layer_norm},       {aten::group_norm, group_norm},
    {aten::instance_norm, instance_norm}, {aten::batch_norm, batch_norm},
    {aten::rms_norm, rms_norm},           {aten::_fused_rms_norm, rms_norm},
    {aten::_weight_norm, weight_norm},    {aten::_weight_norm_interface, weight_norm},
};

}  // namespace

Rewrites norm_decompositions() { return kRows; }

}  // namespace petrel::exir
