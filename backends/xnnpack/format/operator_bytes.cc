// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/operator_bytes.h"

#include <algorithm>
#include <limits>

#include "backends/xnnpack/format/attention.h"
#include "backends/xnnpack/format/byte_bounds.h"
#include "backends/xnnpack/format/widened.h"
#include "backends/xnnpack/format/winograd.h"
#include "third_party/xnnpack/norm/scratch.h"

namespace petrel::backends::xnnpack {
namespace {

// What a kernel may read behind its last pointer.
constexpr uint64_t kPointersBehind = 32;
constexpr uint64_t kAlignment = 128;
constexpr uint64_t kPointer = sizeof(void*);
// Of one phase of a transposed convolution.
constexpr uint64_t kPhaseBytes = 128;

uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }
uint64_t round_up(uint64_t a, uint64_t b) { return divide_up(a, b) * b; }

const Dims& output_dims(const Graph& graph, const Node& node) {
  return graph.values[node.outputs[0]].dims;
}

uint64_t area(const Window& window) { return uint64_t{window.kernel_height} * window.kernel_width; }

bool has_padding(const Window& window) {
  return window.padding_top != 0 || window.padding_right != 0 || window.padding_bottom != 0 ||
         window.padding_left != 0;
}

// What XNNPACK may compute as it does depthwise convolutions.
bool is_by_channel(const Node& node) {
  const Channels& c = node.channels;
  return c.group_input_channels == 1 ||
         (c.groups > 1 && c.group_input_channels == c.group_output_channels);
}

// Rows in the middle of the plane share one list of pointers, or as many as hold whole tiles.
uint64_t rows_kept(const Dims& out, const Window& window, uint64_t rows_shared) {
  const uint64_t at_edges = sum(divide_up(window.padding_top, window.stride_height),
                                divide_up(window.padding_bottom, window.stride_height));
  return std::min<uint64_t>(out[1], sum(at_edges, rows_shared));
}

uint64_t convolution_bytes(const Dims& out, const Window& window) {
  const bool reads_in_place = area(window) == 1 && window.stride_height == 1 &&
                              window.stride_width == 1 && !has_padding(window);
  if (reads_in_place) return 0;
  const uint64_t pixels = product({rows_kept(out, window, kTileRows), out[2]});
  return product({kPointer, area(window), sum(pixels, 3 * kTileRows)});
}

// Windows that overlap along a row share their columns, unless they are dilated. As many rows as
// a kernel reads pointers behind its own are kept above and below those that are shared.
uint64_t rows_of_windows_bytes(const Dims& out, const Window& window) {
  const uint64_t step = window.dilation_width > 1
                            ? window.kernel_width
                            : std::min(window.stride_width, window.kernel_width);
  const uint64_t row =
      sum(area(window), product({uint64_t{out[2]} - 1, step, window.kernel_height}));
  const uint64_t rows = rows_kept(out, window, 1 + 2 * divide_up(kPointersBehind, row));
  return sum(product({kPointer, rows, row}), kPointer * (kPointersBehind + area(window)));
}

// Where there is padding, each element of the plane has a factor.
uint64_t average_bytes(const Dims& out, const Window& window) {
  return sum(rows_of_windows_bytes(out, window), product({sizeof(float), out[1], out[2]}));
}

// Whether floats are computed in tiles of pixels of each phase (third_party/xnnpack/phases).
bool is_by_phases(const Value& input, const Window& window) {
  return input.datatype == Datatype::FP32 && input.quantization == Quantization::kNone &&
         std::max(window.stride_height, window.stride_width) > 1 &&
         std::max(window.dilation_height, window.dilation_width) == 1 &&
         window.stride_height <= window.kernel_height && window.stride_width <= window.kernel_width;
}

// Each phase computes every stride-th column on its own; windows side by side are one
// product each.
uint64_t transposed_bytes(const Graph& graph, const Node& node) {
  const Dims& out = output_dims(graph, node);
  const Window& window = node.window;
  const Channels& channels = node.channels;
  const Value& input = graph.values[node.inputs[0]];
  const uint64_t phases = product({kPhaseBytes, window.stride_height, window.stride_width});
  const bool is_product =
      input.quantization != Quantization::kPerTokenDynamic && !has_padding(window) &&
      channels.adjustment_height == 0 && channels.adjustment_width == 0 &&
      window.kernel_height == window.stride_height && window.kernel_width == window.stride_width &&
      std::max(window.stride_height, window.stride_width) > 1;
  if (is_product) return phases;
  if (is_by_phases(input, window)) {
    // Tiles begin anew in each line, or go on in the next one.
    const uint64_t line = sum(divide_up(out[2], window.stride_width), kTileRows);
    const uint64_t pixels = product({divide_up(out[1], window.stride_height), line});
    return sum(phases, product({kPointer, area(window), sum(pixels, kTileRows)}));
  }
  const uint64_t columns = sum(out[2], product({window.stride_width, kTileRows}));
  const uint64_t places = sum(product({out[1], columns}), kTileRows);
  return sum(phases, product({kPointer, area(window), places}));
}

// Four corners and two weights for each element of the plane.
uint64_t resize_bytes(const Dims& out) {
  return product({4 * kPointer + 2 * sizeof(float), out[1], out[2]});
}

// A row of padding for each image of an input that is quantised at run time: each has a
// zero point of its own.
uint64_t zero_rows_bytes(const Graph& graph, const Node& node) {
  const Value& input = graph.values[node.inputs[0]];
  if (input.quantization != Quantization::kPerTokenDynamic) return 0;
  // What kernels read on, and what a block of memory takes beside itself.
  constexpr uint64_t kMore = 256;
  const uint64_t channels = round_up(node.channels.group_input_channels, kTileColumns);
  return product({input.dims[0], channels + kMore});
}

uint64_t element_bytes(const Value& value) {
  return value.datatype == Datatype::FP16 ? sizeof(uint16_t) : sizeof(float);
}

// One row of zeros, which windows read where they are beside the image and sums where rows end.
uint64_t zero_row_bytes(const Graph& graph, const Node& node) {
  const Value& input = graph.values[node.inputs[0]];
  // What kernels read on, and what a block of memory takes beside itself.
  constexpr uint64_t kMore = 256;
  const uint64_t element = input.quantization == Quantization::kNone ? sizeof(float) : 1;
  return sum(product({round_up(input.dims.back(), kTileColumns), element}), kMore);
}

// `columns` of `depth` elements each, and a bias, for each matrix.
uint64_t packed_bytes(uint64_t matrices, uint64_t columns, uint64_t depth, const Value& value) {
  const uint64_t element = value.quantization == Quantization::kNone ? element_bytes(value) : 1;
  const uint64_t scales = value.quantization == Quantization::kNone ? 0 : 2 * sizeof(float);
  const uint64_t column =
      sum(product({round_up(depth, kTileDepth), element}), sizeof(float) + scales);
  return sum(product({matrices, round_up(columns, kTileColumns), column}), kAlignment);
}

// The right side is [depth, columns] unless it is transposed.
uint64_t right_side_bytes(const Graph& graph, const Node& node) {
  const Value& right = graph.values[node.inputs[1]];
  if (right.dims.size() < 2) return 0;
  uint64_t matrices = 1;
  for (size_t i = 0; i + 2 < right.dims.size(); ++i) matrices = product({matrices, right.dims[i]});
  const uint64_t rows = right.dims[right.dims.size() - 2];
  const uint64_t columns = right.dims.back();
  return (node.flags & kTransposeWeights) != 0 ? packed_bytes(matrices, rows, columns, right)
                                               : packed_bytes(matrices, columns, rows, right);
}

// Windows are filled up to those that kernels go over at once; XNNPACK gives no weights cache to
// depthwise convolutions.
uint64_t depthwise_filter_bytes(const Dims& out, const Window& window) {
  uint64_t tile = area(window) + 49;
  for (const uint64_t known : {49, 25, 9}) {
    if (area(window) <= known) tile = known;
  }
  return sum(product({round_up(out[3], kTileColumns), tile + 1, sizeof(float)}), kAlignment);
}

// A sum in 32 bits for each element of the output.
uint64_t sums_bytes(const Graph& graph, const Node& node) {
  return sum(product({count_elements(output_dims(graph, node)), sizeof(float)}), 2 * kAlignment);
}

// Sums, centers and factors of each part of the pixels of a batch.
uint64_t norm_bytes(const Graph& graph, const Node& node) {
  const Dims& dims = output_dims(graph, node);
  uint64_t batch = 1, pixels = 1;
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    uint64_t& size = i < node.axis ? batch : pixels;
    size = product({size, dims[i]});
  }
  if (pixels == 1 && node.channels.groups == 1) return 0;
  const uint64_t parts = petrel_cut_pixels(batch, pixels, dims.back()).parts;
  return sum(product({batch, parts, node.channels.groups, PETREL_NORM_GROUP_BYTES}), kAlignment);
}

