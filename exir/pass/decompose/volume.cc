// SPDX-License-Identifier: Apache-2.0
//
// Volumes by way of images, and pools whose windows differ.
//
//   conv3d      sum over kernel depth of conv2d of the slices; transposed, of
//               slices that lie `stride` apart
//   pools       over height and width, then over depth
//   adaptive    each window's elements side by side, then the largest
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/table_limit.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

Ints without_first(const Ints& list) { return Ints(list.begin() + 1, list.end()); }

// x [N,C,D,H,W] * w [O,C/g,KD,KH,KW]: of slice d of the kernel with the slices
// of x that it meets, all depths of the result as one batch.
Rewritten conv3d(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  Value* weight = tensor_at(node, arg::weight);
  if (weight->tensor().rank() != 5 || x->tensor().rank() != 5) return false;
  const Ints stride = ints_at(node, arg::stride, 3);
  const Ints padding = ints_at(node, arg::padding, 3);
  const Ints dilation = ints_at(node, arg::dilation, 3);
  if (stride.size() != 3 || padding.size() != 3 || dilation.size() != 3) {
    return false;
  }
  const Sizes kernel = sizes_of(weight);
  const Sizes out = sizes_of(node.result());
  if (padding[0] != 0) {
    PETREL_ASSIGN_OR_RETURN(
        x, b.call(aten::constant_pad_nd, {x, Ints{0, 0, 0, 0, padding[0], padding[0]}, 0}));
  }
  PETREL_ASSIGN_OR_RETURN(x, b.permute(x, {0, 2, 1, 3, 4}));
  const Sizes in = sizes_of(x);  // [N,D,C,H,W]
  Value* sum = nullptr;
  for (int64_t d = 0; d < kernel[2]; ++d) {
    const int64_t first = d * dilation[0];
    PETREL_ASSIGN_OR_RETURN(Value * slices,
                            b.slice(x, 1, first, first + (out[2] - 1) * stride[0] + 1, stride[0]));
    PETREL_ASSIGN_OR_RETURN(slices, b.view(slices, {in[0] * out[2], in[2], in[3], in[4]}));
    PETREL_ASSIGN_OR_RETURN(Value * w, b.slice(weight, 2, d, d + 1));
    PETREL_ASSIGN_OR_RETURN(w, b.view(w, {kernel[0], kernel[1], kernel[3], kernel[4]}));
    PETREL_ASSIGN_OR_RETURN(
        Value * part,
        b.call(aten::convolution,
               {slices, w, d == 0 ? node.argument(arg::bias) : none(), without_first(stride),
                without_first(padding), without_first(dilation), false, Ints{0, 0},
                node.argument(arg::groups)}));
    PETREL_ASSIGN_OR_RETURN(sum, plus_part(b, sum, part));
  }
  PETREL_ASSIGN_OR_RETURN(sum, b.view(sum, {out[0], out[2], out[1], out[3], out[4]}));
  return done(b, node, b.permute(sum, {0, 2, 1, 3, 4}));
}

// Slices x [N,D,...] at depth `first` + d * `stride` of `length`, zeros between.
absl::StatusOr<Value*> spread(Builder& b, Value* x, int64_t first, int64_t stride,
                              const Size& length) {
  Sizes sizes = sizes_of(x);
  const Size depth = sizes[1];
  const Size spread_depth = (depth - 1) * stride + 1;
  Sizes pads(2 * (sizes.size() - 1), 0);  // from the last dim to dim 1
  if (stride > 1) {
    Sizes apart = sizes;
    apart.insert(apart.begin() + 2, 1);
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, apart));
    pads.back() = stride - 1;
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::constant_pad_nd, {x, pads, 0}));
    sizes[1] = depth * stride;
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
    PETREL_ASSIGN_OR_RETURN(x, b.slice(x, 1, 0, spread_depth));
  }
  pads.back() = length - spread_depth - first;
  pads[pads.size() - 2] = first;
  return b.call(aten::constant_pad_nd, {x, pads, 0});
}

