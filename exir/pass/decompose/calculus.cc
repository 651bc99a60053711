// SPDX-License-Identifier: Apache-2.0
//
// Derivatives and integrals of samples.
//
//   trapezoid(y, x)   sum of (y[i] + y[i+1]) (x[i+1] - x[i]) / 2
//   gradient(y)       at i: what is made of y[i-1], y[i] and y[i+1]; at an end, of the two or
//                     three samples there
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// Expressions of tensors; what failed stays failed.
class Algebra {
 public:
  explicit Algebra(Builder& b) : b_(b) {}
  BuiltValue add(const BuiltValue& x, const BuiltValue& y) const {
    return both(aten::add_Tensor, x, y);
  }
  BuiltValue sub(const BuiltValue& x, const BuiltValue& y) const {
    return both(aten::sub_Tensor, x, y);
  }
  BuiltValue mul(const BuiltValue& x, const BuiltValue& y) const {
    return both(aten::mul_Tensor, x, y);
  }
  BuiltValue div(const BuiltValue& x, const BuiltValue& y) const {
    return both(aten::div_Tensor, x, y);
  }
  BuiltValue times(double number, const BuiltValue& x) const {
    if (!x.ok() || number == 1) return x;
    return b_.call(aten::mul_Scalar, {*x, number});
  }
  // Of `count` elements along `dim` from `start` on; negative: from the end.
  BuiltValue part(const BuiltValue& x, int64_t dim, int64_t start, const Size& count) const {
    if (!x.ok()) return x;
    const Size first = start < 0 ? sizes_of(*x)[static_cast<size_t>(dim)] + start : Size(start);
    return b_.slice(*x, dim, first, first + count);
  }

 private:
  BuiltValue both(OpHandle op, const BuiltValue& x, const BuiltValue& y) const {
    if (!x.ok()) return x;
    if (!y.ok()) return y;
    return b_.binary(op, *x, *y);
  }

  Builder& b_;
};

// y[i + 1] and y[i] along `dim`.
struct Neighbours {
  BuiltValue before, after;

  Neighbours(const Algebra& a, Value* y, int64_t dim)
      : before(a.part(y, dim, 0, count(y, dim))), after(a.part(y, dim, 1, count(y, dim))) {}
  static Size count(Value* y, int64_t dim) {
    return rules::largest(sizes_of(y)[static_cast<size_t>(dim)] - 1, 0);
  }
};

// The weights that make a derivative of three samples in a row.
struct Stencil {
  BuiltValue first, middle, last;
};

// Samples at places h and then k apart: the derivative in the middle, at the first and at the last.
enum class Place : uint8_t { kFirst, kMiddle, kLast };

Stencil stencil(const Algebra& a, const BuiltValue& h, const BuiltValue& k, Place place) {
  const BuiltValue sum = a.add(h, k);
  const BuiltValue of_first = a.mul(h, sum), of_middle = a.mul(h, k), of_last = a.mul(k, sum);
  switch (place) {
    case Place::kFirst:
      return {a.times(-1, a.div(a.add(sum, h), of_first)), a.div(sum, of_middle),
              a.times(-1, a.div(h, of_last))};
    case Place::kMiddle:
      return {a.times(-1, a.div(k, of_first)), a.div(a.sub(k, h), of_middle), a.div(h, of_last)};
    case Place::kLast:
      break;
  }
  return {a.div(k, of_first), a.times(-1, a.div(sum, of_middle)), a.div(a.add(sum, k), of_last)};
}

// Along one dim of `y`, whose samples are `gaps` apart: one fewer than there are samples, with
// the other dims of size 1.
BuiltValue derivative(Builder& b, Value* y, int64_t dim, const BuiltValue& gaps, bool is_exact) {
  const Algebra a(b);
  const Size inner = sizes_of(y)[static_cast<size_t>(dim)] - 2;
  const auto weighed = [&](const Stencil& s, int64_t start, const Size& count) {
    return a.add(a.add(a.mul(a.part(y, dim, start, count), s.first),
                       a.mul(a.part(y, dim, start + 1, count), s.middle)),
                 a.mul(a.part(y, dim, start + 2, count), s.last));
  };
  const auto end = [&](int64_t sample, int64_t gap) {
    return a.div(a.sub(a.part(y, dim, sample + 1, 1), a.part(y, dim, sample, 1)),
                 a.part(gaps, dim, gap, 1));
  };
  std::vector<BuiltValue> parts;
  parts.push_back(is_exact ? weighed(stencil(a, a.part(gaps, dim, 0, 1), a.part(gaps, dim, 1, 1),
                                             Place::kFirst),
                                     0, 1)
                           : end(0, 0));
  if (!inner.is(0)) {
    parts.push_back(weighed(
        stencil(a, a.part(gaps, dim, 0, inner), a.part(gaps, dim, 1, inner), Place::kMiddle), 0,
        inner));
  }
  parts.push_back(is_exact ? weighed(stencil(a, a.part(gaps, dim, -2, 1), a.part(gaps, dim, -1, 1),
                                             Place::kLast),
                                     -3, 1)
                           : end(-2, -1));
  std::vector<Value*> values;
  for (const BuiltValue& part : parts) {
    if (!part.ok()) return part;
    values.push_back(*part);
  }
  return b.call(aten::cat, {values, dim});
}