// Floats in the place of halves.
uint64_t widened_bytes(const Graph& graph, const Node& node) {
  const auto floats = [&graph](uint32_t id) {
    return sum(product({count_elements(graph.values[id].dims), sizeof(float)}), kAlignment);
  };
  const Widened wide = widened(graph, node);
  return sum(wide.input ? floats(node.inputs[0]) : 0, wide.output ? floats(node.outputs[0]) : 0);
}

// A sum for each channel of a row, where a window is computed in several passes.
uint64_t passes_bytes(const Dims& out, const Window& window) {
  constexpr uint64_t kOnePass = 9;
  if (area(window) < kOnePass) return 0;
  return sum(
      product({out[0], out[1], round_up(out[3], kTileColumns) + kTileColumns, sizeof(float)}),
      kAlignment);
}

// All planes of a block of tiles, before and after the product: of all channels, and of as many
// outputs as a kernel computes at once. A block has 65536 numbers in the planes before, or 32
// tiles, and is filled up to whole rows. A filter that is transformed in each run is so beside
// them: panels of 64 outputs at most, which have a bias, and so has each of their planes.
uint64_t winograd_by_blocks_bytes(const Node& node, uint64_t planes, uint64_t between) {
  const uint64_t filter_planes = uint64_t{node.winograd.tile + 2} * (node.winograd.tile + 2);
  constexpr uint64_t kBlock = 65536;
  constexpr uint64_t kLeastTiles = 32;
  const uint64_t depth = node.channels.group_input_channels;
  const uint64_t tiles = std::max(kBlock / (planes * depth), kLeastTiles) + kTileRows;
  const uint64_t thread =
      sum(product({planes, sum(product({tiles, depth + kTileColumns}), between), sizeof(float)}),
          kAlignment);
  const uint64_t outputs = round_up(node.channels.group_output_channels, kTileColumns);
  const uint64_t filter =
      node.winograd.transforms_each_run
          ? product({outputs, sum(product({filter_planes, sum(depth, 1)}), 1), sizeof(float)})
          : 0;
  // A thread that computes a group has its filter.
  const uint64_t shared = node.channels.groups == 1 ? filter : 0;
  const uint64_t own = node.channels.groups == 1 ? 0 : sum(filter, kAlignment);
  return sum(product({node.winograd.threads, sum(thread, own)}), shared);
}