// x [N,C,D,H,W], w [C,O/g,KD,KH,KW]: slice d of the kernel turns slice i of x
// into a part of slice i * stride + d * dilation - padding of the result.
Rewritten conv3d_transposed(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::input);
  Value* weight = tensor_at(node, arg::weight);
  if (weight->tensor().rank() != 5 || x->tensor().rank() != 5) return false;
  const Ints stride = ints_at(node, arg::stride, 3);
  const Ints padding = ints_at(node, arg::padding, 3);
  const Ints dilation = ints_at(node, arg::dilation, 3);
  const Ints extra = ints_at(node, arg::output_padding, 3);
  if (stride.size() != 3 || padding.size() != 3 || dilation.size() != 3 || extra.size() != 3) {
    return false;
  }
  const Sizes kernel = sizes_of(weight);
  const Sizes in = sizes_of(x);
  const Sizes out = sizes_of(node.result());
  PETREL_ASSIGN_OR_RETURN(x, b.permute(x, {0, 2, 1, 3, 4}));
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {in[0] * in[2], in[1], in[3], in[4]}));
  // All depths that a slice can reach, those that padding cuts off included.
  const Size length = out[2] + 2 * padding[0];
  Value* sum = nullptr;
  for (int64_t d = 0; d < kernel[2]; ++d) {
    PETREL_ASSIGN_OR_RETURN(Value * w, b.slice(weight, 2, d, d + 1));
    PETREL_ASSIGN_OR_RETURN(w, b.view(w, {kernel[0], kernel[1], kernel[3], kernel[4]}));
    PETREL_ASSIGN_OR_RETURN(
        Value * part,
        b.call(aten::convolution,
               {x, w, none(), without_first(stride), without_first(padding),
                without_first(dilation), true, without_first(extra), node.argument(arg::groups)}));
    PETREL_ASSIGN_OR_RETURN(part, b.view(part, {in[0], in[2], out[1], out[3], out[4]}));
    PETREL_ASSIGN_OR_RETURN(part, spread(b, part, d * dilation[0], stride[0], length));
    PETREL_ASSIGN_OR_RETURN(sum, plus_part(b, sum, part));
  }
  PETREL_ASSIGN_OR_RETURN(sum, b.slice(sum, 1, padding[0], padding[0] + out[2]));
  if (Value* bias = tensor_at(node, arg::bias); bias != nullptr) {
    PETREL_ASSIGN_OR_RETURN(bias, b.view(bias, {1, 1, out[1], 1, 1}));
    PETREL_ASSIGN_OR_RETURN(sum, b.binary(aten::add_Tensor, sum, bias));
  }
  return done(b, node, b.permute(sum, {0, 2, 1, 3, 4}));
}

Rewritten convolution(Builder& b, Node& node) {
  return node.argument(arg::transposed) == Argument(true) ? conv3d_transposed(b, node)
                                                          : conv3d(b, node);
}

// The sizes of a volume as [N,C,D,H,W].
Sizes volume_sizes(const Value* x) {
  Sizes sizes = sizes_of(x);
  if (sizes.size() == 4) sizes.insert(sizes.begin(), 1);
  return sizes;
}

// What an operator of images does to a volume: `planes` over height and width
// of every slice, then `depth` over [N, C, D, rest].
template <typename Planes, typename Depth>
Rewritten by_planes(Builder& b, Node& node, Planes planes, Depth depth) {
  Value* x = tensor_at(node, arg::self);
  const Sizes in = volume_sizes(x);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {in[0], in[1] * in[2], in[3], in[4]}));
  PETREL_ASSIGN_OR_RETURN(x, planes(x));
  const Sizes plane = sizes_of(x);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {in[0], in[1], in[2], plane[2] * plane[3]}));
  PETREL_ASSIGN_OR_RETURN(x, depth(x));
  return done(b, node, b.view(x, sizes_of(node.result())));
}

Ints windows_of(const Node& node, ArgHandle name) {
  const Ints list = ints_at(node, name, 3);
  return list.empty() ? ints_at(node, arg::kernel_size, 3) : list;  // stride
}

Rewritten max_pool3d(Builder& b, Node& node) {
  if (node.num_results() > 1 && node.result(1)->is_used()) return false;
  const Ints kernel = windows_of(node, arg::kernel_size);
  const Ints stride = windows_of(node, arg::stride);
  const Ints padding = ints_at(node, arg::padding, 3);
  const Ints dilation = ints_at(node, arg::dilation, 3);
  const Argument ceil = node.argument(arg::ceil_mode);
  return by_planes(
      b, node,
      [&](Value* x) {
        return b.call(aten::max_pool2d, {x, without_first(kernel), without_first(stride),
                                         without_first(padding), without_first(dilation), ceil});
      },
      [&](Value* x) {
        return b.call(aten::max_pool2d, {x, Ints{kernel[0], 1}, Ints{stride[0], 1},
                                         Ints{padding[0], 0}, Ints{dilation[0], 1}, ceil});
      });
}

