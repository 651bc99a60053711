// SPDX-License-Identifier: Apache-2.0
//
// Operators of exir/ops/composite_ops.cc, but for the recurrent cells.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "exir/ops/rule.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

Rewritten fliplr(Builder& b, Node& node) {
  return done(b, node, b.call(aten::flip, {tensor_at(node, arg::self), Ints{1}}));
}

Rewritten flipud(Builder& b, Node& node) {
  return done(b, node, b.call(aten::flip, {tensor_at(node, arg::self), Ints{0}}));
}

// Each element but the first less the one before it, `n` times over.
Rewritten diff(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  std::vector<Value*> parts = {tensor_at(node, arg::prepend), x, tensor_at(node, arg::append)};
  parts.erase(std::remove(parts.begin(), parts.end(), nullptr), parts.end());
  if (parts.size() > 1) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::cat, {parts, dim}));
  }
  const bool is_bool = x->tensor().dtype == ScalarType::kBool;
  for (int64_t n = fixed_int(node.argument(arg::n)); n > 0; --n) {
    const Size size = sizes_of(x)[static_cast<size_t>(dim)];
    if (size.is(0)) break;
    PETREL_ASSIGN_OR_RETURN(Value * after, b.slice(x, dim, 1, size));
    PETREL_ASSIGN_OR_RETURN(Value * before, b.slice(x, dim, 0, size - smallest(1, size)));
    PETREL_ASSIGN_OR_RETURN(
        x, b.binary(is_bool ? aten::logical_xor : aten::sub_Tensor, after, before));
  }
  return done(b, node, x);
}

Rewritten trace(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x, b.call(aten::diagonal, {tensor_at(node, arg::self)}));
  return done(b, node, b.call(aten::sum_dim_IntList, {x, Ints{0}}));
}

// In steps of a quarter turn from the first dim towards the second.
Rewritten rot90(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Ints plane = ints_at(node, arg::dims, 1);
  if (plane.size() != 2) return false;
  for (int64_t& dim : plane) dim = wrap_dim(dim, x->tensor().rank());
  const int64_t turns = ((fixed_int(node.argument(arg::k)) % 4) + 4) % 4;
  if (turns == 2) {
    return done(b, node, b.call(aten::flip, {x, plane}));
  }
  if (turns == 1) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::flip, {x, Ints{plane[1]}}));
  }
  if (turns != 0) {
    Ints dims = all_dims(x->tensor().rank());
    std::swap(dims[static_cast<size_t>(plane[0])], dims[static_cast<size_t>(plane[1])]);
    PETREL_ASSIGN_OR_RETURN(x, b.permute(x, dims));
  }
  if (turns == 3) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::flip, {x, Ints{plane[1]}}));
  }
  return done(b, node, x);
}

// a[1] b[2] - a[2] b[1], and so on around.
Rewritten cross(Builder& b, Node& node) {
  const Sizes& sizes = sizes_of(node.result());
  const Argument& given = node.argument(arg::dim);
  const auto first_of_three = std::find(sizes.begin(), sizes.end(), Size(3));
  const int64_t dim =
      given.is_none() ? first_of_three - sizes.begin() : wrap_dim(fixed_int(given), sizes.size());
  const auto turned = [&](ArgHandle name, int64_t by) {
    Value* x = tensor_at(node, name);
    const BuiltValue whole = b.expand(x, sizes);
    if (!whole.ok()) return whole;
    return b.call(aten::roll, {*whole, Ints{-by}, Ints{dim}});
  };
  Value* products[2];
  for (int64_t i = 0; i < 2; ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * x, turned(arg::self, 1 + i));
    PETREL_ASSIGN_OR_RETURN(Value * y, turned(arg::other, 2 - i));
    PETREL_ASSIGN_OR_RETURN(products[i], b.binary(aten::mul_Tensor, x, y));
  }
  return done(b, node, b.binary(aten::sub_Tensor, products[0], products[1]));
}

// The windows of an image, as F.unfold and F.fold count them.
struct Windows {
  Ints kernel, dilation, padding, stride;
  Sizes count;
};

Windows windows_of(const Node& node, const Sizes& image) {
  Windows w;
  w.kernel = ints_at(node, arg::kernel_size, 2);
  w.dilation = ints_at(node, arg::dilation, 2);
  w.padding = ints_at(node, arg::padding, 2);
  w.stride = ints_at(node, arg::stride, 2);
  for (size_t i = 0; i < 2; ++i) {
    w.count.push_back(
        (image[i] + 2 * w.padding[i] - w.dilation[i] * (w.kernel[i] - 1) - 1) / w.stride[i] + 1);
  }
  return w;
}

