// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/volume_convolution.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/volume_filter.h"
#include "backends/xnnpack/aot/volume_taps.h"
#include "exir/ops/read_sizes.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using IrNode = exir::Node;

// A join takes so many.
constexpr size_t kMostJoined = 5;

// As many nodes compute them.
constexpr int64_t kMostTaps = 64;

// Found by measuring: channels that are joined of all planes, and of an image whose rows a
// convolution copies (format/images.h).
constexpr int64_t kMostJoinedChannels = 48;
constexpr int64_t kMostImageChannels = 4;

Depth depth_of(const IrNode& node, const ConvolutionArguments& p) {
  const exir::Sizes& kernel = node.input(arg::weight)->tensor().sizes;
  return {*fixed(exir::sizes_of(node.input(arg::input))[2]),
          *fixed(exir::sizes_of(node.result())[2]),
          kernel[2],
          p.stride[0],
          p.padding[0],
          p.dilation[0]};
}

// Each plane is convolved by itself.
bool keeps_planes(const IrNode& node, const ConvolutionArguments& p) {
  return node.input(arg::weight)->tensor().sizes[2] == 1 && p.stride[0] == 1 && p.padding[0] == 0;
}

// So is each pixel of a plane, with those at its place in other planes.
bool is_of_pixels(const IrNode& node, const ConvolutionArguments& p) {
  const exir::Sizes& kernel = node.input(arg::weight)->tensor().sizes;
  for (size_t i = 1; i < 3; ++i) {
    if (kernel[i + 2] != 1 || p.stride[i] != 1 || p.padding[i] != 0) return false;
  }
  return true;
}

// One lowering of one node.
class VolumeLowering {
 public:
  VolumeLowering(Lowering& l, const IrNode& node, const ConvolutionArguments& arguments)
      : l_(l),
        node_(node),
        p_(arguments),
        filter_(l, node, arguments),
        in_(exir::sizes_of(node.input(arg::input))),
        out_(exir::sizes_of(node.result())) {}

  Status lower() {
    PETREL_ASSIGN_OR_RETURN(x_, l_.operand(node_.input(arg::input), Layout::kChannelsLast));
    if (keeps_planes(node_, p_)) return of_planes();
    if (is_of_pixels(node_, p_)) return of_columns();
    if (p_.transposed) return spread();
    const Depth d = depth_of(node_, p_);
    const std::vector<Tap> taps = taps_of(d);
    switch (way_of(taps, d)) {
      case Way::kJoined:
        return join(taps, d.out);
      case Way::kCut:
        return cut(taps, d);
      case Way::kSummed:
        break;
    }
    return sum(taps, d.out, l_.result(node_));
  }

 private:
  Node& convolve(uint32_t x, uint32_t filter, uint32_t bias, uint32_t out, int64_t joined,
                 const Range& range) {
    const NodeKind kind = p_.transposed            ? NodeKind::ConvTranspose2d
                          : filter_.is_depthwise() ? NodeKind::DepthwiseConv2d
                                                   : NodeKind::Conv2d;
    Node& conv = l_.add_node(kind, {x, filter, bias}, out);
    conv.window = p_.window(filter_.height(), filter_.width());
    conv.channels.groups = static_cast<uint32_t>(p_.groups);
    conv.channels.group_input_channels =
        static_cast<uint32_t>(joined * filter_.inputs() / p_.groups);
    conv.channels.group_output_channels = static_cast<uint32_t>(filter_.outputs() / p_.groups);
    if (p_.transposed) {
      conv.channels.adjustment_height = static_cast<uint32_t>(p_.output_padding[1]);
      conv.channels.adjustment_width = static_cast<uint32_t>(p_.output_padding[2]);
    }
    conv.output_min = range.min;
    conv.output_max = range.max;
    return conv;
  }

  // Each image by itself.
  Status of_planes() {
    PETREL_ASSIGN_OR_RETURN(const uint32_t filter, filter_.of_images(0, 1));
    PETREL_ASSIGN_OR_RETURN(const uint32_t bias, filter_.bias());
    convolve(x_, filter, bias, l_.result(node_), 1, l_.range());
    return absl::OkStatus();
  }

