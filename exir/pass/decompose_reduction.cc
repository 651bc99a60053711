// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <limits>

#include "exir/pass/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

size_t rank_of(const Node& node) { return tensor_at(node, 0)->tensor().rank(); }

// The dims that a reduction takes, non-negative; none or an empty list is all.
Ints reduced_dims(const Node& node, const std::string& name = "dim") {
  Ints dims = ints_at(node, name, 1);
  if (dims.empty()) return all_dims(rank_of(node));
  for (int64_t& dim : dims) dim = wrap_dim(dim, rank_of(node));
  return dims;
}

Argument keepdim(const Node& node) {
  const int i = node.op().find_arg("keepdim");
  return i < 0 ? Argument(false) : node.argument(static_cast<size_t>(i));
}

Rewritten mean(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  const bool has_dims = node.op().find_arg("dim") >= 0;
  const Ints dims = has_dims ? reduced_dims(node) : all_dims(rank_of(node));
  if (has_dims && node.argument("dim") == Argument(dims) && node.argument("dtype").is_none()) {
    return false;
  }
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, 0), dtype));
  return done(b, node, b.call("aten.mean.dim", {x, dims, keepdim(node)}));
}

// The dtype decides in what the sum is taken, so it stays.
Rewritten sum(Builder& b, Node& node) {
  const bool has_dims = node.op().find_arg("dim") >= 0;
  const Ints dims = has_dims ? reduced_dims(node) : all_dims(rank_of(node));
  if (has_dims && node.argument("dim") == Argument(dims)) return false;
  return done(b, node,
              b.call("aten.sum.dim_IntList",
                     {tensor_at(node, 0), dims, keepdim(node), node.argument("dtype")}));
}

// amax, amin: dims non-negative.
Rewritten extreme(Builder& b, Node& node) {
  const Ints dims = reduced_dims(node);
  if (node.argument(1) == Argument(dims)) return false;
  PETREL_ASSIGN_OR_RETURN(Node * made,
                          b.node(node.op(), {node.argument(0), Argument(dims), keepdim(node)}));
  return done(b, node, made->result());
}

Rewritten aminmax(Builder& b, Node& node) {
  const Ints dims = reduced_dims(node);
  PETREL_ASSIGN_OR_RETURN(Value * low,
                          b.call("aten.amin.default", {tensor_at(node, 0), dims, keepdim(node)}));
  PETREL_ASSIGN_OR_RETURN(Value * high,
                          b.call("aten.amax.default", {tensor_at(node, 0), dims, keepdim(node)}));
  PETREL_RETURN_IF_ERROR(b.replace(node, {low, high}));
  return true;
}

// all(x) = not any(not x)
Rewritten all(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x, b.call("aten.logical_not.default", {tensor_at(node, 0)}));
  if (node.op().overload.empty()) {
    PETREL_ASSIGN_OR_RETURN(x, b.call("aten.any.default", {x}));
  } else {
    PETREL_ASSIGN_OR_RETURN(x, b.call("aten.any.dims", {x, reduced_dims(node), keepdim(node)}));
  }
  PETREL_ASSIGN_OR_RETURN(x, b.call("aten.logical_not.default", {x}));
  return done(b, node, b.cast(x, node.result()->tensor().dtype));
}

BuiltValue variance(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  if (node.op().find_arg("correction") >= 0) {
    return b.call("aten.var.correction",
                  {x, reduced_dims(node), node.argument("correction"), keepdim(node)});
  }
  const Ints dims = node.op().find_arg("dim") < 0 ? all_dims(rank_of(node)) : reduced_dims(node);
  return b.call("aten.var.dim", {x, dims, node.argument("unbiased"), keepdim(node)});
}

Rewritten var(Builder& b, Node& node) { return done(b, node, variance(b, node)); }

Rewritten deviation(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, variance(b, node));
  return done(b, node, b.call("aten.sqrt.default", {y}));
}

BuiltValue mean_of(Builder& b, Node& node) {
  const Ints dims = node.op().find_arg("dim") < 0 ? all_dims(rank_of(node)) : reduced_dims(node);
  return b.call("aten.mean.dim", {tensor_at(node, 0), dims, keepdim(node)});
}

Rewritten var_mean(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, variance(b, node));
  PETREL_ASSIGN_OR_RETURN(Value * m, mean_of(b, node));
  PETREL_RETURN_IF_ERROR(b.replace(node, {y, m}));
  return true;
}

Rewritten std_mean(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, variance(b, node));
  PETREL_ASSIGN_OR_RETURN(y, b.call("aten.sqrt.default", {y}));
  PETREL_ASSIGN_OR_RETURN(Value * m, mean_of(b, node));
  PETREL_RETURN_IF_ERROR(b.replace(node, {y, m}));
  return true;
}

