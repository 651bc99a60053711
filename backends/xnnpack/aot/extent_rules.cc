// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/extent_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/xnnpack/format/node_kind.h"
#include "exir/ir/size_difference.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using exir::rules::Size;
using Inferred = absl::StatusOr<Extents>;
using Inputs = std::vector<const Extents*>;

bool are_same(const Size& a, const Size& b) {
  return exir::are_equal(a.expression(), b.expression());
}

absl::Status depends(const char* what) {
  return absl::InvalidArgumentError(absl::StrCat("its ", what, " depends on sizes that vary"));
}

absl::Status do_not_fit(const Extents& a, const Extents& b) {
  return absl::InvalidArgumentError(
      absl::StrCat("inputs ", to_string(a), " and ", to_string(b), " are not proven to fit"));
}

absl::Status check_rank(const Extents& x, size_t least) {
  if (x.size() >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input is ", to_string(x), ", must have rank ", least, " or more"));
}

Inferred broadcast(const Extents& a, const Extents& b) {
  const size_t rank = std::max(a.size(), b.size());
  Extents out;
  for (size_t i = 0; i < rank; ++i) {
    const Size left = i < rank - a.size() ? Size(1) : a[i - (rank - a.size())];
    const Size right = i < rank - b.size() ? Size(1) : b[i - (rank - b.size())];
    if (!left.is(1) && !right.is(1) && !are_same(left, right)) return do_not_fit(a, b);
    out.push_back(left.is(1) ? right : left);
  }
  return out;
}

Inferred multiply(const Node& node, const Extents& a, const Extents& b) {
  PETREL_RETURN_IF_ERROR(check_rank(a, 3));
  PETREL_RETURN_IF_ERROR(check_rank(b, 3));
  const bool transposed = (node.flags & kTransposeWeights) != 0;
  if (!are_same(a.back(), b[b.size() - (transposed ? 1 : 2)])) return do_not_fit(a, b);
  PETREL_ASSIGN_OR_RETURN(
      Extents out, broadcast(Extents(a.begin(), a.end() - 2), Extents(b.begin(), b.end() - 2)));
  out.push_back(a[a.size() - 2]);
  out.push_back(b[b.size() - (transposed ? 2 : 1)]);
  return out;
}

Inferred connect(const Node& node, const Extents& x, const Extents& filter) {
  PETREL_RETURN_IF_ERROR(check_rank(x, 1));
  const bool transposed = (node.flags & kTransposeWeights) != 0;
  if (filter.size() != 2 || !are_same(x.back(), filter[transposed ? 0 : 1])) {
    return do_not_fit(x, filter);
  }
  Extents out = x;
  out.back() = filter[transposed ? 1 : 0];
  return out;
}

// Positions of a window; the runtime refuses sizes that it does not fit.
Size slide(const Size& size, int64_t padding, int64_t kernel, int64_t stride, int64_t dilation) {
  const int64_t reach = (kernel - 1) * dilation + 1;
  return exir::rules::floor_divide(size + padding - reach, stride) + 1;
}

Extents slide(const Window& w, const Extents& image, const Size& channels) {
  return {image[0],
          slide(image[1], int64_t{w.padding_top} + w.padding_bottom, w.kernel_height,
                w.stride_height, w.dilation_height),
          slide(image[2], int64_t{w.padding_left} + w.padding_right, w.kernel_width, w.stride_width,
                w.dilation_width),
          channels};
}

Size spread(const Size& size, int64_t padding, int64_t kernel, int64_t stride, int64_t dilation,
            int64_t adjustment) {
  return (size - 1) * stride + (kernel - 1) * dilation + 1 + adjustment - padding;
}

Inferred convolve(const Node& node, const Extents& x) {
  PETREL_RETURN_IF_ERROR(check_rank(x, 4));
  const Channels& c = node.channels;
  const Window& w = node.window;
  if (!are_same(x[3], int64_t{c.groups} * c.group_input_channels)) return depends("input");
  const Size channels = int64_t{c.groups} * c.group_output_channels;
  if (node.kind != NodeKind::ConvTranspose2d) return slide(w, x, channels);
  return Extents{x[0],
                 spread(x[1], int64_t{w.padding_top} + w.padding_bottom, w.kernel_height,
                        w.stride_height, w.dilation_height, c.adjustment_height),
                 spread(x[2], int64_t{w.padding_left} + w.padding_right, w.kernel_width,
                        w.stride_width, w.dilation_width, c.adjustment_width),
                 channels};
}

Inferred transpose(const Node& node, const Extents& x) {
  if (node.list.size() != x.size()) return depends("permutation");
  Extents out;
  for (const uint32_t axis : node.list) out.push_back(x.at(axis));
  return out;
}

// One size may be left to XNNPACK: that of all elements by the others'.
Inferred reshape(const Node& node, const Extents& x) {
  Size elements = 1;
  for (const Size& size : x) elements *= size;
  Size known = 1;
  Extents out;
  for (const uint32_t size : node.list) {
    out.emplace_back(size);
    if (size != 0) known *= size;
  }
  const auto open = std::find(node.list.begin(), node.list.end(), 0u);
  if (open == node.list.end()) {
    if (!are_same(elements, known)) return depends("shape");
    return out;
  }
  const Size rest = exir::rules::floor_divide(elements, known);
  if (std::count(open, node.list.end(), 0u) > 1 || !are_same(rest * known, elements)) {
    return depends("shape");
  }
  out[static_cast<size_t>(open - node.list.begin())] = rest;
  return out;
}

Inferred slice(const Node& node, const Extents& x) {
  if (node.list.size() != x.size() || node.list2.size() != x.size()) return depends("extent");
  Extents out;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool is_whole = node.list2[i] == 0;
    if (is_whole && node.list[i] != 0) return depends("start");
    out.push_back(is_whole ? x[i] : Size(node.list2[i]));
  }
  return out;
}

