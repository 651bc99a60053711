// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and pools.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/operators.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// One spatial dim is read as two of which the first is 1.
Extents as_plane(Extents sizes) {
  if (sizes.size() == 3) sizes.insert(sizes.begin() + 2, 1);
  return sizes;
}

// One number per direction; where there is one dim, `neutral` for the other.
void bind_pair(KernelCall& call, const std::string& height, const std::string& width,
               const Argument& argument, bool flat, int64_t neutral) {
  std::vector<int64_t> pair = ints_of(argument, flat ? 1 : 2);
  if (flat) pair.insert(pair.begin(), neutral);
  NodeCalls::bind(call, height, pair[0]);
  NodeCalls::bind(call, width, pair[1]);
}

void bind_sizes(KernelCall& call, const Extents& in, const Extents& out) {
  NodeCalls::bind(call, "IN_HEIGHT", in[in.size() - 2]);
  NodeCalls::bind(call, "IN_WIDTH", in[in.size() - 1]);
  NodeCalls::bind(call, "OUT_HEIGHT", out[out.size() - 2]);
  NodeCalls::bind(call, "OUT_WIDTH", out[out.size() - 1]);
}

bool is_one(const Argument& argument) {
  const std::vector<int64_t> ints = ints_of(argument);
  return std::all_of(ints.begin(), ints.end(), [](int64_t i) { return i == 1; });
}

bool is_zero(const Argument& argument) {
  const std::vector<int64_t> ints = ints_of(argument);
  return std::all_of(ints.begin(), ints.end(), [](int64_t i) { return i == 0; });
}

// A plane that is read point by point is one row.
void flatten(Extents* sizes) {
  sizes->back() *= (*sizes)[2];
  (*sizes)[2] = 1;
}

// Whether rows of the output are so short that several of them fill vectors better, and what two of
// them read and four filters fit into what kernels keep on the stack. Precondition: all sizes are
// numbers.
bool joins_rows(const Extents& filters, const Extents& out, const Node& node) {
  constexpr int64_t kMostVectors = 64, kDoubles = 65536 / 8 - kMostVectors;
  const auto number_at = [&](ArgHandle handle) { return ints_of(node.argument(handle))[0]; };
  const int64_t tall = (filters[2].number() - 1) * number_at(arg::dilation);
  const int64_t step = number_at(arg::stride), phases = std::min(tall + 1, step);
  const int64_t width = out[3].number(),
                lines = std::min<int64_t>(2, out[2].number()) + tall / step;
  const int64_t widest = out[2].number() == 1 ? 256 : filters[2].number() > 1 ? 24 : 0;
  return width <= widest &&
         4 * filters[1].number() * filters[2].number() * filters[3].number() < kDoubles / 2 &&
         filters[1].number() * filters[3].number() * phases * lines * width < kDoubles / 2;
}

constexpr char kPlaces[] = "kernels/convolution_places.h";
constexpr char kShifted[] = "kernels/convolution_shifted.h";
constexpr char kTurned[] = "kernels/convolution_turned.h";

// Whether filters of one point meet all places of an input, which fill vectors. Precondition: all
// sizes are numbers, and such an input is one row.
bool meets_points(const Extents& in, const Extents& filters, const Extents& out) {
  constexpr int64_t kMostChannels = 4096;
  return filters[2] == 1 && filters[3] == 1 && in[2] == 1 && out[2] == 1 && in[3] == out[3] &&
         out[3].number() >= NodeCalls::kMostLanes && filters[1].number() <= kMostChannels;
}

