// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/ops/read_sizes.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using exir::rules::Size;
using IrNode = exir::Node;
using Ints = std::vector<int64_t>;

// For each dim of space: rows and columns, and before them the planes of a volume.
struct Pool {
  Ints kernel;
  Ints stride;
  Ints padding;
  Ints dilation;
  bool ceil_mode = false;

  size_t dims() const { return kernel.size(); }
  // Nothing is left to do along `axis`.
  bool keeps(size_t axis) const {
    return kernel[axis] == 1 && stride[axis] == 1 && padding[axis] == 0;
  }
};

Support read_pool(const IrNode& node, Pool* out) {
  const size_t rank = node.input(arg::self)->tensor().rank();
  const size_t dims = node.is(aten::max_pool3d, aten::avg_pool3d) ? 3 : 2;
  if (rank != dims + 2) {
    return Support::no(absl::StrCat("input has rank ", rank, ", must be ", dims + 2));
  }
  if (dims == 3 && !has_one_varying_size(exir::sizes_of(node.input(arg::self)))) {
    return Support::no("more than one of its sizes varies");
  }
  const auto list = [&](exir::ArgHandle name, const Ints& absent, int64_t minimum,
                        Ints* result) -> Support {
    std::optional<Ints> values = ints_argument(node.argument(name), dims);
    if (!values) {
      return Support::no(absl::StrCat(name.text, " is not a list of ", dims, " numbers"));
    }
    if (values->empty()) *values = absent;
    for (const int64_t value : *values) {
      if (value < minimum || value > INT32_MAX) {
        return Support::no(
            absl::StrCat(name.text, " has ", value, ", must be in [", minimum, ", 2^31)"));
      }
    }
    *result = std::move(*values);
    return Support::yes();
  };
  if (Support s = list(arg::kernel_size, {}, 1, &out->kernel); !s.supported) return s;
  if (out->kernel.empty()) return Support::no("kernel_size is empty");
  if (Support s = list(arg::stride, out->kernel, 1, &out->stride); !s.supported) return s;
  if (Support s = list(arg::padding, Ints(dims, 0), 0, &out->padding); !s.supported) return s;
  out->dilation.assign(dims, 1);
  if (node.op().find_arg(arg::dilation) >= 0) {
    if (Support s = list(arg::dilation, Ints(dims, 1), 1, &out->dilation); !s.supported) return s;
  }
  if (!node.argument(arg::ceil_mode).is_bool()) return Support::no("ceil_mode must be literal");
  out->ceil_mode = node.argument(arg::ceil_mode).as_bool();
  return Support::yes();
}

// What `axis` counts.
const char* things_of(const Pool& pool, size_t axis) {
  constexpr const char* kThings[] = {"planes", "rows", "columns"};
  return kThings[axis + 3 - pool.dims()];
}

// Planes, rows or columns missing behind the last one for the last window, which
// ceil_mode lets begin inside the image and end outside.
Size missing(const IrNode& node, const Pool& pool, size_t axis) {
  const Size in = exir::sizes_of(node.input(arg::self))[2 + axis];
  const Size out = exir::sizes_of(node.result())[2 + axis];
  const int64_t reach = (pool.kernel[axis] - 1) * pool.dilation[axis] + 1;
  return exir::rules::largest(0,
                              (out - 1) * pool.stride[axis] + reach - in - 2 * pool.padding[axis]);
}

// No dim of space: a side of one element of the window.
constexpr size_t kNone = SIZE_MAX;

// Over two dims. A window that ceil_mode lets end outside has that much more padding behind it;
// without ceil_mode none does.
Window window_of(const IrNode& node, const Pool& pool, size_t row, size_t column) {
  const auto behind = [&](size_t axis) {
    const std::optional<int64_t> more = pool.ceil_mode ? fixed(missing(node, pool, axis)) : 0;
    return static_cast<uint32_t>(pool.padding[axis] + more.value_or(0));
  };
  Window w;
  if (row != kNone) {
    w.padding_top = static_cast<uint32_t>(pool.padding[row]);
    w.padding_bottom = behind(row);
    w.kernel_height = static_cast<uint32_t>(pool.kernel[row]);
    w.stride_height = static_cast<uint32_t>(pool.stride[row]);
    w.dilation_height = static_cast<uint32_t>(pool.dilation[row]);
  }
  if (column != kNone) {
    w.padding_left = static_cast<uint32_t>(pool.padding[column]);
    w.padding_right = behind(column);
    w.kernel_width = static_cast<uint32_t>(pool.kernel[column]);
    w.stride_width = static_cast<uint32_t>(pool.stride[column]);
    w.dilation_width = static_cast<uint32_t>(pool.dilation[column]);
  }
  return w;
}

