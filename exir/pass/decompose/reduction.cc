// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <limits>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

size_t rank_of(const Node& node) { return tensor_at(node, arg::self)->tensor().rank(); }

// The dims that a reduction takes, non-negative; none or an empty list is all.
Ints reduced_dims(const Node& node, ArgHandle name = arg::dim) {
  Ints dims = ints_at(node, name, 1);
  if (dims.empty()) return all_dims(rank_of(node));
  for (int64_t& dim : dims) dim = wrap_dim(dim, rank_of(node));
  return dims;
}

Argument keepdim(const Node& node) {
  const Argument* given = find_argument(node, arg::keepdim);
  return given == nullptr ? Argument(false) : *given;
}

Rewritten mean(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  const bool has_dims = node.op().find_arg(arg::dim) >= 0;
  const Ints dims = has_dims ? reduced_dims(node) : all_dims(rank_of(node));
  if (has_dims && node.argument(arg::dim) == Argument(dims) &&
      node.argument(arg::dtype).is_none()) {
    return false;
  }
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::self), dtype));
  return done(b, node, b.call(aten::mean_dim, {x, dims, keepdim(node)}));
}

// The dtype decides in what the sum is taken, so it stays.
Rewritten sum(Builder& b, Node& node) {
  const bool has_dims = node.op().find_arg(arg::dim) >= 0;
  const Ints dims = has_dims ? reduced_dims(node) : all_dims(rank_of(node));
  if (has_dims && node.argument(arg::dim) == Argument(dims)) return false;
  return done(b, node,
              b.call(aten::sum_dim_IntList,
                     {tensor_at(node, arg::self), dims, keepdim(node), node.argument(arg::dtype)}));
}

// amax, amin: dims non-negative.
Rewritten extreme(Builder& b, Node& node) {
  const Ints dims = reduced_dims(node);
  if (node.argument(arg::dim) == Argument(dims)) return false;
  PETREL_ASSIGN_OR_RETURN(
      Node * made, b.node(node.op(), {node.argument(arg::self), Argument(dims), keepdim(node)}));
  return done(b, node, made->result());
}

Rewritten aminmax(Builder& b, Node& node) {
  const Ints dims = reduced_dims(node);
  PETREL_ASSIGN_OR_RETURN(Value * low,
                          b.call(aten::amin, {tensor_at(node, arg::self), dims, keepdim(node)}));
  PETREL_ASSIGN_OR_RETURN(Value * high,
                          b.call(aten::amax, {tensor_at(node, arg::self), dims, keepdim(node)}));
  PETREL_RETURN_IF_ERROR(b.replace(node, {low, high}));
  return true;
}

// all(x) = not any(not x)
Rewritten all(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x, b.call(aten::logical_not, {tensor_at(node, arg::self)}));
  if (node.is(aten::all)) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::any, {x}));
  } else {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::any_dims, {x, reduced_dims(node), keepdim(node)}));
  }
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::logical_not, {x}));
  return done(b, node, b.cast(x, node.result()->tensor().dtype));
}

BuiltValue variance(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  if (node.op().find_arg(arg::correction) >= 0) {
    return b.call(aten::var_correction,
                  {x, reduced_dims(node), node.argument(arg::correction), keepdim(node)});
  }
  const Ints dims = node.op().find_arg(arg::dim) < 0 ? all_dims(rank_of(node)) : reduced_dims(node);
  return b.call(aten::var_dim, {x, dims, node.argument(arg::unbiased), keepdim(node)});
}

Rewritten var(Builder& b, Node& node) { return done(b, node, variance(b, node)); }

Rewritten deviation(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, variance(b, node));
  return done(b, node, b.call(aten::sqrt, {y}));
}

BuiltValue mean_of(Builder& b, Node& node) {
  const Ints dims = node.op().find_arg(arg::dim) < 0 ? all_dims(rank_of(node)) : reduced_dims(node);
  return b.call(aten::mean_dim, {tensor_at(node, arg::self), dims, keepdim(node)});
}

Rewritten var_mean(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, variance(b, node));
  PETREL_ASSIGN_OR_RETURN(Value * m, mean_of(b, node));
  PETREL_RETURN_IF_ERROR(b.replace(node, {y, m}));
  return true;
}

Rewritten std_mean(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, variance(b, node));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::sqrt, {y}));
  PETREL_ASSIGN_OR_RETURN(Value * m, mean_of(b, node));
  PETREL_RETURN_IF_ERROR(b.replace(node, {y, m}));
  return true;
}

// m + log(sum(exp(x - m))) with m the largest finite or infinite x. Where m is
// infinite, x - m would be NaN: 0 is subtracted there. Of integers without a sign, and of truths,
// the difference would wrap.
Rewritten logsumexp(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x,
                          b.cast(tensor_at(node, arg::self), node.result()->tensor().dtype));
  const Ints dims = reduced_dims(node);
  PETREL_ASSIGN_OR_RETURN(Value * m, b.call(aten::amax, {x, dims, true}));
  PETREL_ASSIGN_OR_RETURN(Value * inf, b.call(aten::isinf, {m}));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, m->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(m, b.call(aten::where_self, {inf, zero, m}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::sub_Tensor, x, m));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::exp, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::sum_dim_IntList, {y, dims, true}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::log, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, m));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