// Where, in the padded image of `width`, element (i, j) of each window lies.
absl::StatusOr<Value*> places_of(Builder& b, const Windows& w, int64_t width) {
  PETREL_RETURN_IF_ERROR(check_table({w.kernel[0], w.kernel[1], w.count[0], w.count[1]}));
  std::vector<double> places;
  for (int64_t i = 0; i < w.kernel[0]; ++i) {
    for (int64_t j = 0; j < w.kernel[1]; ++j) {
      for (int64_t y = 0; y < w.count[0]; ++y) {
        for (int64_t x = 0; x < w.count[1]; ++x) {
          places.push_back(static_cast<double>((y * w.stride[0] + i * w.dilation[0]) * width +
                                               x * w.stride[1] + j * w.dilation[1]));
        }
      }
    }
  }
  return computed_constant(b, "unfold.places", ScalarType::kLong,
                           {static_cast<int64_t>(places.size())}, places);
}

// The same where sizes vary, which the program computes.
BuiltValue varying_places_of(Builder& b, const Windows& w, const Size& width) {
  const auto lines = [&](size_t i, const Ints& element, const Sizes& window) -> BuiltValue {
    const auto count = [&](const Size& n, int64_t step, const Sizes& shape) -> BuiltValue {
      PETREL_ASSIGN_OR_RETURN(Value * at,
                              b.call(aten::arange_start_step, {0, n, 1, ScalarType::kLong}));
      PETREL_ASSIGN_OR_RETURN(at, b.call(aten::mul_Scalar, {at, step}));
      return b.view(at, shape);
    };
    PETREL_ASSIGN_OR_RETURN(Value * a, count(w.kernel[i], w.dilation[i], sizes_of(element)));
    PETREL_ASSIGN_OR_RETURN(Value * c, count(w.count[i], w.stride[i], window));
    return b.binary(aten::add_Tensor, a, c);
  };
  PETREL_ASSIGN_OR_RETURN(Value * rows, lines(0, {w.kernel[0], 1, 1, 1}, {1, 1, w.count[0], 1}));
  PETREL_ASSIGN_OR_RETURN(Value * columns, lines(1, {1, w.kernel[1], 1, 1}, {1, 1, 1, w.count[1]}));
  PETREL_ASSIGN_OR_RETURN(Value * wide, b.call(aten::full, {Ints{}, width, ScalarType::kLong}));
  PETREL_ASSIGN_OR_RETURN(rows, b.binary(aten::mul_Tensor, rows, wide));
  PETREL_ASSIGN_OR_RETURN(Value * places, b.binary(aten::add_Tensor, rows, columns));
  return b.view(places, {numel_of(places)});
}

// A node for each element of a window.
constexpr int64_t kMostElementsOfWindow = 256;

// Of an image whose sizes vary: element (i, j) of all windows is one slice of it.
BuiltValue slices_of(Builder& b, Value* x, const Windows& w) {
  const auto cut = [&](Value* from, size_t i, int64_t element) {
    const Size start = element * w.dilation[i];
    const Size end = start + (w.count[i] - 1) * w.stride[i] + 1;
    return b.slice(from, static_cast<int64_t>(i) + 2, start, end, w.stride[i]);
  };
  std::vector<Value*> slices;
  for (int64_t i = 0; i < w.kernel[0]; ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * rows, cut(x, 0, i));
    for (int64_t j = 0; j < w.kernel[1]; ++j) {
      PETREL_ASSIGN_OR_RETURN(Value * slice, cut(rows, 1, j));
      slices.push_back(slice);
    }
  }
  return b.call(aten::stack, {slices, 2});
}

// [N, C, H, W] -> [N, C * kernel, windows]
Rewritten im2col(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Sizes sizes = sizes_of(x);
  if (sizes.size() == 3) sizes.insert(sizes.begin(), 1);
  const Windows w = windows_of(node, {sizes[2], sizes[3]});
  const bool varies = !sizes[2].expression().is_constant() || !sizes[3].expression().is_constant();
  if (varies && product(w.kernel) > kMostElementsOfWindow) return false;
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  if (w.padding[0] != 0 || w.padding[1] != 0) {
    PETREL_ASSIGN_OR_RETURN(
        x, b.call(aten::constant_pad_nd,
                  {x, Ints{w.padding[1], w.padding[1], w.padding[0], w.padding[0]}, 0}));
  }
  if (varies) {
    PETREL_ASSIGN_OR_RETURN(x, slices_of(b, x, w));
    return done(b, node, b.view(x, sizes_of(node.result())));
  }
  const Size height = sizes[2] + 2 * w.padding[0];
  const Size width = sizes[3] + 2 * w.padding[1];
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {sizes[0], sizes[1], height * width}));
  PETREL_ASSIGN_OR_RETURN(Value * places, places_of(b, w, width));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::index_select, {x, 2, places}));
  return done(b, node, b.view(x, sizes_of(node.result())));
}