  // [N,D,H*W,C] are images whose rows are planes.
  Status of_columns() {
    PETREL_ASSIGN_OR_RETURN(const uint32_t filter, filter_.of_columns());
    PETREL_ASSIGN_OR_RETURN(const uint32_t bias, filter_.bias());
    const uint32_t x = l_.reshape(x_, {in_[0], in_[2], in_[3] * in_[4], in_[1]});
    const uint32_t y = l_.intermediate({in_[0], out_[2], in_[3] * in_[4], out_[1]});
    Node& conv = convolve(x, filter, bias, y, 1, l_.range());
    Window w;
    w.kernel_height = static_cast<uint32_t>(filter_.planes());
    w.stride_height = static_cast<uint32_t>(p_.stride[0]);
    w.dilation_height = static_cast<uint32_t>(p_.dilation[0]);
    w.padding_top = w.padding_bottom = static_cast<uint32_t>(p_.padding[0]);
    conv.window = w;
    conv.channels.adjustment_height =
        static_cast<uint32_t>(p_.transposed ? p_.output_padding[0] : 0);
    conv.channels.adjustment_width = 0;
    l_.add_reshape(y, l_.result(node_));
    return absl::OkStatus();
  }

  enum class Way { kSummed, kJoined, kCut };

  // A sum reads and writes images for each plane of the filter. A join copies the input as often,
  // which few channels bear; a cut makes that many outputs of the input at once.
  Way way_of(const std::vector<Tap>& taps, const Depth& d) const {
    if (p_.groups != 1 || taps.size() == 1 || taps.size() > kMostJoined) return Way::kSummed;
    if (!are_neighbours(taps)) return Way::kSummed;
    const int64_t joined = static_cast<int64_t>(taps.size()) * filter_.inputs();
    const bool has_few_outputs = 2 * filter_.outputs() <= filter_.inputs();
    if (d.stride == 1 && has_few_outputs && whole_of(taps, d.out) != taps.end()) return Way::kCut;
    const bool were_images = filter_.inputs() <= kMostImageChannels;
    return joined <= (were_images ? kMostImageChannels : kMostJoinedChannels) ? Way::kJoined
                                                                              : Way::kSummed;
  }

  // The one that makes all planes.
  static std::vector<Tap>::const_iterator whole_of(const std::vector<Tap>& taps, int64_t depth) {
    return std::find_if(taps.begin(), taps.end(),
                        [&](const Tap& tap) { return tap.count == depth; });
  }
  static void move_whole_to_front(std::vector<Tap>* taps, int64_t depth) {
    const auto whole = taps->begin() + (whole_of(*taps, depth) - taps->begin());
    if (whole != taps->end()) std::rotate(taps->begin(), whole, whole + 1);
  }

  // Images as planes of volumes along depth_axis(), where one volume is as it is.
  uint32_t in_depth(uint32_t images, int64_t depth) {
    const Extents s = l_.sizes(images);
    return is_one() ? images : l_.reshape(images, {in_[0], depth, s[1] * s[2], s[3]});
  }
  bool is_one() const { return in_[0].is(1); }
  size_t depth_axis() const { return is_one() ? 0 : 1; }

  uint32_t pad_depth(uint32_t volumes, int64_t before, int64_t behind) {
    Extents sizes = l_.sizes(volumes);
    sizes[depth_axis()] += before + behind;
    const uint32_t padded = l_.intermediate(sizes);
    Node& pad = l_.add_node(NodeKind::StaticConstantPad, {volumes}, padded);
    pad.list.assign(sizes.size(), 0);
    pad.list2.assign(sizes.size(), 0);
    pad.list[depth_axis()] = static_cast<uint32_t>(before);
    pad.list2[depth_axis()] = static_cast<uint32_t>(behind);
    return padded;
  }

  // Where dims are cut: their first index and size, 0 for all.
  uint32_t cut_dims(uint32_t from, Dims first, Dims size) {
    Extents sizes = l_.sizes(from);
    for (size_t i = 0; i < size.size(); ++i) {
      if (size[i] != 0) sizes[i] = size[i];
    }
    const uint32_t out = l_.intermediate(std::move(sizes));
    Node& node = l_.add_node(NodeKind::StaticSlice, {from}, out);
    node.list = std::move(first);
    node.list2 = std::move(size);
    return out;
  }

  // The input with planes that lie `stride` apart as neighbours: [N, D / stride, stride, H*W, C],
  // with zeros behind the last plane where it does not divide. Precondition: stride < D.
  uint32_t split_input(int64_t depth, int64_t stride) {
    if (split_ != kNoId) return split_;
    const int64_t rest = (stride - depth % stride) % stride;
    uint32_t x = volumes();
    if (rest != 0) x = pad_depth(x, 0, rest);
    split_ = l_.reshape(x, {in_[0], (depth + rest) / stride, stride, in_[3] * in_[4], in_[1]});
    return split_;
  }

  // The input as in_depth() has it.
  uint32_t volumes() {
    if (volumes_ == kNoId) volumes_ = in_depth(x_, *fixed(in_[2]));
    return volumes_;
  }