// Calls `step(x, window, output, range)` for what is done to images: once, or for volumes over
// rows and columns of each plane, and then over planes, which are rows of an image that is as
// wide as a plane has pixels.
template <typename Step>
Status in_steps(Lowering& l, const IrNode& node, const Pool& pool, uint32_t x, const Step& step) {
  if (pool.dims() == 2) {
    step(x, window_of(node, pool, 0, 1), l.result(node), l.range());
    return absl::OkStatus();
  }
  const Extents in = exir::sizes_of(node.input(arg::self));
  const Extents out = exir::sizes_of(node.result());
  const bool has_planes = !pool.keeps(1) || !pool.keeps(2);
  const bool has_depth = !pool.keeps(0);
  if (has_planes) {
    const uint32_t planes =
        has_depth ? l.intermediate({in[0] * in[2], out[3], out[4], in[1]}) : l.result(node);
    step(x, window_of(node, pool, 1, 2), planes, has_depth ? Range() : l.range());
    x = planes;
  }
  if (!has_depth) return absl::OkStatus();
  const uint32_t rows = l.reshape(x, {in[0], in[2], out[3] * out[4], in[1]});
  const uint32_t pooled = l.intermediate({in[0], out[2], out[3] * out[4], in[1]});
  step(rows, window_of(node, pool, 0, kNone), pooled, l.range());
  l.add_reshape(pooled, l.result(node));
  return absl::OkStatus();
}

void add_pool(Lowering& l, NodeKind kind, uint32_t x, const Window& window, uint32_t output,
              const Range& range) {
  Node& pool = l.add_node(kind, {x}, output);
  pool.window = window;
  pool.flags = kKeepDims;
  pool.output_min = range.min;
  pool.output_max = range.max;
}

// Where windows are dilated XNNPACK takes for padding an element of the image, which a small
// one does not have, nor one that windows leave below or to the right.
Support check_dilation(const IrNode& node, const Pool& pool) {
  if (pool.dilation == Ints(pool.dims(), 1)) return Support::yes();
  for (size_t i = 0; i < pool.dims(); ++i) {
    const char* const what = things_of(pool, i);
    const int64_t dilation = pool.dilation[i];
    const Size size = exir::sizes_of(node.input(arg::self))[2 + i];
    if (pool.padding[i] % dilation != 0 && !exir::is_at_most(dilation, size)) {
      return Support::no(absl::StrCat("dilation is ", dilation, " with padding ", pool.padding[i],
                                      ", must be at most the number of ", what));
    }
    if (pool.ceil_mode && !exir::is_at_most(missing(node, pool, i), 0)) {
      return Support::no(absl::StrCat("ceil_mode adds ", what, " to dilated windows"));
    }
  }
  return Support::yes();
}

Support check_max_pool(const IrNode& node) {
  Pool pool;
  if (Support support = read_pool(node, &pool); !support.supported) return support;
  if (pool.kernel == Ints(pool.dims(), 1)) {
    return Support::no("kernel_size is 1x1, must have two elements or more");
  }
  for (size_t i = 0; i < pool.dims(); ++i) {
    if (pool.stride[i] > pool.kernel[i]) {
      return Support::no(absl::StrCat("stride is ", pool.stride[i],
                                      ", must be at most the kernel size ", pool.kernel[i]));
    }
    if (pool.ceil_mode && !fixed(missing(node, pool, i))) {
      return Support::no(absl::StrCat("the ", things_of(pool, i),
                                      " that ceil_mode adds depend on sizes that vary"));
    }
  }
  return check_dilation(node, pool);
}

Status lower_max_pool(Lowering& l, const IrNode& node) {
  Pool pool;
  read_pool(node, &pool);
  PETREL_ASSIGN_OR_RETURN(const uint32_t x,
                          l.operand(node.input(arg::self), Layout::kChannelsLast));
  const auto step = [&l](uint32_t from, const Window& window, uint32_t to, const Range& range) {
    add_pool(l, NodeKind::MaxPooling2d, from, window, to, range);
  };
  return in_steps(l, node, pool, x, step);
}

Support check_avg_pool(const IrNode& node) {
  Pool pool;
  if (Support support = read_pool(node, &pool); !support.supported) return support;
  if (pool.dims() == 3 && pool.kernel == Ints(3, 1)) return Support::no("kernel_size is 1x1x1");
  for (size_t i = 0; pool.ceil_mode && i < pool.dims(); ++i) {
    if (exir::is_at_most(missing(node, pool, i), 0)) continue;
    return Support::no("ceil_mode makes windows that end outside the padded input");
  }
  if (!node.argument(arg::count_include_pad).is_bool()) {
    return Support::no("count_include_pad must be literal");
  }
  const exir::Argument& divisor = node.argument(arg::divisor_override);
  if (divisor.is_none()) return Support::yes();
  // Windows that see padding would be divided by less.
  int64_t area = 1;
  for (const int64_t size : pool.kernel) area *= size;
  const bool counts_padding =
      node.argument(arg::count_include_pad).as_bool() || pool.padding == Ints(pool.dims(), 0);
  if (divisor.is_int() && divisor.as_int() == area && counts_padding) return Support::yes();
  return Support::no(absl::StrCat("divisor_override must be the kernel's ",
                                  pool.dims() == 2 ? "area " : "volume ", area));
}

