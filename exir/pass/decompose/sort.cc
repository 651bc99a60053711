// SPDX-License-Identifier: Apache-2.0
//
// What needs elements in order, and running values: sorting is topk of all
// elements (of equal ones the first comes first, so it is stable), a running
// value takes log2(size) steps of combining with what lies 1, 2, 4, ... before.
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int64_t dim_of(const Node& node) {
  return wrap_dim(fixed_int(node.argument(arg::dim)), tensor_at(node, arg::self)->tensor().rank());
}

Size size_along(const Value* x, int64_t dim) { return sizes_of(x)[static_cast<size_t>(dim)]; }

// All elements along `dim` in order: values and places.
absl::StatusOr<Node*> sorted(Builder& b, Value* x, int64_t dim, bool descending) {
  return b.node(aten::topk, {x, size_along(x, dim), dim, descending, true});
}

// A number is in order, at place 0.
Rewritten sorted_number(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  if (node.is(aten::msort)) return done(b, node, x);
  PETREL_ASSIGN_OR_RETURN(Value * place, b.scalar(0, ScalarType::kLong));
  if (node.num_results() == 1) return done(b, node, place);
  PETREL_RETURN_IF_ERROR(b.replace(node, {x, place}));
  return true;
}

Rewritten sort(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  if (x->tensor().rank() == 0) return sorted_number(b, node);
  const int by_name = node.op().find_arg(arg::dim);
  const int64_t dim = by_name < 0 ? 0 : dim_of(node);  // msort
  const int order = node.op().find_arg(arg::descending);
  PETREL_ASSIGN_OR_RETURN(
      Node * made,
      sorted(b, x, dim, order >= 0 && node.argument(arg::descending) == Argument(true)));
  if (node.num_results() == 2) {
    PETREL_RETURN_IF_ERROR(b.replace(node, {made->result(0), made->result(1)}));
    return true;
  }
  const bool wants_places = node.is(aten::argsort, aten::argsort_stable);
  return done(b, node, made->result(wants_places ? 1 : 0));
}

// Element `rank` in ascending order along `dim`, with its place.
absl::Status nth(Builder& b, Value* x, int64_t dim, const Size& rank, const Sizes& out,
                 Value** value, Value** place) {
  PETREL_ASSIGN_OR_RETURN(Node * made, b.node(aten::topk, {x, rank + 1, dim, false, true}));
  Value** results[] = {value, place};
  for (size_t i = 0; i < 2; ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * last, b.slice(made->result(i), dim, rank, rank + 1));
    PETREL_ASSIGN_OR_RETURN(*results[i], b.view(last, out));
  }
  return absl::OkStatus();
}

Rewritten kthvalue(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  if (!is_size(node.argument(arg::k))) return false;
  const Size k = size_in(node.argument(arg::k));
  if (x->tensor().rank() == 0) return sorted_number(b, node);
  Value *value = nullptr, *place = nullptr;
  PETREL_RETURN_IF_ERROR(nth(b, x, dim_of(node), k - 1, sizes_of(node.result()), &value, &place));
  PETREL_RETURN_IF_ERROR(b.replace(node, {value, place}));
  return true;
}

// The lower of the two in the middle; NaN where there is any.
Rewritten median(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes& out = sizes_of(node.result());
  const bool whole = node.is(aten::median);
  if (whole || x->tensor().rank() == 0) {
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, {numel_of(x)}));
  }
  const int64_t dim = whole ? 0 : dim_of(node);
  if (is_at_most(size_along(x, dim), 0)) return false;
  Value *value = nullptr, *place = nullptr;
  PETREL_RETURN_IF_ERROR(
      nth(b, x, dim, rules::floor_divide(size_along(x, dim) - 1, 2), out, &value, &place));
  if (is_floating_point(x->tensor().dtype)) {
    PETREL_ASSIGN_OR_RETURN(Value * nan, b.call(aten::isnan, {x}));
    PETREL_ASSIGN_OR_RETURN(Value * any, b.call(aten::any_dims, {nan, Ints{dim}, true}));
    PETREL_ASSIGN_OR_RETURN(any, b.view(any, out));
    PETREL_ASSIGN_OR_RETURN(Value * none, b.scalar(std::nan(""), x->tensor().dtype));
    PETREL_ASSIGN_OR_RETURN(value, b.call(aten::where_self, {any, none, value}));
    PETREL_ASSIGN_OR_RETURN(nan, b.cast(nan, ScalarType::kFloat));
    PETREL_ASSIGN_OR_RETURN(Value * first, b.call(aten::argmax, {nan, dim, true}));
    PETREL_ASSIGN_OR_RETURN(first, b.view(first, out));
    PETREL_ASSIGN_OR_RETURN(place, b.call(aten::where_self, {any, first, place}));
  }
  if (node.num_results() == 1) return done(b, node, value);
  PETREL_RETURN_IF_ERROR(b.replace(node, {value, place}));
  return true;
}

// x combined by `op` with all that stands before it along `dim`; `unit` is what
// changes nothing.
BuiltValue running(Builder& b, Value* x, int64_t dim, OpHandle op, double unit) {
  const Size size = size_along(x, dim);
  const size_t after = x->tensor().rank() - 1 - static_cast<size_t>(dim);
  // As many steps as the largest size takes; of a smaller one the last shift all.
  for (int64_t shift = 1; !is_at_most(size, shift); shift *= 2) {
    const Size kept = largest(size - shift, 0);
    Sizes pad(2 * after + 2, 0);
    pad[2 * after] = size - kept;
    PETREL_ASSIGN_OR_RETURN(Value * before, b.slice(x, dim, 0, kept));
    const Arg fill =
        is_floating_point(x->tensor().dtype) ? Arg(unit) : Arg(static_cast<int64_t>(unit));
    PETREL_ASSIGN_OR_RETURN(before, b.call(aten::constant_pad_nd, {before, pad, fill}));
    PETREL_ASSIGN_OR_RETURN(x, b.binary(op, before, x));
  }
  return x;
}