  // The images of the input that `tap` reads.
  uint32_t images_of(const Tap& tap, int64_t stride) {
    if (in_[2].is(tap.count)) return x_;
    const auto in = static_cast<uint32_t>(tap.in), count = static_cast<uint32_t>(tap.count);
    const Extents images = {in_[0] * tap.count, in_[3], in_[4], in_[1]};
    if (stride != 1 && count > 1) {
      const auto step = static_cast<uint32_t>(stride);
      const uint32_t split = split_input(*fixed(in_[2]), stride);
      const Dims first = {0, in / step, in % step, 0, 0};
      return l_.reshape(cut_dims(split, first, {0, count, 1, 0, 0}), images);
    }
    Dims first(4, 0), size(4, 0);
    first[depth_axis()] = in;
    size[depth_axis()] = count;
    return l_.reshape(cut_dims(volumes(), first, size), images);
  }

  // Zeros where `tap` makes none of `depth` planes.
  uint32_t pad(uint32_t images, const Tap& tap, int64_t depth) {
    if (tap.count == depth) return images;
    Extents planes = l_.sizes(images);
    planes[0] = in_[0] * depth;
    return l_.reshape(pad_depth(in_depth(images, tap.count), tap.out, depth - tap.out - tap.count),
                      planes);
  }

  Extents images_out(int64_t depth) const { return {in_[0] * depth, out_[3], out_[4], out_[1]}; }

  Status join(const std::vector<Tap>& taps, int64_t depth) {
    std::vector<uint32_t> ids;
    for (const Tap& tap : taps) ids.push_back(pad(images_of(tap, p_.stride[0]), tap, depth));
    const auto count = static_cast<int64_t>(taps.size());
    Extents sizes = l_.sizes(ids[0]);
    sizes[3] = count * filter_.inputs();
    const uint32_t all = l_.intermediate(sizes);
    join_values(ids, 3, all);
    PETREL_ASSIGN_OR_RETURN(const uint32_t filter, filter_.of_images(taps[0].plane, count));
    PETREL_ASSIGN_OR_RETURN(const uint32_t bias, filter_.bias());
    convolve(all, filter, bias, l_.result(node_), count, l_.range());
    return absl::OkStatus();
  }

  void join_values(std::vector<uint32_t> ids, uint32_t axis, uint32_t out) {
    constexpr NodeKind kKinds[] = {NodeKind::Concatenate2, NodeKind::Concatenate3,
                                   NodeKind::Concatenate4, NodeKind::Concatenate5};
    const NodeKind kind = kKinds[ids.size() - 2];
    l_.add_node(kind, std::move(ids), out).axis = axis;
  }

  // The first part has all planes, and the bias.
  Status sum(std::vector<Tap> taps, int64_t depth, uint32_t out) {
    move_whole_to_front(&taps, depth);
    const int64_t stride = p_.transposed ? 1 : p_.stride[0];
    uint32_t sum = kNoId;
    for (size_t i = 0; i < taps.size(); ++i) {
      PETREL_ASSIGN_OR_RETURN(const uint32_t filter, filter_.of_images(taps[i].plane, 1));
      uint32_t bias = kNoId;
      if (i == 0) {
        PETREL_ASSIGN_OR_RETURN(bias, filter_.bias());
      }
      uint32_t images = images_of(taps[i], stride);
      if (i == 0) images = pad(images, taps[i], depth);
      const bool is_all = taps.size() == 1;
      const uint32_t part =
          is_all ? out : l_.intermediate(images_out(i == 0 ? depth : taps[i].count));
      convolve(images, filter, bias, part, 1, is_all ? l_.range() : Range());
      sum = i == 0 ? part : add(sum, pad(part, taps[i], depth), i + 1 < taps.size() ? kNoId : out);
    }
    return absl::OkStatus();
  }

  // Into `out` where it is the last one.
  uint32_t add(uint32_t a, uint32_t b, uint32_t out) {
    const bool is_last = out != kNoId;
    if (!is_last) out = l_.intermediate(Extents(l_.sizes(a)));
    Node& node = l_.add_node(NodeKind::Add, {a, b}, out);
    if (is_last) {
      node.output_min = l_.range().min;
      node.output_max = l_.range().max;
    }
    return out;
  }