// XNNPACK leaves padding out of the mean; where PyTorch counts it, it is
// written into the image first. Of half it would round every sum.
Status lower_avg_pool(Lowering& l, const IrNode& node) {
  Pool pool;
  read_pool(node, &pool);
  PETREL_ASSIGN_OR_RETURN(uint32_t x, l.operand(node.input(arg::self), Layout::kChannelsLast));
  x = l.widened(x);
  const bool counts_padding = node.argument(arg::count_include_pad).as_bool();
  const auto step = [&](uint32_t from, Window window, uint32_t to, const Range& range) {
    if (counts_padding && (window.padding_top > 0 || window.padding_left > 0)) {
      Extents sizes = l.sizes(from);
      sizes[1] += 2 * window.padding_top;
      sizes[2] += 2 * window.padding_left;
      const uint32_t padded = l.intermediate(sizes);
      Node& pad = l.add_node(NodeKind::StaticConstantPad, {from}, padded);
      pad.list = pad.list2 = {0, window.padding_top, window.padding_left, 0};
      window.padding_top = window.padding_bottom = 0;
      window.padding_left = window.padding_right = 0;
      from = padded;
    }
    add_pool(l, NodeKind::AvgPooling2d, from, window, to, range);
  };
  return in_steps(l, node, pool, x, step);
}

// --- means over all of space and over channels ---

// Of images, that stay images.
bool is_over_channels(const std::vector<bool>& reduced, const IrNode& node) {
  const exir::Value* x = node.input(arg::self);
  return reduced == std::vector<bool>{false, true, false, false} &&
         node.argument(arg::keepdim).as_bool() && fixed(exir::sizes_of(x)[1]) &&
         x->tensor().dtype == exir::ScalarType::kFloat;
}

Support check_mean(const IrNode& node) {
  const size_t rank = node.input(arg::self)->tensor().rank();
  if (!has_channels_last_form(rank)) {
    return Support::no(absl::StrCat("input has rank ", rank, ", must be 3, 4 or 5"));
  }
  if (!node.argument(arg::dtype).is_none() &&
      !(node.argument(arg::dtype).is_scalar_type() &&
        node.argument(arg::dtype).as_scalar_type() == exir::ScalarType::kFloat)) {
    return Support::no("dtype must be f32");
  }
  if (!node.argument(arg::keepdim).is_bool()) return Support::no("keepdim must be literal");
  const exir::Argument& dim = node.argument(arg::dim);
  std::vector<bool> reduced(rank, false);
  size_t count = 0;
  if (dim.is_ints()) {
    for (const int64_t value : dim.as_ints()) {
      const auto axis = axis_argument(value, rank);
      if (!axis) return Support::no(absl::StrCat("dim ", value, " is out of range"));
      count += reduced[*axis] ? 0 : 1;
      reduced[*axis] = true;
    }
  }
  if (count == rank - 2 && !reduced[0] && !reduced[1]) return Support::yes();
  if (is_over_channels(reduced, node)) return Support::yes();
  return Support::no(
      "the mean must be over all dims but the first two, or over the channels of images");
}

LayoutNeed mean_need(const IrNode& node) {
  return node.argument(arg::keepdim).as_bool() ? LayoutNeed::kChannelsLast : LayoutNeed::kReduces;
}

// XNNPACK's mean is over rows and columns; that of channels is a product with one output.
Status lower_mean_of_channels(Lowering& l, const IrNode& node, uint32_t x) {
  const auto channels = static_cast<uint32_t>(*fixed(exir::sizes_of(node.input(arg::self))[1]));
  const std::vector<float> parts(channels, 1.0f / static_cast<float>(channels));
  PETREL_ASSIGN_OR_RETURN(const uint32_t filter, l.floats({}, {1, 1, 1, channels}, parts));
  Node& product = l.add_node(NodeKind::Conv2d, {x, filter, kNoId}, l.result(node));
  product.channels = {1, channels, 1, 0, 0};
  return absl::OkStatus();
}