Inferred pad(const Node& node, const Extents& x) {
  if (node.list.size() != x.size() || node.list2.size() != x.size()) return depends("padding");
  Extents out;
  for (size_t i = 0; i < x.size(); ++i) {
    out.push_back(x[i] + (int64_t{node.list[i]} + node.list2[i]));
  }
  return out;
}

Inferred concatenate(const Node& node, const Inputs& in) {
  PETREL_RETURN_IF_ERROR(check_rank(*in[0], size_t{node.axis} + 1));
  Extents out = *in[0];
  for (size_t i = 1; i < in.size(); ++i) {
    const Extents& next = *in[i];
    for (size_t dim = 0; dim < out.size(); ++dim) {
      const bool fits =
          next.size() == out.size() && (dim == node.axis || are_same(next[dim], out[dim]));
      if (!fits) return do_not_fit(*in[0], next);
    }
    out[node.axis] += next[node.axis];
  }
  return out;
}

Inferred average_all(const Node& node, const Extents& x) {
  PETREL_RETURN_IF_ERROR(check_rank(x, 3));
  Extents out = x;
  if ((node.flags & kKeepDims) != 0) {
    out[x.size() - 3] = out[x.size() - 2] = 1;
  } else {
    out.erase(out.end() - 3, out.end() - 1);
  }
  return out;
}

}  // namespace

bool are_same(const Extents& a, const Extents& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!are_same(a[i], b[i])) return false;
  }
  return true;
}

Inferred infer_extents(const Node& node, const Inputs& in) {
  const Extents& x = *in[0];
  switch (find_node_kind(node.kind)->family) {
    case NodeFamily::kUnary:
      if (node.kind == NodeKind::GlobalAvgPooling2d) return average_all(node, x);
      return x;
    case NodeFamily::kLeakyRelu:
    case NodeFamily::kElu:
      return x;
    case NodeFamily::kBinary:
      if (node.kind == NodeKind::BatchMatrixMultiply) return multiply(node, x, *in[1]);
      return broadcast(x, *in[1]);
    case NodeFamily::kFullyConnected:
      return connect(node, x, *in[1]);
    case NodeFamily::kConvolution:
      return convolve(node, x);
    case NodeFamily::kPooling:
    case NodeFamily::kArgMaxPooling:
      PETREL_RETURN_IF_ERROR(check_rank(x, 4));
      return slide(node.window, x, x[3]);
    case NodeFamily::kTranspose:
      return transpose(node, x);
    case NodeFamily::kReshape:
      return reshape(node, x);
    case NodeFamily::kSlice:
      return slice(node, x);
    case NodeFamily::kPad:
      return pad(node, x);
    case NodeFamily::kResize:
      PETREL_RETURN_IF_ERROR(check_rank(x, 4));
      return Extents{x[0], node.new_height, node.new_width, x[3]};
    case NodeFamily::kConcatenate:
      return concatenate(node, in);
    case NodeFamily::kNorm:
    case NodeFamily::kAttention:
      break;
  }
  return absl::InvalidArgumentError("its kind has no sizes that vary");
}

std::string to_string(const Extents& sizes) {
  const auto write = [](std::string* out, const Size& size) {
    out->append(exir::to_string(size.expression()));
  };
  return absl::StrCat("[", absl::StrJoin(sizes, ",", write), "]");
}

}  // namespace petrel::backends::xnnpack::aot