// All tiles at once before the product, and after it for each thread; and one row of planes of a
// panel of a filter that is transformed in each run.
uint64_t winograd_by_panels_bytes(const Node& node, uint64_t tiles, uint64_t planes,
                                  uint64_t between) {
  const uint64_t depth = node.channels.group_input_channels;
  const uint64_t before = product({planes, sum(product({tiles, depth}), between), sizeof(float)});
  const uint64_t after =
      product({planes, sum(product({tiles, kTileColumns}), between), sizeof(float)});
  const uint64_t row =
      node.winograd.transforms_each_run
          ? product({node.winograd.tile + 2, depth + 1, kTileColumns, sizeof(float)})
          : 0;
  const bool is_shared = node.channels.groups == 1;
  return sum(is_shared ? before : 0,
             product({node.winograd.threads,
                      sum(sum(sum(after, row), is_shared ? 0 : before), kAlignment)}));
}

// In the order that a processor's kernels and the number of threads ask for.
uint64_t winograd_bytes(const Graph& graph, const Node& node) {
  const uint64_t tile = node.winograd.tile;
  const uint64_t side = (tile - 1) * node.window.stride_height + 3;
  const uint64_t planes = side * side;
  const uint64_t filter_planes = (tile + 2) * (tile + 2);
  constexpr uint64_t kBetween = 32;
  const uint64_t tiles = count_winograd_tiles(graph, node, tile);
  uint64_t most = winograd_by_blocks_bytes(node, planes, kBetween);
  if (product({tiles, planes}) <= product({filter_planes, node.channels.group_output_channels})) {
    most = std::max(most, winograd_by_panels_bytes(node, tiles, planes, kBetween));
  }
  return sum(most, 2 * kAlignment);
}

// Rows of a band and what is read behind them, windows of bytes and pointers to a tile, for each
// thread: a band has 32 KB or the rows of one window.
uint64_t image_bytes(const Graph& graph, const Node& node) {
  constexpr uint64_t kBand = 32768;
  constexpr uint64_t kReadBehind = 128;
  constexpr uint64_t kMostPixel = 16;
  const Window& w = node.window;
  const uint64_t row = product(
      {sum(product({output_dims(graph, node)[2], w.stride_width}), w.kernel_width), kMostPixel});
  const uint64_t rows = std::max(product({row, w.kernel_height}), kBand);
  const uint64_t behind = sum(product({kTileRows, w.stride_width, kMostPixel}), kReadBehind);
  const uint64_t window = product({w.kernel_height, w.kernel_width, kMostPixel});
  const uint64_t tile = product(
      {kTileRows, sum(sum(window, kReadBehind), product({w.kernel_height, sizeof(void*)}))});
  return sum(product({node.image_threads, sum(sum(rows, behind), tile)}), kAlignment);
}

}  // namespace

