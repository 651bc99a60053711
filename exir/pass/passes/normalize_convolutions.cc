// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/normalize_convolutions.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

struct Window {
  Ints stride;
  Ints padding;
  Ints dilation;
  Ints output_padding;
  bool transposed = false;
};

// Replaces `node` by a convolution of `x`, with a batch of one around it when
// the input has none.
Rewritten convolve(Builder& b, Node& node, Value* x, const Window& window) {
  Value* weight = tensor_at(node, arg::weight);
  const bool batched = x->tensor().rank() == weight->tensor().rank();
  if (!batched) {
    Sizes sizes = sizes_of(x);
    sizes.insert(sizes.begin(), 1);
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  }
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.call(aten::convolution, {x, weight, node.argument(arg::bias), window.stride,
                                            window.padding, window.dilation, window.transposed,
                                            window.output_padding, node.argument(arg::groups)}));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

size_t spatial_dims(const Node& node) { return tensor_at(node, arg::weight)->tensor().rank() - 2; }

// conv1d, conv2d, conv3d and their transposed forms with numbers as padding.
Rewritten numeric(Builder& b, Node& node) {
  const size_t n = spatial_dims(node);
  Window window;
  window.stride = ints_at(node, arg::stride, n);
  window.padding = ints_at(node, arg::padding, n);
  window.dilation = ints_at(node, arg::dilation, n);
  window.transposed = node.op().find_arg(arg::output_padding) >= 0;
  window.output_padding = Ints(n, 0);
  if (window.transposed) {
    window.output_padding = ints_at(node, arg::output_padding, n);
  }
  return convolve(b, node, tensor_at(node, arg::input), window);
}

// The .padding overloads: "valid" or "same".
Rewritten named(Builder& b, Node& node) {
  const size_t n = spatial_dims(node);
  Value* x = tensor_at(node, arg::input);
  Window window;
  window.stride = ints_at(node, arg::stride, n);
  window.padding = Ints(n, 0);
  window.dilation = ints_at(node, arg::dilation, n);
  window.output_padding = Ints(n, 0);
  if (node.argument(arg::padding) == Argument(std::string("same"))) {
    const Sizes& kernel = sizes_of(tensor_at(node, arg::weight));
    Ints extra(2 * n, 0);  // last dimension first, (before, after) pairs
    bool symmetric = true;
    for (size_t i = 0; i < n; ++i) {
      const int64_t total = window.dilation[i] * (kernel[i + 2] - 1);
      window.padding[i] = total / 2;
      extra[2 * (n - 1 - i) + 1] = total % 2;
      symmetric = symmetric && total % 2 == 0;
    }
    if (!symmetric) {
      PETREL_ASSIGN_OR_RETURN(x, b.call(aten::constant_pad_nd, {x, extra, 0}));
    }
  }
  return convolve(b, node, x, window);
}

// A convolution that is one already: lists to full length.
Rewritten lists(Builder& b, Node& node) {
  const size_t n = spatial_dims(node);
  Window window;
  window.stride = ints_at(node, arg::stride, n);
  window.padding = ints_at(node, arg::padding, n);
  window.dilation = ints_at(node, arg::dilation, n);
  window.output_padding = ints_at(node, arg::output_padding, n);
  window.transposed = node.argument(arg::transposed) == Argument(true);
  // Without transposition it means nothing.
  if (!window.transposed) window.output_padding = Ints(n, 0);
  Value* x = tensor_at(node, arg::input);
  const bool normal = x->tensor().rank() == n + 2 &&
                      node.argument(arg::stride) == Argument(window.stride) &&
                      node.argument(arg::padding) == Argument(window.padding) &&
                      node.argument(arg::dilation) == Argument(window.dilation) &&
                      node.argument(arg::output_padding) == Argument(window.output_padding);
  if (normal) return false;
  return convolve(b, node, x, window);
}

constexpr Rewrite kRows[] = {
    {aten::conv1d, numeric},
    {aten::conv1d_padding, named},
    {aten::conv2d, numeric},
    {aten::conv2d_padding, named},
    {aten::conv3d, numeric},
    {aten::conv3d_padding, named},
    {aten::conv_transpose1d, numeric},
    {aten::conv_transpose2d_input, numeric},
    {aten::conv_transpose3d_input, numeric},
    {aten::convolution, lists},
};

constexpr Rewrites kTables[] = {Rewrites(kRows)};

}  // namespace

absl::StatusOr<bool> normalize_convolutions(Graph& graph, const PassContext&) {
  return apply_rewrites(graph, kTables);
}

}  // namespace petrel::exir
