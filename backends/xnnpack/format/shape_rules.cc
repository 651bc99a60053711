// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/shape_rules.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "backends/xnnpack/format/attention.h"
#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

using Inputs = std::vector<const Dims*>;

std::string number(uint64_t value) { return std::to_string(value); }

Problem check_rank(const char* what, const Dims& dims, size_t rank) {
  if (dims.size() == rank) return Problem::none();
  return Problem::invalid(std::string(what) + " is " + to_string(dims) + ", must have rank " +
                          number(rank));
}

// A missing bias is fine.
Problem check_bias(const Dims* bias, uint64_t channels) {
  if (bias == nullptr || (bias->size() == 1 && (*bias)[0] == channels)) return Problem::none();
  return Problem::invalid("bias is " + to_string(*bias) + ", must be [" + number(channels) + "]");
}

// One axis of a sliding window. Reads *size, writes the number of positions.
Problem slide(const char* axis, uint64_t size, uint64_t padding, uint64_t kernel, uint64_t stride,
              uint64_t dilation, uint64_t* positions) {
  if (kernel == 0 || stride == 0 || dilation == 0) {
    return Problem::invalid(std::string(axis) + ": kernel " + number(kernel) + ", stride " +
                            number(stride) + ", dilation " + number(dilation) + ", must not be 0");
  }
  if (padding > kMaxDim) {
    return Problem::invalid(std::string(axis) + ": padding is " + number(padding) +
                            ", must be below 2^31");
  }
  const uint64_t reach = (kernel - 1) * dilation + 1;  // below 2^64: both are 32 bits
  if (reach > size + padding) {
    return Problem::invalid(std::string(axis) + ": the kernel reaches over " + number(reach) +
                            " elements, the padded input has " + number(size + padding));
  }
  *positions = (size + padding - reach) / stride + 1;
  return Problem::none();
}

Problem slide_over_image(const Window& w, const Dims& image, uint64_t* height, uint64_t* width) {
  Problem p = slide("height", image[1], uint64_t{w.padding_top} + w.padding_bottom, w.kernel_height,
                    w.stride_height, w.dilation_height, height);
  if (!p.ok()) return p;
  p = slide("width", image[2], uint64_t{w.padding_left} + w.padding_right, w.kernel_width,
            w.stride_width, w.dilation_width, width);
  if (!p.ok()) return p;
  const long double pointers =
      static_cast<long double>(*height) * *width * w.kernel_height * w.kernel_width;
  if (pointers > kMaxIndirections) {
    return Problem::invalid("a window of " + number(w.kernel_height) + "x" +
                            number(w.kernel_width) + " at " + number(*height) + "x" +
                            number(*width) + " positions is too large");
  }
  return Problem::none();
}

// Assigns 64-bit dims, refusing those that do not fit.
Problem assign(const std::vector<uint64_t>& dims, Dims* out) {
  out->clear();
  for (const uint64_t dim : dims) {
    if (dim > kMaxDim) {
      return Problem::invalid("output dim is " + number(dim) + ", must be below 2^31");
    }
    out->push_back(static_cast<uint32_t>(dim));
  }
  return Problem::none();
}

Problem transposed_extent(const char* axis, uint64_t size, uint64_t padding, uint64_t kernel,
                          uint64_t stride, uint64_t dilation, uint64_t adjustment,
                          uint64_t* extent) {
  if (kernel == 0 || stride == 0 || dilation == 0) {
    return Problem::invalid(std::string(axis) + ": kernel " + number(kernel) + ", stride " +
                            number(stride) + ", dilation " + number(dilation) + ", must not be 0");
  }
  if (adjustment >= stride) {
    return Problem::invalid(std::string(axis) + ": adjustment is " + number(adjustment) +
                            ", must be below the stride " + number(stride));
  }
  if (padding > kMaxDim) {
    return Problem::invalid(std::string(axis) + ": padding is " + number(padding) +
                            ", must be below 2^31");
  }
  // Below 2^64: dims and kernels, which are dims of the filter, have 31 bits, all else 32.
  const uint64_t whole =
      size == 0 ? 0 : (size - 1) * stride + (kernel - 1) * dilation + 1 + adjustment;
  if (whole <= padding) {
    return Problem::invalid(std::string(axis) + ": the output has no elements");
  }
  *extent = whole - padding;
  return Problem::none();
}

