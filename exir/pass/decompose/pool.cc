// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// An image as [N, C, H, W]: a missing batch becomes 1, a 1-D signal an image of
// height 1.
BuiltValue as_image(Builder& b, Value* x, size_t spatial) {
  Sizes sizes = sizes_of(x);
  if (sizes.size() == spatial + 1) sizes.insert(sizes.begin(), 1);
  if (spatial == 1) sizes.insert(sizes.begin() + 2, 1);
  return b.view(x, sizes);
}

// A window list in two dimensions; `unit` is what the added one gets.
Sizes window(const Node& node, ArgHandle name, size_t spatial, int64_t unit) {
  Sizes list = sizes_in(node.argument(name), spatial);
  if (list.empty()) list = sizes_in(node.argument(arg::kernel_size), spatial);  // stride
  if (spatial == 1) list.insert(list.begin(), unit);
  return list;
}

bool is_normal(const Node& node, OpHandle op, size_t spatial) {
  bool normal = node.is(op) && spatial == 2 && tensor_at(node, arg::self)->tensor().rank() == 4;
  for (ArgHandle name : {arg::kernel_size, arg::stride, arg::padding, arg::dilation}) {
    const Argument* list = find_argument(node, name);
    const bool is_list = list != nullptr && (list->is_ints() || list->is_list());
    normal = normal && (list == nullptr || (is_list && sizes_in(*list, 1).size() == 2));
  }
  return normal;
}

Rewritten max_pool(Builder& b, Node& node, size_t spatial) {
  if (is_normal(node, aten::max_pool2d, spatial)) return false;
  const bool has_places = node.num_results() > 1 && node.result(1)->is_used();
  if (has_places && spatial == 2) return false;
  PETREL_ASSIGN_OR_RETURN(Value * x, as_image(b, tensor_at(node, arg::self), spatial));
  if (has_places) {  // in an image of height 1 places are those in the signal
    PETREL_ASSIGN_OR_RETURN(
        Node * made,
        b.node(aten::max_pool2d_with_indices,
               {x, window(node, arg::kernel_size, spatial, 1),
                window(node, arg::stride, spatial, 1), window(node, arg::padding, spatial, 0),
                window(node, arg::dilation, spatial, 1), node.argument(arg::ceil_mode)}));
    std::vector<Value*> results;
    for (size_t i = 0; i < 2; ++i) {
      PETREL_ASSIGN_OR_RETURN(Value * y, b.view(made->result(i), sizes_of(node.result(i))));
      results.push_back(y);
    }
    PETREL_RETURN_IF_ERROR(b.replace(node, results));
    return true;
  }
  PETREL_ASSIGN_OR_RETURN(
      Value * y,
      b.call(aten::max_pool2d,
             {x, window(node, arg::kernel_size, spatial, 1), window(node, arg::stride, spatial, 1),
              window(node, arg::padding, spatial, 0), window(node, arg::dilation, spatial, 1),
              node.argument(arg::ceil_mode)}));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

Rewritten max_pool1d(Builder& b, Node& node) { return max_pool(b, node, 1); }
Rewritten max_pool2d(Builder& b, Node& node) { return max_pool(b, node, 2); }

//   %y = max_unpool2d(%x, %places, [h, w])
// ->
//   %y = scatter(zeros, 1, %places, %x), each of them [planes, elements]
Rewritten max_unpool(Builder& b, Node& node) {
  const TensorType& type = node.result()->tensor();
  Value* x = tensor_at(node, arg::self);
  Value* places = tensor_at(node, arg::indices);
  const size_t lead = type.rank() - (node.is(aten::max_unpool3d) ? 3 : 2);
  const auto planes = [&](const Sizes& sizes) {
    const auto image = sizes.begin() + static_cast<ptrdiff_t>(lead);
    return Sizes{product(Sizes(sizes.begin(), image)), product(Sizes(image, sizes.end()))};
  };
  const Sizes from = planes(sizes_of(x)), to = planes(sizes_of(type));
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, from));
  PETREL_ASSIGN_OR_RETURN(places, b.view(places, from));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, type.dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.expand(zero, to));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::scatter_src, {y, 1, places, x}));
  return done(b, node, b.view(y, sizes_of(type)));
}