uint64_t own_packed_bytes(const Graph& graph, const Node& node) {
  switch (node.kind) {
    case NodeKind::BatchMatrixMultiply: {
      const Value& right = graph.values[node.inputs[1]];
      const bool is_packed_once = right.is_constant() && right.datatype != Datatype::FP16;
      return is_packed_once ? right_side_bytes(graph, node) : 0;
    }
    case NodeKind::DepthwiseConv2d:
      return depthwise_filter_bytes(output_dims(graph, node), node.window);
    default:
      return 0;
  }
}

uint64_t own_packed_bytes(const Graph& graph) {
  uint64_t all = 0;
  for (const Node& node : graph.nodes) all = sum(all, own_packed_bytes(graph, node));
  return all;
}

namespace {

// Beside rows of zeros.
uint64_t own_kept_bytes(const Graph& graph, const Node& node) {
  const Dims& out = output_dims(graph, node);
  switch (node.kind) {
    case NodeKind::Conv2d:
      return sum(zero_rows_bytes(graph, node),
                 std::max(convolution_bytes(out, node.window),
                          is_by_channel(node) ? rows_of_windows_bytes(out, node.window) : 0));
    case NodeKind::DepthwiseConv2d:
      return sum(own_packed_bytes(graph, node), rows_of_windows_bytes(out, node.window));
    case NodeKind::MaxPooling2d:
      return rows_of_windows_bytes(out, node.window);
    case NodeKind::AvgPooling2d:
      return average_bytes(out, node.window);
    case NodeKind::ConvTranspose2d:
      return sum(zero_rows_bytes(graph, node), transposed_bytes(graph, node));
    case NodeKind::StaticResizeBilinear2d:
      return resize_bytes(out);
    case NodeKind::BatchMatrixMultiply:
      return own_packed_bytes(graph, node);
    default:
      return 0;
  }
}

bool has_zero_row(const Node& node) {
  switch (node.kind) {
    case NodeKind::Conv2d:
    case NodeKind::DepthwiseConv2d:
      return has_padding(node.window);
    case NodeKind::AvgPooling2d:
    case NodeKind::GlobalAvgPooling2d:
    case NodeKind::ConvTranspose2d:
      return true;
    default:
      return false;
  }
}

}  // namespace

uint64_t kept_bytes(const Graph& graph, const Node& node) {
  const uint64_t zeros = has_zero_row(node) ? zero_row_bytes(graph, node) : 0;
  return sum(zeros, own_kept_bytes(graph, node));
}

uint64_t kept_bytes(const Graph& graph) {
  uint64_t all = 0;
  for (const Node& node : graph.nodes) all = sum(all, kept_bytes(graph, node));
  return all;
}

bool is_pair_with_range(const Node& node) {
  constexpr float kAny = std::numeric_limits<float>::infinity();
  switch (node.kind) {
    case NodeKind::Add:
    case NodeKind::Subtract:
    case NodeKind::Multiply:
    case NodeKind::Div:
    case NodeKind::Minimum:
    case NodeKind::Maximum:
    case NodeKind::PRelu:
      return node.output_min != -kAny || node.output_max != kAny;
    default:
      return false;
  }
}

namespace {

uint64_t own_scratch_bytes(const Graph& graph, const Node& node) {
  if (is_pair_with_range(node)) {
    // What lies between values is clamped in place.
    const Value& result = graph.values[node.outputs[0]];
    return result.is_output() ? count_bytes(result) : 0;
  }
  if (node.kind == kNorm) return norm_bytes(graph, node);
  switch (node.kind) {
    case NodeKind::Conv2d:
      if (node.image_threads != 0) return image_bytes(graph, node);
      return std::max(
          node.winograd.threads == 0 ? 0 : winograd_bytes(graph, node),
          is_by_channel(node) ? passes_bytes(output_dims(graph, node), node.window) : 0);
    case NodeKind::BatchMatrixMultiply:
      return own_packed_bytes(graph, node) == 0 ? right_side_bytes(graph, node) : 0;
    case NodeKind::DepthwiseConv2d:
    case NodeKind::AvgPooling2d:
      return passes_bytes(output_dims(graph, node), node.window);
    case NodeKind::GlobalAvgPooling2d:
      return sums_bytes(graph, node);
    case NodeKind::ScaledDotProductAttention:
      return attention_scratch_bytes(graph, node);
    default:
      return 0;
  }
}

}  // namespace

uint64_t scratch_bytes(const Graph& graph, const Node& node) {
  return sum(own_scratch_bytes(graph, node), widened_bytes(graph, node));
}

}  // namespace petrel::backends::xnnpack
