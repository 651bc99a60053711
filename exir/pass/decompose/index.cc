// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// [none, ..., index]: `index` selects along `dim`.
Argument along(int64_t dim, Value* index) {
  Argument::List indices(static_cast<size_t>(dim));
  indices.emplace_back(index);
  return Argument(std::move(indices));
}

int64_t dim_of(const Node& node) {
  return wrap_dim(fixed_int(node.argument(arg::dim)), tensor_at(node, arg::self)->tensor().rank());
}

// A number is a row of one element.
Rewritten put(Builder& b, Node& node, Value* values, bool accumulate) {
  Value* x = tensor_at(node, arg::self);
  if (x->tensor().rank() == 0) {
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, {1}));
  }
  const int64_t dim = x == tensor_at(node, arg::self) ? dim_of(node) : 0;
  PETREL_ASSIGN_OR_RETURN(
      Value * y,
      b.call(aten::index_put, {x, along(dim, tensor_at(node, arg::index)), values, accumulate}));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

Rewritten index_copy(Builder& b, Node& node) {
  return put(b, node, tensor_at(node, arg::source), false);
}

Rewritten index_add(Builder& b, Node& node) {
  Value* source = tensor_at(node, arg::source);
  const Argument& alpha = node.argument(arg::alpha);
  if (fixed_number(alpha) != 1) {
    PETREL_ASSIGN_OR_RETURN(source, b.call(aten::mul_Scalar, {source, alpha}));
  }
  return put(b, node, source, true);
}

Rewritten index_fill(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * value, b.scalar(fixed_number(node.argument(arg::value)), dtype));
  return put(b, node, value, false);
}

Rewritten index_fill_tensor(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * value, b.cast(tensor_at(node, arg::value), dtype));
  return put(b, node, value, false);
}

Rewritten masked_fill(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * value, b.cast(tensor_at(node, arg::value), x->tensor().dtype));
  return done(b, node, b.call(aten::where_self, {tensor_at(node, arg::mask), value, x}));
}

Rewritten take(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {numel_of(x)}));
  return done(b, node, b.call(aten::index_Tensor, {x, along(0, tensor_at(node, arg::index))}));
}