// m + log(sum(exp(x - m))) with m the largest finite or infinite x. Where m is
// infinite, x - m would be NaN: 0 is subtracted there.
Rewritten logsumexp(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const Ints dims = reduced_dims(node);
  PETREL_ASSIGN_OR_RETURN(Value * m, b.call("aten.amax.default", {x, dims, true}));
  PETREL_ASSIGN_OR_RETURN(Value * inf, b.call("aten.isinf.default", {m}));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, m->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(m, b.call("aten.where.self", {inf, zero, m}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary("aten.sub.Tensor", x, m));
  PETREL_ASSIGN_OR_RETURN(y, b.call("aten.exp.default", {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call("aten.sum.dim_IntList", {y, dims, true}));
  PETREL_ASSIGN_OR_RETURN(y, b.call("aten.log.default", {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary("aten.add.Tensor", y, m));
  return done(b, node, b.view(y, node.result()->tensor().sizes));
}

// (sum |x|^p)^(1/p); p = 0 counts, p = inf takes the largest.
Rewritten vector_norm(Builder& b, Node& node, double p, const Ints& dims) {
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, 0), node.result()->tensor().dtype));
  const Argument keep = keepdim(node);
  if (std::isinf(p)) {
    PETREL_ASSIGN_OR_RETURN(x, b.call("aten.abs.default", {x}));
    return done(b, node,
                b.call(p > 0 ? "aten.amax.default" : "aten.amin.default", {x, dims, keep}));
  }
  if (p == 0) {
    PETREL_ASSIGN_OR_RETURN(Value * some, b.call("aten.ne.Scalar", {x, 0}));
    PETREL_ASSIGN_OR_RETURN(x, b.cast(some, x->tensor().dtype));
    return done(b, node, b.call("aten.sum.dim_IntList", {x, dims, keep}));
  }
  if (p == 2) {
    PETREL_ASSIGN_OR_RETURN(x, b.call("aten.pow.Tensor_Scalar", {x, 2}));
  } else {
    PETREL_ASSIGN_OR_RETURN(x, b.call("aten.abs.default", {x}));
    if (p != 1) {
      PETREL_ASSIGN_OR_RETURN(x, b.call("aten.pow.Tensor_Scalar", {x, p}));
    }
  }
  PETREL_ASSIGN_OR_RETURN(x, b.call("aten.sum.dim_IntList", {x, dims, keep}));
  if (p == 1) return done(b, node, x);
  if (p == 2) return done(b, node, b.call("aten.sqrt.default", {x}));
  return done(b, node, b.call("aten.pow.Tensor_Scalar", {x, 1 / p}));
}

Rewritten norm(Builder& b, Node& node) {
  const char* name = node.op().find_arg("ord") >= 0 ? "ord" : "p";
  const bool has_order = node.op().find_arg(name) >= 0;
  const double p =
      has_order && node.argument(name).is_number() ? node.argument(name).as_number() : 2;
  const bool has_dims = node.op().find_arg("dim") >= 0;
  return vector_norm(b, node, p, has_dims ? reduced_dims(node) : all_dims(rank_of(node)));
}

// linalg.norm and linalg.matrix_norm where they are norms of vectors: without an
// order, over one dim, or Frobenius'. Singular values are not computed.
Rewritten matrix_norm(Builder& b, Node& node) {
  const Argument& order = node.argument("ord");
  const size_t dims = node.argument("dim").is_none() ? rank_of(node) : reduced_dims(node).size();
  const bool is_of_vectors =
      order.is_string() ? order.as_string() == "fro" : order.is_none() || dims <= 1;
  return is_of_vectors ? norm(b, node) : false;
}

Rewritten count_nonzero(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * some, b.call("aten.ne.Scalar", {tensor_at(node, 0), 0}));
  return done(b, node, b.call("aten.sum.dim_IntList", {some, reduced_dims(node)}));
}

Rewritten nansum(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  if (is_floating_point(x->tensor().dtype)) {
    PETREL_ASSIGN_OR_RETURN(Value * nan, b.call("aten.isnan.default", {x}));
    PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, x->tensor().dtype));
    PETREL_ASSIGN_OR_RETURN(x, b.call("aten.where.self", {nan, zero, x}));
  }
  return done(b, node,
              b.call("aten.sum.dim_IntList",
                     {x, reduced_dims(node), keepdim(node), node.argument("dtype")}));
}

constexpr Rewrite kRows[] = {
    {"aten.mean.default", mean},
    {"aten.mean.dim", mean, true},
    {"aten.sum.default", sum},
    {"aten.sum.dim_IntList", sum, true},
    {"aten.amax.default", extreme, true},
    {"aten.amin.default", extreme, true},
    {"aten.aminmax.default", aminmax},
    {"aten.all.default", all},
    {"aten.all.dim", all},
    {"aten.all.dims", all},
    {"aten.var.default", var},
    {"aten.std.default", deviation},
    {"aten.std.dim", deviation},
    {"aten.std.correction", deviation},
    {"aten.var_mean.default", var_mean},
    {"aten.var_mean.dim", var_mean},
    {"aten.var_mean.correction", var_mean},
    {"aten.std_mean.default", std_mean},
    {"aten.std_mean.dim", std_mean},
    {"aten.std_mean.correction", std_mean},
    {"aten.nansum.default", nansum},
    {"aten.logsumexp.default", logsumexp},
    {"aten.linalg_vector_norm.default", norm},
    {"aten.linalg_norm.default", matrix_norm},
    {"aten.linalg_matrix_norm.str_ord", matrix_norm},
    {"aten.norm.ScalarOpt_dim", norm},
    {"aten.norm.Scalar", norm},
    {"aten.frobenius_norm.dim", norm},
    {"aten.count_nonzero.default", count_nonzero},
    {"aten.count_nonzero.dim_IntList", count_nonzero},
};

}  // namespace

Rewrites reduction_decompositions() { return kRows; }

}  // namespace petrel::exir