Status lower_mean(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(uint32_t x, l.operand(node.input(arg::self), Layout::kChannelsLast));
  const Extents in = exir::sizes_of(node.input(arg::self));
  if (node.argument(arg::dim).as_ints().size() == 1 && in.size() == 4) {
    return lower_mean_of_channels(l, node, x);
  }
  if (in.size() == 5) x = l.reshape(x, {in[0], in[2] * in[3], in[4], in[1]});
  const bool keepdim = node.argument(arg::keepdim).as_bool();
  l.add_node(NodeKind::GlobalAvgPooling2d, {x}, l.result(node)).flags = keepdim ? kKeepDims : 0;
  return absl::OkStatus();
}

// --- resizing ---

Support check_resize(const IrNode& node) {
  const exir::Value* input = node.input(arg::input);
  if (input->tensor().rank() != 4) {
    return Support::no(absl::StrCat("input has rank ", input->tensor().rank(), ", must be 4"));
  }
  if (!node.argument(arg::align_corners).is_bool()) {
    return Support::no("align_corners must be literal");
  }
  const Extents from = exir::sizes_of(input);
  const Extents to = exir::sizes_of(node.result());
  if (!fixed(to[2]) || !fixed(to[3])) return Support::no("the size of its result varies");
  const exir::Argument& factors = node.argument(arg::scale_factors);
  if (factors.is_none() || node.argument(arg::align_corners).as_bool()) return Support::yes();
  if (!factors.is_floats() || factors.as_floats().size() != 2) {
    return Support::no("scale_factors is not a list of 2 numbers");
  }
  // PyTorch then samples by the factor as given, XNNPACK by the ratio of sizes.
  for (size_t i = 0; i < 2; ++i) {
    const auto in = fixed(from[2 + i]);
    if (!in) return Support::no("scale_factors are given for sizes that vary");
    const auto out = static_cast<double>(*fixed(to[2 + i]));
    if (static_cast<double>(*in) * factors.as_floats()[i] != out) {
      return Support::no(absl::StrCat("scale factor ", factors.as_floats()[i],
                                      " does not give a whole number of pixels"));
    }
  }
  return Support::yes();
}

Status lower_resize(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x,
                          l.operand(node.input(arg::input), Layout::kChannelsLast));
  const uint32_t out = l.result(node);
  Node& resize = l.add_node(NodeKind::StaticResizeBilinear2d, {x}, out);
  resize.new_height = static_cast<uint32_t>(*fixed(l.sizes(out)[1]));
  resize.new_width = static_cast<uint32_t>(*fixed(l.sizes(out)[2]));
  resize.flags = node.argument(arg::align_corners).as_bool() ? kAlignCorners : 0;
  return absl::OkStatus();
}

// --- softmax ---

Support check_softmax(const IrNode& node) {
  const size_t rank = node.input(arg::self)->tensor().rank();
  const exir::Argument& dim = node.argument(arg::dim);
  const auto axis = dim.is_int() ? axis_argument(dim.as_int(), rank) : std::nullopt;
  if (!axis) return Support::no("dim must be literal and in range");
  const exir::Argument& half_to_float = node.argument(arg::half_to_float);
  if (half_to_float.is_bool() && half_to_float.as_bool()) {
    return Support::no("half_to_float is true");
  }
  // Over channels the last axis is the one, once they come last.
  if (*axis + 1 == rank || (*axis == 1 && has_channels_last_form(rank))) return Support::yes();
  return Support::no(absl::StrCat("dim is ", *axis, ", must be the last"));
}

LayoutNeed softmax_need(const IrNode& node) {
  const size_t rank = node.input(arg::self)->tensor().rank();
  const size_t axis = *axis_argument(node.argument(arg::dim).as_int(), rank);
  return axis + 1 == rank ? LayoutNeed::kPlain : LayoutNeed::kChannelsLast;
}

// XNNPACK's of half is some units in the last place off.
Status lower_softmax(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(uint32_t x, l.operand(node.input(arg::self), l.result_layout(node)));
  x = l.widened(x);
  l.add_node(NodeKind::Softmax, {x}, l.result(node));
  return absl::OkStatus();
}

constexpr OpRow kRows[] = {
    {aten::max_pool2d, &check_max_pool, &channels_last, &lower_max_pool, true},
    {aten::avg_pool2d, &check_avg_pool, &channels_last, &lower_avg_pool, true},
    {aten::max_pool3d, &check_max_pool, &channels_last, &lower_max_pool, true},
    {aten::avg_pool3d, &check_avg_pool, &channels_last, &lower_avg_pool, true},
    {aten::mean_dim, &check_mean, &mean_need, &lower_mean},
    {aten::upsample_bilinear2d_vec, &check_resize, &channels_last, &lower_resize},
    {aten::_softmax, &check_softmax, &softmax_need, &lower_softmax},
};

}  // namespace

absl::Span<const OpRow> pooling_ops() { return kRows; }

}  // namespace petrel::backends::xnnpack::aot