// The other way: what falls on one place is summed.
Rewritten col2im(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes out = sizes_of(node.result());
  const Sizes image(out.end() - 2, out.end());
  const Windows w = windows_of(node, image);
  const Size height = image[0] + 2 * w.padding[0];
  const Size width = image[1] + 2 * w.padding[1];
  const Size channels = product(leading(out, 2));
  const bool varies = !image[0].expression().is_constant() || !image[1].expression().is_constant();
  PETREL_ASSIGN_OR_RETURN(Value * places,
                          varies ? varying_places_of(b, w, width) : places_of(b, w, width));
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {channels, numel_of(places)}));
  PETREL_ASSIGN_OR_RETURN(
      Value * sums, b.call(aten::full, {Sizes{channels, height * width}, 0, x->tensor().dtype}));
  Argument::List index = {none(), Argument(places)};
  PETREL_ASSIGN_OR_RETURN(sums,
                          b.call(aten::index_put, {sums, Argument(std::move(index)), x, true}));
  PETREL_ASSIGN_OR_RETURN(sums, b.view(sums, {channels, height, width}));
  PETREL_ASSIGN_OR_RETURN(sums, b.slice(sums, 1, w.padding[0], w.padding[0] + image[0]));
  PETREL_ASSIGN_OR_RETURN(sums, b.slice(sums, 2, w.padding[1], w.padding[1] + image[1]));
  return done(b, node, b.view(sums, out));
}

// The diagonal of a matrix, or a matrix with that diagonal.
Rewritten diag(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t shift = fixed_int(node.argument(arg::diagonal));
  if (x->tensor().rank() == 1) {
    return done(b, node, b.call(aten::diag_embed, {x, shift}));
  }
  return done(b, node, b.call(aten::diagonal, {x, shift}));
}

// x on diagonal `offset` of a matrix, which is its last two dims or becomes two others.
Rewritten diag_embed(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes out = sizes_of(node.result());
  const int64_t shift = fixed_int(node.argument(arg::offset));
  const auto rank = static_cast<int64_t>(out.size());
  const int64_t first = wrap_dim(fixed_int(node.argument(arg::dim1)), out.size());
  const int64_t second = wrap_dim(fixed_int(node.argument(arg::dim2)), out.size());
  if (first != rank - 2 || second != rank - 1) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::diag_embed, {x, shift}));
    Ints order;
    for (int64_t dim = 0, other = 0; dim < rank; ++dim) {
      order.push_back(dim == first ? rank - 2 : dim == second ? rank - 1 : other++);
    }
    return done(b, node, b.permute(x, order));
  }
  const int64_t size = out.back();
  PETREL_RETURN_IF_ERROR(check_table({size, size}));
  std::vector<double> chosen;
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) chosen.push_back(j - i == shift);
  }
  PETREL_ASSIGN_OR_RETURN(Value * mask, computed_constant(b, "diagonal.places", ScalarType::kBool,
                                                          {size, size}, chosen));
  // Above the main diagonal element i is in row i, below it in column i.
  Sizes line = sizes_of(x);
  const int64_t missing = size - line.back();
  if (missing > 0) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::constant_pad_nd, {x, Ints{0, missing}, 0}));
    line.back() = size;
  }
  line.insert(shift < 0 ? line.end() - 1 : line.end(), 1);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, line));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, x->tensor().dtype));
  return done(b, node, b.call(aten::where_self, {mask, x, zero}));
}