  // The planes of the filter are filters of their own, whose outputs are cut and summed.
  Status cut(std::vector<Tap> taps, const Depth& d) {
    const int64_t first = taps[0].plane;
    const auto all = static_cast<uint32_t>(static_cast<int64_t>(taps.size()) * filter_.outputs());
    move_whole_to_front(&taps, d.out);
    const auto begin_of = [&](const Tap& tap) {
      return static_cast<uint32_t>((tap.plane - first) * filter_.outputs());
    };
    PETREL_ASSIGN_OR_RETURN(const uint32_t filter,
                            filter_.of_outputs(first, static_cast<int64_t>(taps.size())));
    PETREL_ASSIGN_OR_RETURN(const uint32_t bias, filter_.bias_among(all, begin_of(taps[0])));
    Extents sizes = images_out(d.in);
    sizes[3] = all;
    const uint32_t made = l_.intermediate(sizes);
    convolve(x_, filter, bias, made, 1, Range()).channels.group_output_channels = all;
    const uint32_t planes = in_depth(made, d.in);
    uint32_t sum = kNoId;
    for (size_t i = 0; i < taps.size(); ++i) {
      Dims from(4, 0), size(4, 0);
      from[depth_axis()] = static_cast<uint32_t>(taps[i].in);
      size[depth_axis()] = static_cast<uint32_t>(taps[i].count);
      from[3] = begin_of(taps[i]);
      size[3] = static_cast<uint32_t>(filter_.outputs());
      const uint32_t part =
          pad(l_.reshape(cut_dims(planes, from, size), images_out(taps[i].count)), taps[i], d.out);
      sum = i == 0 ? part : add(sum, part, i + 1 < taps.size() ? kNoId : l_.result(node_));
    }
    return absl::OkStatus();
  }

  // Plane o of the result is one of `stride` classes, each a sum of parts of its own: those of
  // planes k of the filter where k * dilation - padding has the rest of o.
  Status spread() {
    const Depth d = depth_of(node_, p_);
    if (d.stride == 1) return sum(transposed_taps_of(d, 0), d.out, l_.result(node_));
    const int64_t depth = class_size(d);
    std::vector<uint32_t> classes;
    for (int64_t rest = 0; rest < d.stride; ++rest) {
      const uint32_t part = l_.intermediate(images_out(depth));
      PETREL_RETURN_IF_ERROR(sum(transposed_taps_of(d, rest), depth, part));
      classes.push_back(part);
    }
    // Rows of an image of one class follow those of the class before.
    uint32_t all = l_.intermediate({in_[0] * depth, out_[3] * d.stride, out_[4], out_[1]});
    join_values(classes, 1, all);
    if (const auto made = depth * d.stride; made != d.out) {
      all = in_depth(l_.reshape(all, images_out(made)), made);
      Dims size(4, 0);
      size[depth_axis()] = static_cast<uint32_t>(d.out);
      all = cut_dims(all, Dims(4, 0), size);
    }
    l_.add_reshape(all, l_.result(node_));
    return absl::OkStatus();
  }

  Lowering& l_;
  const IrNode& node_;
  const ConvolutionArguments& p_;
  VolumeFilter filter_;
  const Extents in_;
  const Extents out_;
  uint32_t x_ = kNoId;
  // x_ in the forms that planes are cut from, where one was.
  uint32_t volumes_ = kNoId;
  uint32_t split_ = kNoId;
};

}  // namespace

Support check_volume(const IrNode& node, const ConvolutionArguments& p) {
  const exir::Value* weight = node.input(arg::weight);
  if (!weight->is_constant()) return Support::no("its weight is stored as levels");
  if (!weight->tensor().is_contiguous()) return Support::no("its weight is not contiguous");
  if (!has_one_varying_size(exir::sizes_of(node.input(arg::input)))) {
    return Support::no("more than one of its sizes varies");
  }
  for (size_t i = 0; p.transposed && i < 3; ++i) {
    if (p.output_padding[i] >= p.stride[i]) {
      return Support::no(absl::StrCat("output_padding is ", p.output_padding[i],
                                      ", must be below the stride ", p.stride[i]));
    }
  }
  if (keeps_planes(node, p) || is_of_pixels(node, p)) return Support::yes();
  if (!fixed(exir::sizes_of(node.input(arg::input))[2])) return Support::no("its depth varies");
  const Depth d = depth_of(node, p);
  if (d.kernel > kMostTaps) {
    return Support::no(
        absl::StrCat("its filter has ", d.kernel, " planes, must have at most ", kMostTaps));
  }
  if (!p.transposed) {
    if (taps_of(d).empty()) return Support::no("all planes that it reads are padding");
    return Support::yes();
  }
  if (d.stride > static_cast<int64_t>(kMostJoined)) {
    return Support::no(
        absl::StrCat("stride is ", d.stride, " in depth, must be at most ", kMostJoined));
  }
  for (int64_t rest = 0; rest < d.stride; ++rest) {
    if (transposed_taps_of(d, rest).empty()) return Support::no("it makes planes of padding alone");
  }
  return Support::yes();
}

Status lower_volume(Lowering& l, const IrNode& node, const ConvolutionArguments& arguments) {
  return VolumeLowering(l, node, arguments).lower();
}

}  // namespace petrel::backends::xnnpack::aot