// Of a list of numbers, or the one that stands for all.
double number_in(const Argument& numbers, size_t i) {
  if (numbers.is_ints()) return static_cast<double>(numbers.as_ints()[i]);
  if (numbers.is_floats()) return numbers.as_floats()[i];
  if (numbers.is_list()) return fixed_number(numbers.as_list()[i]);
  return fixed_number(numbers);
}

// The gaps between samples along `dim` of a tensor of that rank: all alike, or between places.
BuiltValue gaps_of(Builder& b, Value* y, int64_t dim, const Argument* spacing, size_t i) {
  Sizes sizes(y->tensor().rank(), 1);
  const Size count = sizes_of(y)[static_cast<size_t>(dim)];
  sizes[static_cast<size_t>(dim)] = count;
  // Values are places, or a number for all dims that is computed at run time.
  const std::vector<Value*> values = spacing == nullptr ? std::vector<Value*>() : spacing->values();
  if (!values.empty() && values[0]->type().is_tensor()) {
    PETREL_ASSIGN_OR_RETURN(Value * places, b.cast(values[i], y->tensor().dtype));
    PETREL_ASSIGN_OR_RETURN(places, b.view(places, sizes));
    const Algebra a(b);
    const Neighbours gap(a, places, dim);
    return a.sub(gap.after, gap.before);
  }
  double step = 1;
  if (spacing != nullptr && !spacing->is_none()) step = number_in(*spacing, i);
  sizes[static_cast<size_t>(dim)] = count - 1;
  PETREL_ASSIGN_OR_RETURN(Value * gap, b.scalar(step, y->tensor().dtype));
  return b.expand(gap, sizes);
}

Rewritten gradient(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y,
                          b.cast(tensor_at(node, arg::self), node.result(0)->tensor().dtype));
  const size_t rank = y->tensor().rank();
  const Argument* dim = find_argument(node, arg::dim);
  Ints dims = dim == nullptr || dim->is_none() ? all_dims(rank) : ints_at(node, arg::dim, 1);
  const bool is_exact = fixed_int(node.argument(arg::edge_order)) == 2;
  std::vector<Value*> made;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t along = wrap_dim(dims[i], rank);
    const BuiltValue gaps = gaps_of(b, y, along, find_argument(node, arg::spacing), i);
    PETREL_ASSIGN_OR_RETURN(Value * one, derivative(b, y, along, gaps, is_exact));
    made.push_back(one);
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, made));
  return true;
}

// Twice the area of each strip.
BuiltValue strips(Builder& b, Node& node, int64_t dim) {
  Value* y = tensor_at(node, arg::y);
  const Algebra a(b);
  const Neighbours samples(a, y, dim);
  const BuiltValue heights = a.add(samples.before, samples.after);
  if (find_argument(node, arg::x) == nullptr) return heights;
  Value* x = tensor_at(node, arg::x);
  Sizes sizes(y->tensor().rank(), 1);
  if (x->tensor().rank() == 1) {
    sizes[static_cast<size_t>(dim)] = sizes_of(x)[0];
  } else {
    const Sizes own = sizes_of(x);
    for (size_t i = 0; i < own.size(); ++i) sizes[sizes.size() - own.size() + i] = own[i];
  }
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  const Neighbours places(a, x, dim);
  return a.mul(heights, a.sub(places.after, places.before));
}

Rewritten trapezoid(Builder& b, Node& node) {
  const int64_t dim =
      wrap_dim(fixed_int(node.argument(arg::dim)), tensor_at(node, arg::y)->tensor().rank());
  const bool is_cumulative = node.is(aten::cumulative_trapezoid_x, aten::cumulative_trapezoid_dx);
  const Argument* dx = find_argument(node, arg::dx);
  const double half = dx == nullptr ? 0.5 : fixed_number(*dx) / 2;
  PETREL_ASSIGN_OR_RETURN(Value * area, strips(b, node, dim));
  if (is_cumulative) {
    PETREL_ASSIGN_OR_RETURN(area, b.call(aten::cumsum, {area, dim}));
  } else {
    PETREL_ASSIGN_OR_RETURN(area, b.call(aten::sum_dim_IntList, {area, Ints{dim}}));
  }
  PETREL_ASSIGN_OR_RETURN(area, b.cast(area, node.result()->tensor().dtype));
  return done(b, node, b.call(aten::mul_Scalar, {area, half}));
}

constexpr Rewrite kRows[] = {
    {aten::gradient_scalarint, gradient},
    {aten::gradient_scalararray, gradient},
    {aten::gradient_array, gradient},
    {aten::gradient_scalarrayint, gradient},
    {aten::gradient_scalarrayarray, gradient},
    {aten::gradient_tensorarrayint, gradient},
    {aten::gradient_tensorarray, gradient},
    {aten::trapezoid_x, trapezoid},
    {aten::trapezoid_dx, trapezoid},
    {aten::trapz_x, trapezoid},
    {aten::trapz_dx, trapezoid},
    {aten::cumulative_trapezoid_x, trapezoid},
    {aten::cumulative_trapezoid_dx, trapezoid},
};

}  // namespace

Rewrites calculus_decompositions() { return kRows; }

}  // namespace petrel::exir