Problem infer_convolution(const Node& node, const Inputs& in, Dims* out) {
  const Dims& filter = *in[1];
  if (Problem p = check_rank("input", *in[0], 4); !p.ok()) return p;
  Dims x = *in[0];
  if (node.reads_planes) x = {x[0], x[2], x[3], x[1]};
  const Channels& c = node.channels;
  const Window& w = node.window;
  const uint64_t input_channels = uint64_t{c.groups} * c.group_input_channels;
  const uint64_t output_channels = uint64_t{c.groups} * c.group_output_channels;
  if (input_channels != x[3]) {
    return Problem::invalid("groups " + number(c.groups) + " of " + number(c.group_input_channels) +
                            " -> " + number(c.group_output_channels) +
                            " channels do not fit input " + to_string(x));
  }
  Dims expected = {0, w.kernel_height, w.kernel_width, 0};
  if (node.kind == NodeKind::DepthwiseConv2d) {
    if (c.group_input_channels != 1) {
      return Problem::invalid("group_input_channels is " + number(c.group_input_channels) +
                              ", must be 1");
    }
    expected[0] = 1;
    expected[3] = output_channels <= kMaxDim ? static_cast<uint32_t>(output_channels) : 0;
  } else {
    expected[0] = output_channels <= kMaxDim ? static_cast<uint32_t>(output_channels) : 0;
    expected[3] = c.group_input_channels;
  }
  if (filter != expected) {
    return Problem::invalid("filter is " + to_string(filter) + ", must be " + to_string(expected));
  }
  if (Problem p = check_bias(in[2], output_channels); !p.ok()) return p;
  uint64_t height = 0;
  uint64_t width = 0;
  if (node.kind != NodeKind::ConvTranspose2d) {
    if (Problem p = slide_over_image(w, x, &height, &width); !p.ok()) return p;
    return assign({x[0], height, width, output_channels}, out);
  }
  Problem p =
      transposed_extent("height", x[1], uint64_t{w.padding_top} + w.padding_bottom, w.kernel_height,
                        w.stride_height, w.dilation_height, c.adjustment_height, &height);
  if (!p.ok()) return p;
  p = transposed_extent("width", x[2], uint64_t{w.padding_left} + w.padding_right, w.kernel_width,
                        w.stride_width, w.dilation_width, c.adjustment_width, &width);
  if (!p.ok()) return p;
  const long double pointers =
      static_cast<long double>(height) * width * w.kernel_height * w.kernel_width;
  if (pointers > kMaxIndirections) {
    return Problem::invalid("an output of " + number(height) + "x" + number(width) +
                            " with a kernel of " + number(w.kernel_height) + "x" +
                            number(w.kernel_width) + " is too large");
  }
  return assign({x[0], height, width, output_channels}, out);
}

Problem infer_fully_connected(const Node& node, const Inputs& in, Dims* out) {
  const Dims& x = *in[0];
  const Dims& filter = *in[1];
  if (Problem p = check_rank("filter", filter, 2); !p.ok()) return p;
  const bool transposed = (node.flags & kTransposeWeights) != 0;
  const uint32_t input_channels = filter[transposed ? 0 : 1];
  const uint32_t output_channels = filter[transposed ? 1 : 0];
  if (x.empty() || x.back() != input_channels) {
    return Problem::invalid("input is " + to_string(x) + ", its last dim must be " +
                            number(input_channels));
  }
  if (Problem p = check_bias(in[2], output_channels); !p.ok()) return p;
  *out = x;
  out->back() = output_channels;
  return Problem::none();
}

// Where a window is dilated, XNNPACK takes for an element of padding one that lies in the window
// whenever the image is large enough, and reads behind the image where it is not.
bool is_read_inside(uint64_t size, uint64_t padding, uint64_t stride, uint64_t dilation,
                    uint64_t positions) {
  const uint64_t shift = padding % dilation;
  const uint64_t last = (positions - 1) * stride;  // at most size + padding
  if (last >= shift && last - shift >= size) return false;
  if (shift == 0) return true;
  const uint64_t first_ones = std::min(last, (shift - 1) / stride * stride);
  return first_ones + dilation - shift < size;
}

// Windows side by side share the elements of a column unless it is dilated: that one of a window
// is not in another where padding is most of both.
bool shares_right_columns(const Window& w) {
  return w.dilation_width > 1 || 2 * uint64_t{w.padding_left} <= w.kernel_width;
}

