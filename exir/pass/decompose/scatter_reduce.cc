// SPDX-License-Identifier: Apache-2.0
//
// What falls on one place of a tensor becomes one element: a sum or mean by scatter_add, a largest,
// smallest or product by comparing every place with every index:
//
//   %y = aten.scatter_reduce.two(%x, 0, %index, %src, "amax")      x [N], src [E]
// ->
//   %here = arange(N)[:, None] == %index                           [N, E]
//   %y = maximum(%x, amax(where(%here, %src, -inf), 1))
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

int64_t dim_of(const Node& node) {
  return wrap_dim(fixed_int(node.argument(arg::dim)), tensor_at(node, arg::self)->tensor().rank());
}

// What changes no other element of that dtype, by reduction; none where there is none.
Argument unit_of(const std::string& reduce, ScalarType dtype) {
  if (reduce == "prod" || reduce == "multiply") return Argument(int64_t{1});
  const bool is_max = reduce == "amax";
  if (is_floating_point(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Argument(is_max ? -infinity : infinity);
  }
  using Long = std::numeric_limits<int64_t>;
  using Int = std::numeric_limits<int32_t>;
  if (dtype == ScalarType::kLong) return Argument(is_max ? Long::min() : Long::max());
  if (dtype == ScalarType::kInt) return Argument(int64_t{is_max ? Int::min() : Int::max()});
  return Argument();
}

// `x` with `dim` as its last.
BuiltValue with_last(Builder& b, Value* x, int64_t dim) {
  Ints order = all_dims(x->tensor().rank());
  order.erase(order.begin() + dim);
  order.push_back(dim);
  return b.permute(x, order);
}

// A size of 1 before the last.
BuiltValue as_rows(Builder& b, Value* x) {
  Sizes sizes = sizes_of(x);
  sizes.insert(sizes.end() - 1, 1);
  return b.view(x, sizes);
}

// Sums and means.
Rewritten summed(Builder& b, Node& node) {
  const std::string reduce = node.argument(arg::reduce).as_string();
  const int own = node.op().find_arg(arg::include_self);
  const bool include = own < 0 || node.argument(arg::include_self) == Argument(true);
  const bool is_mean = reduce == "mean";
  Value* x = tensor_at(node, arg::self);
  Value* index = tensor_at(node, arg::index);
  Value* source = tensor_at(node, arg::src);
  const TensorType type = x->tensor();
  const int64_t dim = dim_of(node);
  if (type.rank() == 0 || (is_mean && !is_floating_point(type.dtype))) {
    return false;
  }
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, type.dtype));
  PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, type.dtype));
  Value* base = x;
  if (!include) {
    PETREL_ASSIGN_OR_RETURN(Value * zeros, b.expand(zero, sizes_of(index)));
    PETREL_ASSIGN_OR_RETURN(base, b.call(aten::scatter_src, {x, dim, index, zeros}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * sum, b.call(aten::scatter_add, {base, dim, index, source}));
  if (!is_mean) return done(b, node, sum);
  PETREL_ASSIGN_OR_RETURN(Value * ones, b.expand(one, sizes_of(index)));
  PETREL_ASSIGN_OR_RETURN(Value * count, b.expand(include ? one : zero, sizes_of(type)));
  PETREL_ASSIGN_OR_RETURN(count, b.call(aten::scatter_add, {count, dim, index, ones}));
  PETREL_ASSIGN_OR_RETURN(count, b.binary(aten::maximum, count, one));
  return done(b, node, b.binary(aten::div_Tensor, sum, count));
}

// The largest, the smallest or the product.
Rewritten compared(Builder& b, Node& node, const std::string& reduce, bool include) {
  Value* const self = tensor_at(node, arg::self);
  const ScalarType dtype = self->tensor().dtype;
  const Argument unit = unit_of(reduce, dtype);
  const size_t rank = self->tensor().rank();
  Value* const given[] = {tensor_at(node, arg::index), tensor_at(node, arg::src)};
  if (unit.is_none() || rank == 0 || given[0]->tensor().rank() != rank ||
      given[1]->tensor().rank() != rank || given[1]->tensor().dtype != dtype) {
    return false;
  }
  const int64_t dim = dim_of(node);
  PETREL_ASSIGN_OR_RETURN(Value * x, with_last(b, self, dim));
  PETREL_ASSIGN_OR_RETURN(Value * index, with_last(b, given[0], dim));
  PETREL_ASSIGN_OR_RETURN(Value * source, with_last(b, given[1], dim));
  const Sizes taken = sizes_of(index);
  if (!is_always(leading(taken, 1), leading(sizes_of(x), 1))) return false;
  if (taken.back().is(0)) return done(b, node, self);
  for (size_t i = 0; i < rank; ++i) {
    PETREL_ASSIGN_OR_RETURN(source, b.slice(source, static_cast<int64_t>(i), 0, taken[i]));
  }
  const Size places = sizes_of(x).back();
  if (!is_at_most(product(taken) * places, kMostTableElements)) return false;
  PETREL_ASSIGN_OR_RETURN(index, as_rows(b, index));
  PETREL_ASSIGN_OR_RETURN(source, as_rows(b, source));
  PETREL_ASSIGN_OR_RETURN(Value * here,
                          b.call(aten::arange_start_step, {0, places, 1, index->tensor().dtype}));
  PETREL_ASSIGN_OR_RETURN(here, b.view(here, {places, 1}));
  PETREL_ASSIGN_OR_RETURN(here, b.binary(aten::eq_Tensor, here, index));
  PETREL_ASSIGN_OR_RETURN(Value * other, b.scalar(unit, dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::where_self, {here, source, other}));
  const auto last = static_cast<int64_t>(rank);
  if (reduce == "amax" || reduce == "amin") {
    const bool is_max = reduce == "amax";
    PETREL_ASSIGN_OR_RETURN(y, b.call(is_max ? aten::amax : aten::amin, {y, Ints{last}}));
    if (include) {
      PETREL_ASSIGN_OR_RETURN(y, b.binary(is_max ? aten::maximum : aten::minimum, x, y));
    }
  } else {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::prod_dim_int, {y, last, false, dtype}));
    if (include) {
      PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, x, y));
    }
  }
  if (!include) {
    PETREL_ASSIGN_OR_RETURN(Value * some, b.call(aten::any_dims, {here, Ints{last}, false}));
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::where_self, {some, y, x}));
  }
  Ints back = all_dims(rank);
  back.pop_back();
  back.insert(back.begin() + dim, static_cast<int64_t>(rank) - 1);
  return done(b, node, b.permute(y, back));
}