// (sum |x|^p)^(1/p); p = 0 counts, p = inf takes the largest.
Rewritten vector_norm(Builder& b, Node& node, double p, const Ints& dims) {
  const ScalarType dtype = node.result()->tensor().dtype;
  const bool has_powers = !std::isinf(p) && p != 0 && p != 1;
  PETREL_ASSIGN_OR_RETURN(
      Value * x, b.cast(tensor_at(node, arg::self), has_powers ? wide_type(dtype) : dtype));
  const Argument keep = keepdim(node);
  if (std::isinf(p)) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::abs, {x}));
    return done(b, node, b.call(p > 0 ? aten::amax : aten::amin, {x, dims, keep}));
  }
  if (p == 0) {
    PETREL_ASSIGN_OR_RETURN(Value * some, b.call(aten::ne_Scalar, {x, 0}));
    PETREL_ASSIGN_OR_RETURN(x, b.cast(some, x->tensor().dtype));
    return done(b, node, b.call(aten::sum_dim_IntList, {x, dims, keep}));
  }
  if (p == 2) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::pow_Tensor_Scalar, {x, 2}));
  } else {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::abs, {x}));
    if (p != 1) {
      PETREL_ASSIGN_OR_RETURN(x, b.call(aten::pow_Tensor_Scalar, {x, p}));
    }
  }
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::sum_dim_IntList, {x, dims, keep}));
  if (p == 1) return done(b, node, x);
  if (p == 2) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::sqrt, {x}));
  } else {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::pow_Tensor_Scalar, {x, 1 / p}));
  }
  return done(b, node, b.cast(x, dtype));
}

Rewritten norm(Builder& b, Node& node) {
  const Argument* order = find_argument(node, arg::ord);
  if (order == nullptr) order = find_argument(node, arg::p);
  const double p = order != nullptr && order->is_number() ? fixed_number(*order) : 2;
  const bool has_dims = node.op().find_arg(arg::dim) >= 0;
  return vector_norm(b, node, p, has_dims ? reduced_dims(node) : all_dims(rank_of(node)));
}

// linalg.norm and linalg.matrix_norm where they are norms of vectors: without an
// order, over one dim, or Frobenius'. Singular values are not computed.
Rewritten matrix_norm(Builder& b, Node& node) {
  const Argument& order = node.argument(arg::ord);
  const size_t dims = node.argument(arg::dim).is_none() ? rank_of(node) : reduced_dims(node).size();
  const bool is_of_vectors =
      order.is_string() ? order.as_string() == "fro" : order.is_none() || dims <= 1;
  return is_of_vectors ? norm(b, node) : false;
}

Rewritten count_nonzero(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * some, b.call(aten::ne_Scalar, {tensor_at(node, arg::self), 0}));
  return done(b, node, b.call(aten::sum_dim_IntList, {some, reduced_dims(node)}));
}

Rewritten nansum(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  if (is_floating_point(x->tensor().dtype)) {
    PETREL_ASSIGN_OR_RETURN(Value * nan, b.call(aten::isnan, {x}));
    PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, x->tensor().dtype));
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::where_self, {nan, zero, x}));
  }
  return done(b, node,
              b.call(aten::sum_dim_IntList,
                     {x, reduced_dims(node), keepdim(node), node.argument(arg::dtype)}));
}

// The sum of what is a number over how many there are.
Rewritten nanmean(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Ints dims = reduced_dims(node);
  PETREL_ASSIGN_OR_RETURN(Value * nan, b.call(aten::isnan, {x}));
  PETREL_ASSIGN_OR_RETURN(nan, b.call(aten::logical_not, {nan}));
  PETREL_ASSIGN_OR_RETURN(Value * count, b.call(aten::sum_dim_IntList, {nan, dims, keepdim(node)}));
  PETREL_ASSIGN_OR_RETURN(
      Value * sum, b.call(aten::nansum, {x, dims, keepdim(node), node.argument(arg::dtype)}));
  return done(b, node, b.binary(aten::div_Tensor, sum, count));
}

constexpr Rewrite kRows[] = {
    {aten::mean, mean},
    {aten::mean_dim, mean, true},
    {aten::sum, sum},
    {aten::sum_dim_IntList, sum, true},
    {aten::amax, extreme, true},
    {aten::amin, extreme, true},
    {aten::aminmax, aminmax},
    {aten::all, all},
    {aten::all_dim, all},
    {aten::all_dims, all},
    {aten::var, var},
    {aten::std, deviation},
    {aten::std_dim, deviation},
    {aten::std_correction, deviation},
    {aten::var_mean, var_mean},
    {aten::var_mean_dim, var_mean},
    {aten::var_mean_correction, var_mean},
    {aten::std_mean, std_mean},
    {aten::std_mean_dim, std_mean},
    {aten::std_mean_correction, std_mean},
    {aten::nansum, nansum},
    {aten::nanmean, nanmean},
    {aten::logsumexp, logsumexp},
    {aten::linalg_vector_norm, norm},
    {aten::linalg_norm, matrix_norm},
    {aten::linalg_norm_ord_str, matrix_norm},
    {aten::linalg_matrix_norm_str_ord, matrix_norm},
    {aten::norm_ScalarOpt_dim, norm},
    {aten::norm_Scalar, norm},
    {aten::frobenius_norm_dim, norm},
    {aten::count_nonzero, count_nonzero},
    {aten::count_nonzero_dim_IntList, count_nonzero},
};

}  // namespace

Rewrites reduction_decompositions() { return kRows; }

}  // namespace petrel::exir