// Whether filters of one channel each move by one place over planes whose rows are shorter than
// vectors, and a line for each of a filter's columns fits into what kernels keep on the stack.
// Precondition: all sizes are numbers.
bool shifts_planes(const Extents& in, const Extents& filters, int64_t groups, const Extents& out,
                   const Node& node) {
  constexpr int64_t kMostDoubles = 65536 / 8 / 4;
  const auto last_of = [&](ArgHandle handle) { return ints_of(node.argument(handle)).back(); };
  const auto first_of = [&](ArgHandle handle) { return ints_of(node.argument(handle)).front(); };
  const int64_t width = in[3].number(), height = in[2].number();
  const int64_t padding = last_of(arg::padding);
  const int64_t reach = (filters[3].number() - 1) * last_of(arg::dilation);
  const int64_t rows =
      height + first_of(arg::padding) + (filters[2].number() - 1) * first_of(arg::dilation);
  const int64_t line = rows * width + NodeCalls::kWideLanes + reach;
  return is_one(node.argument(arg::stride)) && filters[0] == groups && filters[1] == 1 &&
         out[3].number() < NodeCalls::kMostLanes && out[3].number() <= width &&
         height * width >= NodeCalls::kWideLanes && padding < width && reach - padding < width &&
         filters[3].number() * line < kMostDoubles;
}

// Whether filters of one channel each meet planes that fit into what kernels keep on the stack,
// those of as many channels as vectors hold, with what each place of the output gets. Precondition:
// all sizes are numbers.
bool turns_channels(const Extents& filters, int64_t groups, const Extents& out, const Node& node) {
  constexpr int64_t kMostDoubles = 65536 / 8 / NodeCalls::kMostLanes, kFewestTaps = 3;
  if (node.result()->tensor().dtype != ScalarType::kFloat || groups < NodeCalls::kMostLanes ||
      filters[0] != groups || filters[1] != 1) {
    return false;
  }
  const auto read = [&](size_t d, int64_t stride, int64_t dilation) {
    return (out[d].number() - 1) * stride + (filters[d].number() - 1) * dilation + 1;
  };
  const std::vector<int64_t> strides = ints_of(node.argument(arg::stride)),
                             dilations = ints_of(node.argument(arg::dilation));
  const int64_t height = read(2, strides.front(), dilations.front());
  const int64_t width = read(3, strides.back(), dilations.back());
  const int64_t taps = filters[2].number() * filters[3].number();
  return taps >= kFewestTaps && height <= kMostDoubles && width <= kMostDoubles &&
         height * width + taps + out[2].number() * out[3].number() <= kMostDoubles;
}

bool is_fixed(const Extents& sizes) {
  return std::all_of(sizes.begin(), sizes.end(),
                     [](const Extent& size) { return size.is_number() && size.number() > 0; });
}

// Filters of one point are rows of a matrix. Several filters of a group that read the same input
// are computed at once, else several rows of the output of one, or a part of a row where sizes
// vary.
void choose_convolution(KernelCall& call, const Extents& in, const Extents& filters, int64_t groups,
                        const Extents& out, const Node& node) {
  constexpr int64_t kPart = 64;
  int64_t tile = 1;
  for (const int64_t count : {2, 3, 4}) {
    if (is_fixed(filters) && filters[0].number() / groups % count == 0) tile = count;
  }
  if (is_fixed(in) && is_fixed(filters) && is_fixed(out) && meets_points(in, filters, out)) {
    call.source = "kernels/convolution_points.h";
  } else if (is_fixed(in) && is_fixed(filters) && is_fixed(out) && filters[0].number() > groups &&
             joins_rows(filters, out, node)) {
    call.source = kPlaces;
  } else if (tile > 1) {
    NodeCalls::bind(call, "TILE", tile);
    NodeCalls::bind(call, "MOST_WIDTH", std::min(out[3].range().high, kPart));
  } else if (is_fixed(in) && is_fixed(filters) && is_fixed(out)) {
    call.source = turns_channels(filters, groups, out, node)      ? kTurned
                  : shifts_planes(in, filters, groups, out, node) ? kShifted
                                                                  : "kernels/convolution_plane.h";
  } else {
    call.source = "kernels/convolution_rows.h";
    NodeCalls::bind(call, "PART", std::clamp<int64_t>(out[3].range().high, 1, kPart));
  }
}