Rewritten avg_pool(Builder& b, Node& node, size_t spatial) {
  if (is_normal(node, aten::avg_pool2d, spatial)) return false;
  PETREL_ASSIGN_OR_RETURN(Value * x, as_image(b, tensor_at(node, arg::self), spatial));
  const Argument divisor = spatial == 2 ? node.argument(arg::divisor_override) : Argument();
  PETREL_ASSIGN_OR_RETURN(
      Value * y,
      b.call(aten::avg_pool2d,
             {x, window(node, arg::kernel_size, spatial, 1), window(node, arg::stride, spatial, 1),
              window(node, arg::padding, spatial, 0), node.argument(arg::ceil_mode),
              node.argument(arg::count_include_pad), divisor}));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

Rewritten avg_pool1d(Builder& b, Node& node) { return avg_pool(b, node, 1); }
Rewritten avg_pool2d(Builder& b, Node& node) { return avg_pool(b, node, 2); }

// The window by which an adaptive pool of `image` to `out` is an ordinary one;
// empty where sizes are not proven to divide.
Sizes dividing_window(const Sizes& image, const Sizes& out) {
  Sizes kernel;
  for (size_t i = 0; i < out.size(); ++i) {
    const Size size = image[2 + i];
    if (!is_at_least(out[i], 1) || !is_at_least(size, 1) || !is_always(size % out[i], 0)) return {};
    kernel.push_back(size / out[i]);
  }
  return kernel;
}

Sizes output_size(const Node& node, size_t spatial) {
  Sizes out = sizes_in(node.argument(arg::output_size), spatial);
  if (spatial == 1) out.insert(out.begin(), 1);
  return out;
}

Rewritten adaptive_avg_pool(Builder& b, Node& node, size_t spatial) {
  const Sizes sizes = sizes_of(node.result());
  const Sizes out = output_size(node, spatial);
  Value* x = tensor_at(node, arg::self);
  if (spatial == 2 && is_always(out, Sizes{1, 1})) {
    const int64_t rank = static_cast<int64_t>(x->tensor().rank());
    return done(b, node, b.call(aten::mean_dim, {x, Ints{rank - 2, rank - 1}, true}));
  }
  PETREL_ASSIGN_OR_RETURN(x, as_image(b, x, spatial));
  const Sizes kernel = dividing_window(sizes_of(x), out);
  if (is_always(kernel, Sizes{1, 1})) return done(b, node, b.view(x, sizes));
  Value* y = nullptr;
  if (!kernel.empty()) {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::avg_pool2d, {x, kernel, kernel, Ints{0, 0}}));
  } else {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::_adaptive_avg_pool2d, {x, out}));
  }
  return done(b, node, b.view(y, sizes));
}

Rewritten adaptive_avg_pool1d(Builder& b, Node& node) { return adaptive_avg_pool(b, node, 1); }

Rewritten adaptive_avg_pool2d(Builder& b, Node& node) { return adaptive_avg_pool(b, node, 2); }

// The internal form stays where sizes do not divide.
Rewritten internal_adaptive_avg_pool2d(Builder& b, Node& node) {
  const TensorType& type = tensor_at(node, arg::self)->tensor();
  const Argument& size = node.argument(arg::output_size);
  if (type.rank() == 4 && (size.is_ints() || size.is_list()) && sizes_in(size, 1).size() == 2 &&
      dividing_window(sizes_of(type), output_size(node, 2)).empty()) {
    return false;
  }
  return adaptive_avg_pool(b, node, 2);
}

// Where sizes divide an ordinary pool does it; one element of an image whose size varies is
// the largest of all.
Rewritten adaptive_max_pool(Builder& b, Node& node, size_t spatial) {
  if (node.result(1)->is_used()) return adaptive_max_pool_windows(b, node);
  const Sizes& sizes = sizes_of(tensor_at(node, arg::self));
  const Sizes from(sizes.end() - static_cast<ptrdiff_t>(spatial), sizes.end());
  const auto varies = [](const Size& size) { return !size.expression().is_constant(); };
  const Sizes unit(spatial, 1);
  if (is_always(output_size(node, spatial), unit) &&
      std::any_of(from.begin(), from.end(), varies)) {
    Ints dims;
    for (size_t i = spatial; i > 0; --i) dims.push_back(-static_cast<int64_t>(i));
    return done(b, node, b.call(aten::amax, {tensor_at(node, arg::self), dims, true}));
  }
  Sizes image = sizes_of(tensor_at(node, arg::self));
  if (image.size() == spatial + 1) image.insert(image.begin(), 1);
  if (spatial == 1) image.insert(image.begin() + 2, 1);
  const Sizes kernel = dividing_window(image, output_size(node, spatial));
  if (kernel.empty()) return adaptive_max_pool_windows(b, node);
  PETREL_ASSIGN_OR_RETURN(Value * x, as_image(b, tensor_at(node, arg::self), spatial));
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.call(aten::max_pool2d, {x, kernel, kernel, Ints{0, 0}, Ints{1, 1}, false}));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