Rewritten avg_pool3d(Builder& b, Node& node) {
  const Ints kernel = windows_of(node, arg::kernel_size);
  const Ints stride = windows_of(node, arg::stride);
  const Ints padding = ints_at(node, arg::padding, 3);
  const Argument ceil = node.argument(arg::ceil_mode);
  const Argument counts = node.argument(arg::count_include_pad);
  const Argument divisor = node.argument(arg::divisor_override);
  // With a divisor the planes are summed.
  const Argument planes = divisor.is_none() ? none() : Argument(int64_t{1});
  return by_planes(
      b, node,
      [&](Value* x) {
        return b.call(aten::avg_pool2d, {x, without_first(kernel), without_first(stride),
                                         without_first(padding), ceil, counts, planes});
      },
      [&](Value* x) {
        return b.call(aten::avg_pool2d, {x, Ints{kernel[0], 1}, Ints{stride[0], 1},
                                         Ints{padding[0], 0}, ceil, counts, divisor});
      });
}

Rewritten adaptive_avg_pool3d(Builder& b, Node& node) {
  const Ints out = ints_at(node, arg::output_size, 3);
  if (out == Ints{1, 1, 1}) {
    return done(b, node,
                b.call(aten::mean_dim, {tensor_at(node, arg::self), Ints{-3, -2, -1}, true}));
  }
  return by_planes(
      b, node,
      [&](Value* x) {
        return b.call(aten::adaptive_avg_pool2d, {x, without_first(out)});
      },
      [&](Value* x) {
        return b.call(aten::adaptive_avg_pool2d, {x, Sizes{out[0], sizes_of(x)[3]}});
      });
}

// The elements of every window of one dim; windows that are shorter than the
// longest repeat their last.
struct Windows {
  std::vector<double> at;
  int64_t count = 0;
  int64_t longest = 0;
};

absl::StatusOr<Windows> adaptive_windows(int64_t size, int64_t count) {
  PETREL_RETURN_IF_ERROR(check_table({count}));
  Windows windows;
  windows.count = count;
  const auto begin = [&](int64_t i) { return i * size / count; };
  const auto end = [&](int64_t i) { return ((i + 1) * size + count - 1) / count; };
  for (int64_t i = 0; i < count; ++i) {
    windows.longest = std::max(windows.longest, end(i) - begin(i));
  }
  PETREL_RETURN_IF_ERROR(check_table({count, windows.longest}));
  windows.at.reserve(static_cast<size_t>(count * windows.longest));
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < windows.longest; ++k) {
      windows.at.push_back(static_cast<double>(std::min(begin(i) + k, end(i) - 1)));
    }
  }
  return windows;
}

// Where each element of each window lies in the flat image: [outputs * length].
std::vector<double> flat_places(const std::vector<Windows>& windows, const Sizes& image) {
  // Of the dims so far: outputs, each with its elements, as in the rearranged values.
  std::vector<double> places = {0};
  size_t outputs = 1, elements = 1;
  for (size_t i = 0; i < windows.size(); ++i) {
    const Windows& window = windows[i];
    const auto below = static_cast<double>(image[i]);
    const auto count = static_cast<size_t>(window.count);
    const auto longest = static_cast<size_t>(window.longest);
    std::vector<double> next;
    next.reserve(places.size() * window.at.size());
    for (size_t outer = 0; outer < outputs; ++outer) {
      for (size_t o = 0; o < count; ++o) {
        for (size_t e = 0; e < elements; ++e) {
          for (size_t k = 0; k < longest; ++k) {
            next.push_back(places[outer * elements + e] * below + window.at[o * longest + k]);
          }
        }
      }
    }
    places = std::move(next);
    outputs *= count;
    elements *= longest;
  }
  return places;
}

BuiltValue places_constant(Builder& b, const std::vector<double>& places) {
  return computed_constant(b, "pool.places", ScalarType::kLong,
                           {static_cast<int64_t>(places.size())}, places);
}

// [lead..., outputs, elements of a window]
BuiltValue side_by_side(Builder& b, Value* x, size_t lead, const std::vector<Windows>& windows) {
  const Sizes all = sizes_of(x);
  Sizes split(all.begin(), all.begin() + static_cast<ptrdiff_t>(lead));
  Sizes joined = split;
  Ints dims = all_dims(lead);
  int64_t outputs = 1, elements = 1;
  for (size_t i = 0; i < windows.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * at, places_constant(b, windows[i].at));
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::index_select, {x, static_cast<int64_t>(lead + i), at}));
    split.insert(split.end(), {windows[i].count, windows[i].longest});
    dims.push_back(static_cast<int64_t>(lead + 2 * i));
    outputs *= windows[i].count;
    elements *= windows[i].longest;
  }
  for (size_t i = 0; i < windows.size(); ++i) {
    dims.push_back(static_cast<int64_t>(lead + 2 * i + 1));
  }
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, split));
  PETREL_ASSIGN_OR_RETURN(x, b.permute(x, dims));
  joined.insert(joined.end(), {outputs, elements});
  return b.view(x, joined);
}