absl::Status convolution(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Value* weight = node.input(arg::weight);
  const Value* bias = tensor_of(node.argument(arg::bias));
  const bool flat = x->tensor().rank() == 3;
  Extents in = as_plane(extents_of(x->tensor()));
  const Extents filters = as_plane(extents_of(weight->tensor()));
  Extents out = as_plane(extents_of(calls.out()->tensor()));
  const bool transposed = node.argument(arg::transposed).as_bool();
  if (!transposed && filters[2] == 1 && filters[3] == 1 && is_one(node.argument(arg::stride)) &&
      is_zero(node.argument(arg::padding))) {
    flatten(&in);
    flatten(&out);
  }
  const int64_t groups = node.argument(arg::groups).as_int();
  KernelCall& call = transposed
                         ? calls.add("kernels/transposed_convolution.h", "transposed_convolution")
                         : calls.add("kernels/convolution.h", row.name());
  if (!transposed) choose_convolution(call, in, filters, groups, out, node);
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  const bool shifts = call.source == kShifted;
  const bool joins = shifts || call.source == kPlaces;
  const Extent neighbours = shifts ? in[2] * in[3] : joins ? out[2] * out[3] : out[3];
  calls.bind_sums(call, x->tensor().dtype,
                  call.source != kTurned && neighbours.range().low >= NodeCalls::kWideLanes);
  bind_sizes(call, in, out);
  NodeCalls::bind(call, "BATCH", in[0]);
  NodeCalls::bind(call, "GROUPS", groups);
  NodeCalls::bind(call, "CHANNELS", in[1] / groups);
  NodeCalls::bind(call, "OUT_CHANNELS", out[1]);
  NodeCalls::bind(call, "KERNEL_HEIGHT", filters[2]);
  NodeCalls::bind(call, "KERNEL_WIDTH", filters[3]);
  bind_pair(call, "STRIDE_HEIGHT", "STRIDE_WIDTH", node.argument(arg::stride), flat, 1);
  bind_pair(call, "PADDING_TOP", "PADDING_LEFT", node.argument(arg::padding), flat, 0);
  bind_pair(call, "DILATION_HEIGHT", "DILATION_WIDTH", node.argument(arg::dilation), flat, 1);
  call.arguments = {calls.read(x), calls.read(weight), bias == nullptr ? "NULL" : calls.read(bias),
                    calls.write(calls.out())};
  return absl::OkStatus();
}

// Of all dims but the last two.
Extent planes_of(const Extents& sizes) {
  Extent planes = 1;
  for (size_t d = 0; d + 2 < sizes.size(); ++d) planes *= sizes[d];
  return planes;
}