Problem check_dilated_maxima(const Window& w, const Dims& image, uint64_t height, uint64_t width) {
  if (w.dilation_height == 1 && w.dilation_width == 1) return Problem::none();
  if (shares_right_columns(w) &&
      is_read_inside(image[1], w.padding_top, w.stride_height, w.dilation_height, height) &&
      is_read_inside(image[2], w.padding_left, w.stride_width, w.dilation_width, width)) {
    return Problem::none();
  }
  return Problem::unsupported(
      "max pooling of " + to_string(image) + " with dilation " + number(w.dilation_height) + "x" +
      number(w.dilation_width) + " and padding " + number(w.padding_top) + "," +
      number(w.padding_right) + "," + number(w.padding_bottom) + "," + number(w.padding_left));
}

Problem infer_pooling(const Node& node, const Inputs& in, Dims* out) {
  const Dims& x = *in[0];
  const Window& w = node.window;
  if (Problem p = check_rank("input", x, 4); !p.ok()) return p;
  uint64_t height = 0;
  uint64_t width = 0;
  if (Problem p = slide_over_image(w, x, &height, &width); !p.ok()) return p;
  const bool is_max = node.kind == NodeKind::MaxPooling2d;
  if (is_max && w.kernel_height == 1 && w.kernel_width == 1) {
    return Problem::unsupported("max pooling over one element");
  }
  if (is_max && (w.stride_height > w.kernel_height || w.stride_width > w.kernel_width)) {
    return Problem::unsupported("max pooling with a stride of " + number(w.stride_height) + "x" +
                                number(w.stride_width) + " above its kernel " +
                                number(w.kernel_height) + "x" + number(w.kernel_width));
  }
  if (!is_max && (w.dilation_height != 1 || w.dilation_width != 1)) {
    return Problem::unsupported("average pooling with dilation");
  }
  // A window that sees padding only has no maximum and no mean.
  const auto too_much = [](uint64_t padding, uint64_t kernel, uint64_t dilation) {
    return padding > (kernel - 1) * dilation;
  };
  if (too_much(w.padding_top, w.kernel_height, w.dilation_height) ||
      too_much(w.padding_bottom, w.kernel_height, w.dilation_height) ||
      too_much(w.padding_left, w.kernel_width, w.dilation_width) ||
      too_much(w.padding_right, w.kernel_width, w.dilation_width)) {
    return Problem::invalid("padding " + number(w.padding_top) + "," + number(w.padding_right) +
                            "," + number(w.padding_bottom) + "," + number(w.padding_left) +
                            " is not below the kernel " + number(w.kernel_height) + "x" +
                            number(w.kernel_width));
  }
  if (is_max) {
    if (Problem p = check_dilated_maxima(w, x, height, width); !p.ok()) return p;
  }
  return assign({x[0], height, width, x[3]}, out);
}

Problem infer_broadcast(const Dims& a, const Dims& b, Dims* out) {
  const size_t rank = std::max(a.size(), b.size());
  out->assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const uint32_t da = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const uint32_t db = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (da != db && da != 1 && db != 1) {
      return Problem::invalid("inputs " + to_string(a) + " and " + to_string(b) +
                              " do not broadcast");
    }
    (*out)[i] = da == 1 ? db : da;
  }
  return Problem::none();
}

Problem infer_matmul(const Node& node, const Dims& a, const Dims& b, Dims* out) {
  if (a.size() < 3 || b.size() < 3) {
    return Problem::invalid("inputs " + to_string(a) + " and " + to_string(b) +
                            " must have a rank of at least 3");
  }
  const bool transposed = (node.flags & kTransposeWeights) != 0;
  const uint32_t k = b[b.size() - (transposed ? 1 : 2)];
  const uint32_t n = b[b.size() - (transposed ? 2 : 1)];
  if (a.back() != k) {
    return Problem::invalid("inputs " + to_string(a) + " and " + to_string(b) +
                            " cannot be multiplied");
  }
  if (Problem p = infer_broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2), out);
      !p.ok()) {
    return p;
  }
  out->push_back(a[a.size() - 2]);
  out->push_back(n);
  return Problem::none();
}