// sum(x / max(|x|, eps) y / max(|y|, eps)), divided before it is summed: a sum of products of
// large numbers is infinite, and eager's quotients are not.
Rewritten cosine_similarity(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::x1), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.cast(tensor_at(node, arg::x2), dtype));
  const double eps = fixed_number(node.argument(arg::eps));
  Sizes shape = sizes_of(x);
  const size_t rank = std::max(shape.size(), y->tensor().rank());
  const Ints dim = {wrap_dim(fixed_int(node.argument(arg::dim)), rank)};
  for (Value** value : {&x, &y}) {  // as many dims for both
    Sizes sizes = sizes_of(*value);
    sizes.insert(sizes.begin(), rank - sizes.size(), 1);
    PETREL_ASSIGN_OR_RETURN(*value, b.view(*value, sizes));
  }
  // One element that stands for many along the dim has the norm of many.
  const auto along = static_cast<size_t>(dim[0]);
  PETREL_ASSIGN_OR_RETURN(const Sizes length, rules::broadcast_sizes({Sizes{sizes_of(x)[along]},
                                                                      Sizes{sizes_of(y)[along]}}));
  for (Value** value : {&x, &y}) {
    Sizes sizes = sizes_of(*value);
    sizes[along] = length[0];
    PETREL_ASSIGN_OR_RETURN(*value, b.expand(*value, sizes));
    PETREL_ASSIGN_OR_RETURN(Value * norm, b.cast(*value, wide_type(dtype)));
    PETREL_ASSIGN_OR_RETURN(norm, b.binary(aten::mul_Tensor, norm, norm));
    PETREL_ASSIGN_OR_RETURN(norm, b.call(aten::sum_dim_IntList, {norm, dim, true}));
    PETREL_ASSIGN_OR_RETURN(norm, b.call(aten::sqrt, {norm}));
    PETREL_ASSIGN_OR_RETURN(norm, b.cast(norm, dtype));
    PETREL_ASSIGN_OR_RETURN(norm, b.call(aten::clamp, {norm, eps, none()}));
    PETREL_ASSIGN_OR_RETURN(*value, b.binary(aten::div_Tensor, *value, norm));
  }
  PETREL_ASSIGN_OR_RETURN(Value * top, b.binary(aten::mul_Tensor, x, y));
  return done(b, node, b.call(aten::sum_dim_IntList, {top, dim}));
}

Rewritten pairwise_distance(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(
      Value * d, b.binary(aten::sub_Tensor, tensor_at(node, arg::x1), tensor_at(node, arg::x2)));
  PETREL_ASSIGN_OR_RETURN(d, b.call(aten::add_Scalar, {d, node.argument(arg::eps)}));
  const auto last = static_cast<int64_t>(d->tensor().rank()) - 1;
  return done(b, node,
              b.call(aten::linalg_vector_norm,
                     {d, node.argument(arg::p), Ints{last}, node.argument(arg::keepdim)}));
}

// y[n,o] = sum_ij x1[n,i] w[o,i,j] x2[n,j] + bias[o]
Rewritten bilinear(Builder& b, Node& node) {
  Value* left = tensor_at(node, arg::input1);
  Value* right = tensor_at(node, arg::input2);
  Value* weight = tensor_at(node, arg::weight);
  Value* bias = tensor_at(node, arg::bias);
  const Sizes w = sizes_of(weight);
  const Size rows = product(leading(sizes_of(left), 1));
  PETREL_ASSIGN_OR_RETURN(left, b.view(left, {rows, w[1]}));
  PETREL_ASSIGN_OR_RETURN(weight, b.permute(weight, {0, 2, 1}));
  PETREL_ASSIGN_OR_RETURN(weight, b.view(weight, {w[0] * w[2], w[1]}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::linear, {left, weight, none()}));
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, {rows, w[0], w[2]}));
  PETREL_ASSIGN_OR_RETURN(right, b.view(right, {rows, w[2], 1}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::bmm, y, right));
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, {rows, w[0]}));
  if (bias != nullptr) {
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, bias));
  }
  return done(b, node, b.view(y, sizes_of(node.result())));
}

// What torch's decompositions make of bilinear without a bias. Nothing else calls it.
Rewritten trilinear(Builder& b, Node& node) {
  const auto is = [&](ArgHandle name, const Ints& dims) {
    return holds(node.argument(name), sizes_of(dims));
  };
  if (!is(arg::expand1, {1, 3}) || !is(arg::expand2, {0}) || !is(arg::expand3, {1, 2}) ||
      !is(arg::sumdim, {2, 3})) {
    return false;
  }
  Value* left = tensor_at(node, arg::i1);
  Value* right = tensor_at(node, arg::i3);
  Value* weight = tensor_at(node, arg::i2);
  const Sizes w = sizes_of(weight);
  if (left->tensor().rank() != 2 || w.size() != 3 ||
      !is_always(sizes_of(left), Sizes{sizes_of(right)[0], w[1]}) ||
      !is_always(sizes_of(right)[1], w[2])) {
    return false;
  }
  return done(b, node, b.call(aten::bilinear, {left, right, weight, none()}));
}

constexpr Rewrite kRows[] = {
    {aten::diff, diff},
    {aten::_trilinear, trilinear},
    {aten::trace, trace},
    {aten::rot90, rot90},
    {aten::cross, cross},
    {aten::linalg_cross, cross},
    {aten::fliplr, fliplr},
    {aten::flipud, flipud},
    {aten::im2col, im2col},
    {aten::col2im, col2im},
    {aten::diag, diag},
    {aten::diag_embed, diag_embed},
    {aten::cosine_similarity, cosine_similarity},
    {aten::pairwise_distance, pairwise_distance},
    {aten::bilinear, bilinear},
};

}  // namespace

Rewrites composite_decompositions() { return kRows; }

}  // namespace petrel::exir