Rewritten scatter_reduce(Builder& b, Node& node) {
  const std::string reduce = node.argument(arg::reduce).as_string();
  if (reduce == "sum" || reduce == "add" || reduce == "mean") return summed(b, node);
  const bool include = node.op().find_arg(arg::include_self) < 0 ||
                       node.argument(arg::include_self) == Argument(true);
  return compared(b, node, reduce, include);
}

// One number for all places.
Rewritten scatter_value_reduce(Builder& b, Node& node) {
  Value* const index = tensor_at(node, arg::index);
  PETREL_ASSIGN_OR_RETURN(Value * source,
                          b.scalar(node.argument(arg::value), node.result()->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(source, b.expand(source, sizes_of(index)));
  return done(b, node,
              b.call(aten::scatter_reduce, {tensor_at(node, arg::self), node.argument(arg::dim),
                                            index, source, node.argument(arg::reduce)}));
}

// One place for each row along `dim`.
Rewritten index_reduce(Builder& b, Node& node) {
  Value* index = tensor_at(node, arg::index);
  Value* const source = tensor_at(node, arg::source);
  if (source->tensor().rank() == 0) return false;
  Sizes sizes(source->tensor().rank(), 1);
  sizes[static_cast<size_t>(dim_of(node))] = numel_of(index);
  PETREL_ASSIGN_OR_RETURN(index, b.cast(index, ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(index, b.view(index, sizes));
  PETREL_ASSIGN_OR_RETURN(index, b.expand(index, sizes_of(source)));
  return done(b, node,
              b.call(aten::scatter_reduce_two,
                     {tensor_at(node, arg::self), node.argument(arg::dim), index, source,
                      node.argument(arg::reduce), node.argument(arg::include_self)}));
}

constexpr Rewrite kRows[] = {
    {aten::scatter_reduce, scatter_reduce},
    {aten::scatter_reduce_two, scatter_reduce},
    {aten::scatter_value_reduce, scatter_value_reduce},
    {aten::index_reduce, index_reduce},
};

}  // namespace

Rewrites scatter_reduce_decompositions() { return kRows; }

}  // namespace petrel::exir