Rewritten adaptive_max_pool(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const size_t spatial = node.is(aten::adaptive_max_pool1d)   ? 1
                         : node.is(aten::adaptive_max_pool2d) ? 2
                                                              : 3;
  const Ints out = ints_at(node, arg::output_size, spatial);
  const size_t lead = x->tensor().rank() - spatial;
  const Sizes all = sizes_of(x);
  const Sizes image(all.begin() + static_cast<ptrdiff_t>(lead), all.end());
  std::vector<Windows> windows;
  double all_places = 1;
  for (size_t i = 0; i < spatial; ++i) {
    if (image[i] < 1 || out[i] < 1) return false;
    PETREL_ASSIGN_OR_RETURN(Windows one, adaptive_windows(image[i], out[i]));
    all_places *= static_cast<double>(one.count) * static_cast<double>(one.longest);
    windows.push_back(std::move(one));
  }
  // Of all windows together, where the places of the largest elements are wanted.
  PETREL_RETURN_IF_ERROR(check_table({static_cast<int64_t>(std::min(all_places, 1e18))}));
  PETREL_ASSIGN_OR_RETURN(x, side_by_side(b, x, lead, windows));
  const Sizes result = sizes_of(node.result());
  const int64_t last = static_cast<int64_t>(lead) + 1;
  if (!node.result(1)->is_used()) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::amax, {x, Ints{last}}));
    return done(b, node, b.view(x, result));
  }
  const int64_t outputs = product(out);
  const int64_t elements = sizes_of(x).back();
  PETREL_RETURN_IF_ERROR(check_table({outputs}));
  PETREL_ASSIGN_OR_RETURN(Node * largest, b.node(aten::max_dim, {x, last, false}));
  std::vector<double> starts;
  starts.reserve(static_cast<size_t>(outputs));
  for (int64_t i = 0; i < outputs; ++i) {
    starts.push_back(static_cast<double>(i * elements));
  }
  PETREL_ASSIGN_OR_RETURN(Value * start, places_constant(b, starts));
  PETREL_ASSIGN_OR_RETURN(Value * at, b.binary(aten::add_Tensor, largest->result(1), start));
  PETREL_ASSIGN_OR_RETURN(Value * places, places_constant(b, flat_places(windows, image)));
  Argument::List index;
  index.emplace_back(at);
  PETREL_ASSIGN_OR_RETURN(at, b.call(aten::index_Tensor, {places, Argument(std::move(index))}));
  PETREL_ASSIGN_OR_RETURN(Value * values, b.view(largest->result(0), result));
  PETREL_ASSIGN_OR_RETURN(at, b.view(at, result));
  PETREL_RETURN_IF_ERROR(b.replace(node, {values, at}));
  return true;
}

// Reflection and replication of volumes, dim by dim.
Rewritten pad3d(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const bool reflects = node.is(aten::reflection_pad3d);
  const Ints pad = ints_at(node, arg::padding, 1);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const auto dim = static_cast<int64_t>(x->tensor().rank() - 1 - i);
    const int64_t size = sizes_of(x)[static_cast<size_t>(dim)];
    // The rule saw to it that what is left is not negative.
    const int64_t padded = size + pad[2 * i] + pad[2 * i + 1];
    if (size < 1) return false;
    PETREL_RETURN_IF_ERROR(check_table({padded}));
    std::vector<double> places;
    for (int64_t at = -pad[2 * i]; at < size + pad[2 * i + 1]; ++at) {
      int64_t from = at;
      if (reflects && from < 0) from = -from;
      if (reflects && from >= size) from = 2 * (size - 1) - from;
      places.push_back(static_cast<double>(std::clamp<int64_t>(from, 0, size - 1)));
    }
    if (pad[2 * i] == 0 && pad[2 * i + 1] == 0) continue;
    PETREL_ASSIGN_OR_RETURN(Value * at, places_constant(b, places));
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::index_select, {x, dim, at}));
  }
  return done(b, node, x);
}

constexpr Rewrite kRows[] = {
    {aten::convolution, convolution},
    {aten::max_pool3d, max_pool3d},
    {aten::max_pool3d_with_indices, max_pool3d},
    {aten::avg_pool3d, avg_pool3d},
    {aten::adaptive_avg_pool3d, adaptive_avg_pool3d},
    {aten::_adaptive_avg_pool3d, adaptive_avg_pool3d},
    {aten::adaptive_max_pool3d, adaptive_max_pool},
    {aten::reflection_pad3d, pad3d},
    {aten::replication_pad3d, pad3d},
};

}  // namespace

Rewritten adaptive_max_pool_windows(Builder& b, Node& node) { return adaptive_max_pool(b, node); }

Rewrites volume_decompositions() { return kRows; }

}  // namespace petrel::exir