Rewritten cumprod(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x,
                          b.cast(tensor_at(node, arg::self), node.result()->tensor().dtype));
  if (x->tensor().rank() == 0) return done(b, node, x);
  return done(b, node, running(b, x, dim_of(node), aten::mul_Tensor, 1));
}

Rewritten logcumsumexp(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  if (x->tensor().rank() == 0) return done(b, node, x);
  return done(b, node, running(b, x, dim_of(node), aten::logaddexp, -kInfinity));
}

// The place is that of the last element that is as large as any before it. NaN stays behind
// it: known by places, as backends need not keep it in extremes of floats.
Rewritten cumulative_extreme(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const ScalarType dtype = x->tensor().dtype;
  if (x->tensor().rank() == 0) return sorted_number(b, node);
  if (!is_floating_point(dtype)) return false;
  const bool is_max = node.is(aten::cummax);
  const int64_t dim = dim_of(node);
  const Size size = size_along(x, dim);
  const double unit = is_max ? -kInfinity : kInfinity;
  PETREL_ASSIGN_OR_RETURN(Value * nan, b.call(aten::isnan, {x}));
  PETREL_ASSIGN_OR_RETURN(Value * least, b.scalar(unit, dtype));
  PETREL_ASSIGN_OR_RETURN(Value * value, b.call(aten::where_self, {nan, least, x}));
  PETREL_ASSIGN_OR_RETURN(value,
                          running(b, value, dim, is_max ? aten::maximum : aten::minimum, unit));
  PETREL_ASSIGN_OR_RETURN(Value * seen, b.cast(nan, ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(seen, running(b, seen, dim, aten::maximum, 0));
  PETREL_ASSIGN_OR_RETURN(seen, b.cast(seen, ScalarType::kBool));
  PETREL_ASSIGN_OR_RETURN(Value * none, b.scalar(std::nan(""), dtype));
  PETREL_ASSIGN_OR_RETURN(value, b.call(aten::where_self, {seen, none, value}));
  PETREL_ASSIGN_OR_RETURN(Value * at, b.binary(aten::eq_Tensor, x, value));
  PETREL_ASSIGN_OR_RETURN(at, b.binary(aten::logical_or, at, nan));
  PETREL_ASSIGN_OR_RETURN(Value * place,
                          b.call(aten::arange_start_step, {0, size, 1, ScalarType::kLong}));
  Sizes sizes(x->tensor().rank(), 1);
  sizes[static_cast<size_t>(dim)] = size;
  PETREL_ASSIGN_OR_RETURN(place, b.view(place, sizes));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(place, b.call(aten::where_self, {at, place, zero}));
  PETREL_ASSIGN_OR_RETURN(place, running(b, place, dim, aten::maximum, 0));
  PETREL_RETURN_IF_ERROR(b.replace(node, {value, place}));
  return true;
}

// How many boundaries lie below each element; NaN is above all.
BuiltValue count_below(Builder& b, Value* x, Value* boundaries, bool right) {
  Sizes sizes = sizes_of(x);
  sizes.push_back(1);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  PETREL_ASSIGN_OR_RETURN(Value * above,
                          b.binary(right ? aten::gt_Tensor : aten::ge_Tensor, boundaries, x));
  PETREL_ASSIGN_OR_RETURN(Value * below, b.call(aten::logical_not, {above}));
  const int64_t last = static_cast<int64_t>(sizes.size()) - 1;
  return b.call(aten::sum_dim_IntList, {below, Ints{last}, false});
}

Rewritten bucketize(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(
      Value * y, count_below(b, tensor_at(node, arg::self), tensor_at(node, arg::boundaries),
                             node.argument(arg::right) == Argument(true)));
  return done(b, node, b.cast(y, node.result()->tensor().dtype));
}

Rewritten searchsorted(Builder& b, Node& node) {
  Value* sequence = tensor_at(node, arg::sorted_sequence);
  Value* x = tensor_at(node, arg::self);
  if (!node.argument(arg::sorter).is_none()) return false;
  const bool right = node.argument(arg::right) == Argument(true) ||
                     node.argument(arg::side) == Argument(std::string("right"));
  if (sequence->tensor().rank() > 1) {
    Sizes sizes = sizes_of(sequence);
    sizes.insert(sizes.end() - 1, 1);
    PETREL_ASSIGN_OR_RETURN(sequence, b.view(sequence, sizes));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, count_below(b, x, sequence, right));
  return done(b, node, b.cast(y, node.result()->tensor().dtype));
}

constexpr Rewrite kRows[] = {
    {aten::sort, sort},
    {aten::sort_stable, sort},
    {aten::argsort, sort},
    {aten::argsort_stable, sort},
    {aten::msort, sort},
    {aten::kthvalue, kthvalue},
    {aten::median, median},
    {aten::median_dim, median},
    {aten::cumprod, cumprod},
    {aten::logcumsumexp, logcumsumexp},
    {aten::cummax, cumulative_extreme},
    {aten::cummin, cumulative_extreme},
    {aten::bucketize_Tensor, bucketize},
    {aten::searchsorted_Tensor, searchsorted},
};

}  // namespace

Rewrites sort_decompositions() { return kRows; }

}  // namespace petrel::exir