// What all pools begin with.
KernelCall& pool(NodeCalls& calls, const char* source, const OperatorRow& row) {
  const Value* x = calls.node().input(arg::self);
  KernelCall& call = calls.add(source, row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  const Extents sizes = extents_of(x->tensor());
  NodeCalls::bind(call, "PLANES", planes_of(sizes));
  bind_sizes(call, sizes, extents_of(calls.out()->tensor()));
  call.arguments = {calls.read(x), calls.write(calls.out())};
  return call;
}

void bind_window(KernelCall& call, const Node& node) {
  const Argument& kernel = node.argument(arg::kernel_size);
  const Argument& stride = node.argument(arg::stride);
  bind_pair(call, "KERNEL_HEIGHT", "KERNEL_WIDTH", kernel, false, 1);
  bind_pair(call, "STRIDE_HEIGHT", "STRIDE_WIDTH", ints_of(stride).empty() ? kernel : stride, false,
            1);
  const Argument& padding = node.argument(arg::padding);
  bind_pair(call, "PADDING_TOP", "PADDING_LEFT",
            ints_of(padding).empty() ? Argument(int64_t{0}) : padding, false, 0);
}

absl::Status max_pool(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  const ScalarType type = calls.out()->tensor().dtype;
  const bool has_places = calls.is_read(calls.out(1)) || type != ScalarType::kFloat ||
                          !is_fixed(extents_of(node.input(arg::self)->tensor())) ||
                          !is_fixed(extents_of(calls.out()->tensor()));
  KernelCall& call =
      pool(calls, has_places ? "kernels/max_pool.h" : "kernels/max_pool_values.h", row);
  bind_window(call, node);
  const Argument& dilation = node.argument(arg::dilation);
  bind_pair(call, "DILATION_HEIGHT", "DILATION_WIDTH",
            ints_of(dilation).empty() ? Argument(int64_t{1}) : dilation, false, 1);
  if (has_places) {
    call.arguments.push_back(calls.write(calls.out(1)));
  } else {
    NodeCalls::bind_elements(call, type);
  }
  return absl::OkStatus();
}

absl::Status average_pool(const OperatorRow& row, NodeCalls& calls) {
  const Node& node = calls.node();
  KernelCall& call = pool(calls, "kernels/average_pool.h", row);
  bind_window(call, node);
  const Argument& divisor = node.argument(arg::divisor_override);
  NodeCalls::bind(call, "COUNTS_PADDING", node.argument(arg::count_include_pad).as_bool() ? 1 : 0);
  NodeCalls::bind(call, "DIVISOR", divisor.is_none() ? 0 : divisor.as_int());
  return absl::OkStatus();
}

absl::Status adaptive_pool(const OperatorRow& row, NodeCalls& calls) {
  pool(calls, "kernels/adaptive_average_pool.h", row);
  return absl::OkStatus();
}

// Modes as PyTorch numbers them: 0 bilinear, 1 nearest, 2 bicubic.
absl::Status grid_sample(const OperatorRow& row, NodeCalls& calls) {
  constexpr int64_t kTaps[] = {2, 1, 4};
  const Node& node = calls.node();
  const Value* x = node.input(arg::input);
  const Value* grid = node.input(arg::grid);
  const int64_t mode = node.argument(arg::interpolation_mode).as_int();
  const int64_t padding = node.argument(arg::padding_mode).as_int();
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "interpolation_mode is ", mode, " and padding_mode ", padding, ", each must be in [0, 2]"));
  }
  if (grid->tensor().dtype != x->tensor().dtype) {
    return absl::UnimplementedError("grids of another type than the input do not exist in C yet");
  }
  const Extents in = extents_of(x->tensor());
  const Extents out = extents_of(calls.out()->tensor());
  KernelCall& call = calls.add("kernels/grid_sample.h", row.name());
  NodeCalls::bind_read(call, "IN", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind_write(call, "OUT", x->tensor().dtype, Arithmetic::kDouble);
  NodeCalls::bind(call, "BATCH", in[0]);
  NodeCalls::bind(call, "CHANNELS", in[1]);
  NodeCalls::bind(call, "IN_HEIGHT", in[2]);
  NodeCalls::bind(call, "IN_WIDTH", in[3]);
  NodeCalls::bind(call, "OUT_PLACES", out[2] * out[3]);
  NodeCalls::bind(call, "TAPS", kTaps[mode]);
  call.tokens["CUBIC"] = mode == 2 ? "true" : "false";
  call.tokens["ALIGNS"] = node.argument(arg::align_corners).as_bool() ? "true" : "false";
  NodeCalls::bind(call, "PADDING", padding);
  call.arguments = {calls.read(x), calls.read(grid), calls.write(calls.out())};
  return absl::OkStatus();
}

constexpr OperatorRow kRows[] = {
    {"aten::convolution.out", convolution},     {"aten::max_pool2d_with_indices.out", max_pool},
    {"aten::avg_pool2d.out", average_pool},     {"aten::_adaptive_avg_pool2d.out", adaptive_pool},
    {"aten::grid_sampler_2d.out", grid_sample},
};

}  // namespace

absl::Span<const OperatorRow> window_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