Rewritten adaptive_max_pool1d(Builder& b, Node& node) { return adaptive_max_pool(b, node, 1); }

Rewritten adaptive_max_pool2d(Builder& b, Node& node) { return adaptive_max_pool(b, node, 2); }

// Resampling of signals is that of images of height 1; the plain overloads give
// sizes and, where the model gave them, scales.
Rewritten upsample(Builder& b, Node& node, OpHandle op, size_t spatial) {
  Value* x = tensor_at(node, arg::self, arg::input);
  PETREL_ASSIGN_OR_RETURN(x, as_image(b, x, spatial));
  Argument::Floats scales;
  if (const Argument* given = find_argument(node, arg::scale_factors)) {
    if (given->is_floats()) scales = given->as_floats();
  } else {
    for (ArgHandle name : {arg::scales, arg::scales_h, arg::scales_w}) {
      const Argument* scale = find_argument(node, name);
      if (scale != nullptr && scale->is_number()) scales.push_back(fixed_number(*scale));
    }
  }
  const Sizes out = sizes_of(node.result());
  Arg size = Sizes(out.end() - static_cast<ptrdiff_t>(spatial), out.end());
  Argument factors;
  if (scales.size() == spatial) {
    if (spatial == 1) scales.insert(scales.begin(), 1.0);
    factors = Argument(scales);
    size = none();
  } else if (spatial == 1) {
    size = Sizes{1, out.back()};
  }
  const Argument* corners = find_argument(node, arg::align_corners);
  BuiltValue y = corners == nullptr ? b.call(op, {x, size, factors})
                                    : b.call(op, {x, size, *corners, factors});
  PETREL_RETURN_IF_ERROR(y.status());
  return done(b, node, b.view(*y, out));
}

Rewritten upsample_linear1d(Builder& b, Node& node) {
  return upsample(b, node, aten::upsample_bilinear2d_vec, 1);
}

Rewritten upsample_bilinear2d(Builder& b, Node& node) {
  return upsample(b, node, aten::upsample_bilinear2d_vec, 2);
}

Rewritten upsample_nearest1d(Builder& b, Node& node) {
  return upsample(b, node, aten::upsample_nearest2d_vec, 1);
}

Rewritten upsample_nearest2d(Builder& b, Node& node) {
  return upsample(b, node, aten::upsample_nearest2d_vec, 2);
}

Rewritten grid_sampler(Builder& b, Node& node) {
  const bool is_image = tensor_at(node, arg::input)->tensor().rank() == 4;
  return done(b, node,
              b.call(is_image ? aten::grid_sampler_2d : aten::grid_sampler_3d,
                     {node.argument(arg::input), node.argument(arg::grid),
                      node.argument(arg::interpolation_mode), node.argument(arg::padding_mode),
                      node.argument(arg::align_corners)}));
}

constexpr Rewrite kRows[] = {
    {aten::max_pool1d, max_pool1d},
    {aten::max_pool1d_with_indices, max_pool1d},
    {aten::max_pool2d, max_pool2d, true},
    {aten::max_pool2d_with_indices, max_pool2d},
    {aten::max_unpool2d, max_unpool},
    {aten::max_unpool3d, max_unpool},
    {aten::avg_pool1d, avg_pool1d},
    {aten::avg_pool2d, avg_pool2d, true},
    {aten::adaptive_avg_pool1d, adaptive_avg_pool1d},
    {aten::adaptive_avg_pool2d, adaptive_avg_pool2d},
    {aten::_adaptive_avg_pool2d, internal_adaptive_avg_pool2d},
    {aten::adaptive_max_pool1d, adaptive_max_pool1d},
    {aten::adaptive_max_pool2d, adaptive_max_pool2d},
    {aten::upsample_linear1d_vec, upsample_linear1d},
    {aten::upsample_linear1d, upsample_linear1d},
    {aten::upsample_bilinear2d, upsample_bilinear2d},
    {aten::upsample_nearest1d_vec, upsample_nearest1d},
    {aten::upsample_nearest1d, upsample_nearest1d},
    {aten::upsample_nearest2d, upsample_nearest2d},
    {aten::grid_sampler, grid_sampler},
};

}  // namespace

Rewrites pool_decompositions() { return kRows; }

}  // namespace petrel::exir