Problem infer_transpose(const Node& node, const Dims& x, Dims* out) {
  std::vector<bool> seen(x.size(), false);
  out->clear();
  bool ok = node.list.size() == x.size();
  for (size_t i = 0; ok && i < x.size(); ++i) {
    const uint32_t axis = node.list[i];
    ok = axis < x.size() && !seen[axis];
    if (!ok) break;
    seen[axis] = true;
    out->push_back(x[axis]);
  }
  if (ok) return Problem::none();
  return Problem::invalid("perm " + to_string(node.list) + " does not permute input " +
                          to_string(x));
}

// Whether the input has the sizes that the node needs, 0 for any.
bool has_needed_sizes(const Node& node, const Dims& x) {
  if (node.list2.empty()) return true;
  const auto fits = [](uint32_t size, uint32_t needed) { return needed == 0 || size == needed; };
  return std::equal(x.begin(), x.end(), node.list2.begin(), node.list2.end(), fits);
}

Problem infer_reshape(const Node& node, const Dims& x, Dims* out) {
  if (!has_needed_sizes(node, x)) {
    return Problem::invalid("input " + to_string(x) + " is not " + to_string(node.list2));
  }
  *out = node.list;
  const size_t zeros = static_cast<size_t>(std::count(out->begin(), out->end(), 0u));
  const uint64_t elements = count_elements(x);
  if (zeros == 1) {
    const auto rest = std::find(out->begin(), out->end(), 0u);
    *rest = 1;
    const uint64_t known = count_elements(*out);
    if (known != 0 && elements % known == 0 && elements / known <= kMaxDim) {
      *rest = static_cast<uint32_t>(elements / known);
    }
  }
  // What is unknown still is 0, and has no elements.
  if (count_elements(*out) != elements) {
    return Problem::invalid("input " + to_string(x) + " cannot be reshaped to " +
                            to_string(node.list));
  }
  return Problem::none();
}

Problem infer_norm(const Node& node, const Inputs& in, Dims* out) {
  const Dims& x = *in[0];
  const Channels& c = node.channels;
  const uint64_t channels = uint64_t{c.groups} * c.group_input_channels;
  if (channels == 0 || node.axis >= x.size() || x.back() != channels) {
    return Problem::invalid("input is " + to_string(x) + ", must have " + number(channels) +
                            " channels behind dim " + number(node.axis));
  }
  if (!has_needed_sizes(node, x)) {
    return Problem::invalid("input " + to_string(x) + " is not " + to_string(node.list2));
  }
  for (const Dims* operand : {in[1], in[2]}) {
    if (operand == nullptr || count_elements(*operand) == channels) continue;
    return Problem::invalid("a factor is " + to_string(*operand) + ", must have " +
                            number(channels) + " elements");
  }
  *out = x;
  return Problem::none();
}

Problem infer_slice(const Node& node, const Dims& x, Dims* out) {
  if (node.list.size() != x.size() || node.list2.size() != x.size()) {
    return Problem::invalid("offsets " + to_string(node.list) + " and sizes " +
                            to_string(node.list2) + " do not fit input " + to_string(x));
  }
  *out = node.list2;
  for (size_t i = 0; i < x.size(); ++i) {
    // A size of 0 stands for the whole dim.
    if ((*out)[i] == 0) (*out)[i] = x[i];
    if (uint64_t{node.list[i]} + (*out)[i] > x[i]) {
      return Problem::invalid("slice of " + number((*out)[i]) + " from " + number(node.list[i]) +
                              " exceeds dim " + number(i) + " of input " + to_string(x));
    }
  }
  return Problem::none();
}

Problem infer_pad(const Node& node, const Dims& x, Dims* out) {
  if (node.list.size() != x.size() || node.list2.size() != x.size()) {
    return Problem::invalid("paddings " + to_string(node.list) + " and " + to_string(node.list2) +
                            " do not fit input " + to_string(x));
  }
  std::vector<uint64_t> dims;
  for (size_t i = 0; i < x.size(); ++i) {
    dims.push_back(uint64_t{node.list[i]} + x[i] + node.list2[i]);
  }
  return assign(dims, out);
}

Problem infer_concatenate(const Node& node, const Inputs& in, Dims* out) {
  const Dims& first = *in[0];
  if (node.axis >= first.size()) {
    return Problem::invalid("axis is " + number(node.axis) + ", input has rank " +
                            number(first.size()));
  }
  std::vector<uint64_t> dims(first.begin(), first.end());
  for (size_t i = 1; i < in.size(); ++i) {
    Dims other = *in[i];
    if (other.size() == first.size()) {
      dims[node.axis] += other[node.axis];
      other[node.axis] = first[node.axis];
    }
    if (other != first) {
      return Problem::invalid("inputs " + to_string(first) + " and " + to_string(*in[i]) +
                              " cannot be joined along axis " + number(node.axis));
    }
  }
  return assign(dims, out);
}