Rewritten take_along_dim(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* index = tensor_at(node, arg::indices);
  int64_t dim = 0;
  if (node.argument(arg::dim).is_none()) {
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, {numel_of(x)}));
    PETREL_ASSIGN_OR_RETURN(index, b.view(index, {numel_of(index)}));
  } else {
    dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
    // gather takes a smaller index, not a broadcast one.
    Sizes x_sizes = sizes_of(node.result());
    PETREL_ASSIGN_OR_RETURN(index, b.expand(index, x_sizes));
    x_sizes[static_cast<size_t>(dim)] = sizes_of(x)[static_cast<size_t>(dim)];
    PETREL_ASSIGN_OR_RETURN(x, b.expand(x, x_sizes));
    // Negative places count from the end, which gather refuses.
    PETREL_ASSIGN_OR_RETURN(index, b.cast(index, ScalarType::kLong));
    PETREL_ASSIGN_OR_RETURN(Value * wrapped,
                            b.call(aten::add_Scalar, {index, x_sizes[static_cast<size_t>(dim)]}));
    PETREL_ASSIGN_OR_RETURN(Value * is_negative, b.call(aten::lt_Scalar, {index, 0}));
    PETREL_ASSIGN_OR_RETURN(index, b.call(aten::where_self, {is_negative, wrapped, index}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::gather, {x, dim, index}));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

Rewritten one_hot(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Sizes sizes = sizes_of(x);
  sizes.push_back(1);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  PETREL_ASSIGN_OR_RETURN(
      Value * classes,
      b.call(aten::arange_start_step, {0, sizes_of(node.result()).back(), 1, x->tensor().dtype}));
  PETREL_ASSIGN_OR_RETURN(Value * hot, b.binary(aten::eq_Tensor, x, classes));
  return done(b, node, b.cast(hot, node.result()->tensor().dtype));
}

// The rows of `values` at the places where `mask` is true, in order, and any at the others. Where
// there may be no row, one of zeros stands behind them.
BuiltValue rows_at(Builder& b, Value* mask, Value* values) {
  Sizes sizes = sizes_of(mask);
  const Sizes all = sizes_of(values);
  PETREL_ASSIGN_OR_RETURN(Value * nth, b.view(mask, {product(sizes)}));
  PETREL_ASSIGN_OR_RETURN(nth, b.cast(nth, ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(nth, b.call(aten::cumsum, {nth, 0}));
  PETREL_ASSIGN_OR_RETURN(nth, b.call(aten::sub_Scalar, {nth, 1}));
  Size last = all[0] - 1;
  if (!is_at_least(all[0], 1)) {
    Sizes row = all;
    row[0] = 1;
    PETREL_ASSIGN_OR_RETURN(Value * zeros, b.scalar(0.0, values->tensor().dtype));
    PETREL_ASSIGN_OR_RETURN(zeros, b.expand(zeros, row));
    PETREL_ASSIGN_OR_RETURN(values, b.call(aten::cat, {std::vector<Value*>{values, zeros}, 0}));
    last = all[0];
  }
  PETREL_ASSIGN_OR_RETURN(nth, b.call(aten::clamp, {nth, 0, last}));
  PETREL_ASSIGN_OR_RETURN(Value * rows, b.call(aten::index_Tensor, {values, along(0, nth)}));
  sizes.insert(sizes.end(), all.begin() + 1, all.end());
  return b.view(rows, sizes);
}

// `values`, as they stand behind the mask of index_put, beside the dims of x: the dim that
// counts true places is a dim for each of the mask.
BuiltValue values_beside(Builder& b, Value* values, Value* mask, size_t rest) {
  Sizes sizes = sizes_of(values);
  if (sizes.size() <= rest) return values;
  const auto counted = static_cast<ptrdiff_t>(sizes.size() - rest - 1);
  if (sizes[static_cast<size_t>(counted)] == 1) {
    sizes.erase(sizes.begin() + counted);
    sizes.insert(sizes.begin() + counted, mask->tensor().rank(), 1);
    return b.view(values, sizes);
  }
  if (counted == 0 && !is_at_most(sizes[0], 0)) return rows_at(b, mask, values);
  return absl::UnimplementedError(
      "a mask behind other dims takes one value for each of them, not as many as it is true");
}

// Indices of int beside ones of long become long, as C has them of one type. False where all are.
Rewritten widened(Builder& b, Node& node) {
  if (!node.argument(arg::indices).is_list()) return false;
  Argument::List indices = node.argument(arg::indices).as_list();
  const auto is = [](const Argument& index, ScalarType dtype) {
    return tensor_in(index) != nullptr && tensor_in(index)->tensor().dtype == dtype;
  };
  const auto any = [&](ScalarType dtype) {
    return std::any_of(indices.begin(), indices.end(),
                       [&](const Argument& index) { return is(index, dtype); });
  };
  if (!any(ScalarType::kInt) || !any(ScalarType::kLong)) return false;
  for (Argument& index : indices) {
    if (!is(index, ScalarType::kInt)) continue;
    PETREL_ASSIGN_OR_RETURN(Value * wide, b.cast(tensor_in(index), ScalarType::kLong));
    index = Argument(wide);
  }
  std::vector<Argument> arguments = node.arguments();
  arguments[1] = Argument(std::move(indices));
  PETREL_ASSIGN_OR_RETURN(Node * made, b.node(node.op(), std::move(arguments)));
  return done(b, node, made->result());
}

// x[mask] = values: a choice between the two.
Rewritten index_put(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* value = tensor_at(node, arg::values);
  if (!node.argument(arg::indices).is_list()) return false;
  if (numel_of(value) == 1) {
    PETREL_ASSIGN_OR_RETURN(value, b.view(value, {}));
  }
  const Argument::List& indices = node.argument(arg::indices).as_list();
  Value* mask = nullptr;
  size_t first = 0, given = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].is_value()) continue;
    ++given;
    if (indices[i].value()->tensor().dtype != ScalarType::kBool) continue;
    mask = indices[i].value();
    first = i;
  }
  if (mask == nullptr) return widened(b, node);
  if (given > 1) return absl::UnimplementedError("a mask beside other indices is not supported");
  const size_t after = first + mask->tensor().rank();
  if (after > x->tensor().rank()) return false;
  const size_t rest = x->tensor().rank() - after;
  PETREL_ASSIGN_OR_RETURN(value, b.cast(value, x->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(value, values_beside(b, value, mask, rest));
  Sizes sizes = sizes_of(mask);
  sizes.insert(sizes.end(), rest, 1);
  PETREL_ASSIGN_OR_RETURN(mask, b.view(mask, sizes));
  if (node.argument(arg::accumulate) == Argument(true)) {
    PETREL_ASSIGN_OR_RETURN(value, b.binary(aten::add_Tensor, x, value));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::where_self, {mask, value, x}));
  if (!is_always(sizes_of(y), sizes_of(x))) {
    return absl::InvalidArgumentError("its mask and values do not fit what they are put into");
  }
  return done(b, node, y);
}

// The n-th true place takes the n-th element of the source.
Rewritten masked_scatter(Builder& b, Node& node) {
  const TensorType& out = node.result()->tensor();
  PETREL_ASSIGN_OR_RETURN(Value * x, b.expand(tensor_at(node, arg::self), sizes_of(out)));
  PETREL_ASSIGN_OR_RETURN(Value * mask, b.expand(tensor_at(node, arg::mask), sizes_of(out)));
  Value* source = tensor_at(node, arg::source);
  const Size count = numel_of(source);
  if (is_at_most(count, 0)) return false;
  PETREL_ASSIGN_OR_RETURN(Value * nth, b.view(mask, {product(sizes_of(out))}));
  PETREL_ASSIGN_OR_RETURN(nth, b.cast(nth, ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(nth, b.call(aten::cumsum, {nth, 0}));
  PETREL_ASSIGN_OR_RETURN(nth, b.call(aten::sub_Scalar, {nth, 1}));
  PETREL_ASSIGN_OR_RETURN(nth, b.call(aten::clamp, {nth, 0, count - 1}));
  PETREL_ASSIGN_OR_RETURN(source, b.view(source, {count}));
  PETREL_ASSIGN_OR_RETURN(Value * taken, b.call(aten::index_Tensor, {source, along(0, nth)}));
  PETREL_ASSIGN_OR_RETURN(taken, b.view(taken, sizes_of(out)));
  return done(b, node, b.call(aten::where_self, {mask, taken, x}));
}

// The kernel takes a list of places.
Rewritten index_select(Builder& b, Node& node) {
  Value* index = tensor_at(node, arg::index);
  Value* x = tensor_at(node, arg::self);
  if (index->tensor().rank() == 1 && x->tensor().rank() != 0) return false;
  PETREL_ASSIGN_OR_RETURN(index, b.view(index, {numel_of(index)}));
  if (x->tensor().rank() == 0) {
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, {1}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y,
                          b.call(aten::index_select, {x, node.argument(arg::dim), index}));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

// The kernel takes places of 64 bits, and tensors of one rank.
Rewritten scatter_add(Builder& b, Node& node) {
  Value* const operands[] = {tensor_at(node, arg::self), tensor_at(node, arg::index),
                             tensor_at(node, arg::src)};
  const bool has_line = std::any_of(std::begin(operands), std::end(operands),
                                    [](Value* operand) { return operand->tensor().rank() == 1; });
  const auto made = [&](size_t i) -> BuiltValue {
    Value* x = operands[i];
    if (has_line && x->tensor().rank() == 0) return b.view(x, {1});
    return x;
  };
  PETREL_ASSIGN_OR_RETURN(Value * x, made(0));
  PETREL_ASSIGN_OR_RETURN(Value * index, made(1));
  PETREL_ASSIGN_OR_RETURN(Value * source, made(2));
  PETREL_ASSIGN_OR_RETURN(index, b.cast(index, ScalarType::kLong));
  if (x == operands[0] && index == operands[1] && source == operands[2]) return false;
  PETREL_ASSIGN_OR_RETURN(Value * y,
                          b.call(aten::scatter_add, {x, node.argument(arg::dim), index, source}));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

// So does this one; eager takes 32 as well.
Rewritten scatter(Builder& b, Node& node) {
  Value* index = tensor_at(node, arg::index);
  if (index->tensor().dtype == ScalarType::kLong) return false;
  PETREL_ASSIGN_OR_RETURN(index, b.cast(index, ScalarType::kLong));
  return done(b, node,
              b.call(node.is(aten::scatter_src) ? aten::scatter_src : aten::scatter_value,
                     {tensor_at(node, arg::self), node.argument(arg::dim), index,
                      node.argument(arg::src, arg::value)}));
}

//   %y = isin(%x, %among)
// ->
//   %y = any(%x[..., None] == %among[all], [-1])
Rewritten isin(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::elements);
  Value* among = tensor_at(node, arg::test_elements);
  Sizes sizes = sizes_of(x);
  sizes.push_back(1);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  PETREL_ASSIGN_OR_RETURN(among, b.view(among, {numel_of(among)}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::eq_Tensor, x, among));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::any_dims, {y, Ints{-1}, false}));
  if (node.argument(arg::invert).as_bool()) return done(b, node, b.call(aten::logical_not, {y}));
  return done(b, node, y);
}

Rewritten isin_number(Builder& b, Node& node) {
  const OpHandle compare = node.argument(arg::invert).as_bool() ? aten::ne_Scalar : aten::eq_Scalar;
  return done(b, node,
              b.call(compare, {tensor_at(node, arg::elements), node.argument(arg::test_element)}));
}

constexpr Rewrite kRows[] = {
    {aten::one_hot, one_hot},
    {aten::index_Tensor, widened},
    {aten::index_put, index_put},
    {aten::masked_scatter, masked_scatter},
    {aten::index_select, index_select, true},
    {aten::scatter_add, scatter_add, true},
    {aten::scatter_src, scatter, true},
    {aten::scatter_value, scatter, true},
    {aten::isin_Tensor_Tensor, isin},
    {aten::isin_Tensor_Scalar, isin_number},
    {aten::index_copy, index_copy},
    {aten::index_add, index_add},
    {aten::index_fill_int_Scalar, index_fill},
    {aten::index_fill_int_Tensor, index_fill_tensor},
    {aten::masked_fill_Tensor, masked_fill},
    {aten::take, take},
    {aten::take_along_dim, take_along_dim},
};

}  // namespace

Rewrites index_decompositions() { return kRows; }

}  // namespace petrel::exir