Problem infer_resize(const Node& node, const Dims& x, Dims* out) {
  if (Problem p = check_rank("input", x, 4); !p.ok()) return p;
  for (const uint32_t side : {x[1], x[2], node.new_height, node.new_width}) {
    if (side > kMaxResizedSide) {
      return Problem::unsupported("resizing from or to a side of " + number(side) +
                                  ", must be at most " + number(kMaxResizedSide));
    }
  }
  if (uint64_t{node.new_height} * node.new_width > kMaxIndirections / 4) {
    return Problem::invalid("resizing to " + number(node.new_height) + "x" +
                            number(node.new_width) + " is too large");
  }
  return assign({x[0], node.new_height, node.new_width, x[3]}, out);
}

Problem infer_unary(const Node& node, const Dims& x, Dims* out) {
  *out = x;
  if (node.kind == NodeKind::Softmax && x.empty()) {
    return Problem::invalid("input is [], must have rank 1 or more");
  }
  if (node.kind != NodeKind::GlobalAvgPooling2d) return Problem::none();
  if (x.size() < 3) {
    return Problem::invalid("input is " + to_string(x) + ", must have rank 3 or more");
  }
  if ((node.flags & kKeepDims) != 0) {
    (*out)[x.size() - 3] = 1;
    (*out)[x.size() - 2] = 1;
  } else {
    out->erase(out->end() - 3, out->end() - 1);
  }
  return Problem::none();
}

}  // namespace

Problem check_dims(const Dims& dims) {
  if (dims.size() > kMaxValueRank) {
    return Problem::invalid("rank is " + number(dims.size()) + ", must be at most " +
                            number(kMaxValueRank));
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 1 || dims[i] > kMaxDim) {
      return Problem::invalid("dim " + number(i) + " is " + number(dims[i]) +
                              ", must be in [1, 2^31)");
    }
  }
  const uint64_t elements = count_elements(dims);
  if (elements == 0 || elements > kMaxValueBytes / sizeof(float)) {
    return Problem::invalid("dims " + to_string(dims) + " need more than 2^34 bytes");
  }
  return Problem::none();
}

Problem infer_output_dims(const Node& node, const Inputs& in, Dims* out) {
  if (Problem p = infer_any_dims(node, in, out); !p.ok()) return p;
  return check_dims(*out);
}

Problem infer_any_dims(const Node& node, const Inputs& in, Dims* out) {
  const Dims& x = *in[0];
  switch (find_node_kind(node.kind)->family) {
    case NodeFamily::kUnary:
      return infer_unary(node, x, out);
    case NodeFamily::kBinary:
      if (node.kind == NodeKind::BatchMatrixMultiply) {
        return infer_matmul(node, x, *in[1], out);
      }
      return infer_broadcast(x, *in[1], out);
    case NodeFamily::kFullyConnected:
      return infer_fully_connected(node, in, out);
    case NodeFamily::kConvolution:
      return infer_convolution(node, in, out);
    case NodeFamily::kPooling:
    case NodeFamily::kArgMaxPooling:
      return infer_pooling(node, in, out);
    case NodeFamily::kTranspose:
      return infer_transpose(node, x, out);
    case NodeFamily::kReshape:
      return infer_reshape(node, x, out);
    case NodeFamily::kSlice:
      return infer_slice(node, x, out);
    case NodeFamily::kPad:
      return infer_pad(node, x, out);
    case NodeFamily::kResize:
      return infer_resize(node, x, out);
    case NodeFamily::kConcatenate:
      return infer_concatenate(node, in, out);
    case NodeFamily::kLeakyRelu:
    case NodeFamily::kElu:
      if (!std::isfinite(node.scalar)) return Problem::invalid("its parameter is not finite");
      *out = x;
      return Problem::none();
    case NodeFamily::kAttention:
      if (node.attention != nullptr) return infer_attention(*node.attention, in, out);
      return Problem::unsupported("it is not implemented");
    case NodeFamily::kNorm:
      return infer_norm(node, in, out);
  }
  return Problem::invalid("unknown kind");
}

}  // namespace petrel::backends::xnnpack
