// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/ops/read_sizes.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using absl::Status;
using exir::Support;
using exir::Value;
using exir::rules::Size;
using IrNode = exir::Node;

constexpr size_t kMaxConcatenated = 5;

size_t self_rank(const IrNode& node) { return node.input(arg::self)->tensor().rank(); }
Extents self_sizes(const IrNode& node) { return exir::sizes_of(node.input(arg::self)); }

// --- view and its kin: the same elements, other sizes ---

// An image of one pixel or one channel can be reshaped in either layout.
LayoutNeed view_need(const IrNode& node) {
  const Extents in = self_sizes(node);
  const bool either = has_channels_last_form(in.size()) && is_same_in_both_layouts(in);
  return either ? LayoutNeed::kTakesEither : LayoutNeed::kPlain;
}

Status lower_view(Lowering& l, const IrNode& node) {
  const Value* input = node.input(arg::self);
  const bool either = view_need(node) == LayoutNeed::kTakesEither;
  PETREL_ASSIGN_OR_RETURN(const uint32_t x,
                          either ? l.any_operand(input) : l.operand(input, Layout::kPlain));
  l.add_reshape(x, l.result(node));
  return absl::OkStatus();
}

// --- permute ---

std::optional<std::vector<size_t>> permutation(const IrNode& node) {
  const size_t rank = self_rank(node);
  std::optional<std::vector<int64_t>> dims = ints_argument(node.argument(arg::dims), rank);
  if (!dims || dims->size() != rank) return std::nullopt;
  std::vector<size_t> axes;
  std::vector<bool> seen(rank, false);
  for (const int64_t dim : *dims) {
    const auto axis = axis_argument(dim, rank);
    if (!axis || seen[*axis]) return std::nullopt;
    seen[*axis] = true;
    axes.push_back(*axis);
  }
  return axes;
}

Support check_permute(const IrNode& node) {
  if (permutation(node)) return Support::yes();
  return Support::no("dims is not a literal permutation");
}

LayoutNeed permute_need(const IrNode& node) {
  return self_rank(node) == 4 ? LayoutNeed::kTakesEither : LayoutNeed::kPlain;
}

// A permuted image is read from the layout it has: two transposes become one.
Status lower_permute(Lowering& l, const IrNode& node) {
  const Value* input = node.input(arg::self);
  std::vector<size_t> axes = *permutation(node);
  uint32_t x = 0;
  if (axes.size() == 4 && l.layout_of(input) == Layout::kChannelsLast) {
    PETREL_ASSIGN_OR_RETURN(x, l.any_operand(input));
    for (size_t& axis : axes) axis = channels_last_axis(4, axis);
  } else {
    PETREL_ASSIGN_OR_RETURN(x, l.operand(input, Layout::kPlain));
  }
  const uint32_t out = l.result(node);
  if (std::is_sorted(axes.begin(), axes.end())) {
    l.add_node(NodeKind::Copy, {x}, out);
    return absl::OkStatus();
  }
  l.add_node(NodeKind::StaticTranspose, {x}, out).list.assign(axes.begin(), axes.end());
  return absl::OkStatus();
}

// Planes of volumes are moved where these are plain.
LayoutNeed moves_planes(size_t rank, size_t axis) {
  return rank == 5 && (axis == 0 || axis == 2) ? LayoutNeed::kPlain : LayoutNeed::kFollows;
}

// --- cat ---

Support check_cat(const IrNode& node) {
  const exir::Argument& tensors = node.argument(arg::tensors);
  const exir::Argument& dim = node.argument(arg::dim);
  const size_t rank = node.result()->tensor().rank();
  if (!dim.is_int() || !axis_argument(dim.as_int(), rank)) {
    return Support::no("dim must be literal and in range");
  }
  for (const Value* value : tensors.values()) {
    // PyTorch lets empty tensors of any rank take part.
    if (value->tensor().rank() != rank) {
      return Support::no(absl::StrCat("'", value->name(), "' has rank ", value->tensor().rank(),
                                      ", must be ", rank));
    }
  }
  return Support::yes();
}

LayoutNeed cat_need(const IrNode& node) {
  const size_t rank = node.result()->tensor().rank();
  return moves_planes(rank, *axis_argument(node.argument(arg::dim).as_int(), rank));
}

// A join of two to five.
void join(Lowering& l, const std::vector<uint32_t>& ids, size_t axis, uint32_t joined) {
  constexpr NodeKind kKinds[] = {NodeKind::Concatenate2, NodeKind::Concatenate3,
                                 NodeKind::Concatenate4, NodeKind::Concatenate5};
  l.add_node(kKinds[ids.size() - 2], ids, joined).axis = static_cast<uint32_t>(axis);
}

uint32_t join_intermediate(Lowering& l, const std::vector<uint32_t>& ids, size_t axis) {
  Extents sizes = l.sizes(ids[0]);
  for (size_t i = 1; i < ids.size(); ++i) sizes[axis] += l.sizes(ids[i])[axis];
  const uint32_t joined = l.intermediate(sizes);
  join(l, ids, axis, joined);
  return joined;
}

// The operands of the last join, where the result of each is the first operand of the next:
//   abcdefghi  ->  abcde, then abcde + fghi.
std::vector<uint32_t> join_in_turn(Lowering& l, const std::vector<uint32_t>& ids, size_t axis) {
  std::vector<uint32_t> step;
  for (const uint32_t id : ids) {
    if (step.size() == kMaxConcatenated) step = {join_intermediate(l, step, axis)};
    step.push_back(id);
  }
  return step;
}

// The same, where results are joined as operands were, so that each element is copied a few times
// however many operands there are:
//   abcdefghi  ->  abcde, fghi, then abcde + fghi.
std::vector<uint32_t> join_in_levels(Lowering& l, std::vector<uint32_t> ids, size_t axis) {
  while (ids.size() > kMaxConcatenated) {
    std::vector<uint32_t> level;
    for (size_t i = 0; i < ids.size(); i += kMaxConcatenated) {
      const size_t end = std::min(i + kMaxConcatenated, ids.size());
      const std::vector<uint32_t> step(ids.begin() + i, ids.begin() + end);
      level.push_back(step.size() == 1 ? step[0] : join_intermediate(l, step, axis));
    }
    ids = std::move(level);
  }
  return ids;
}

Status lower_cat(Lowering& l, const IrNode& node) {
  const Layout layout = l.result_layout(node);
  const size_t rank = node.result()->tensor().rank();
  size_t axis = *axis_argument(node.argument(arg::dim).as_int(), rank);
  if (layout == Layout::kChannelsLast) axis = channels_last_axis(rank, axis);
  std::vector<uint32_t> ids;
  for (const Value* value : node.argument(arg::tensors).values()) {
    uint32_t id = 0;
    if (value->is_constant() && layout == Layout::kPlain) {
      PETREL_ASSIGN_OR_RETURN(id, l.constant(value, WeightView::of(*value->constant())));
    } else {
      PETREL_ASSIGN_OR_RETURN(id, l.operand(value, layout));
    }
    // A constant of one element is kept as [1].
    if (l.sizes(id).size() != l.result_sizes(node).size()) {
      id = l.reshape(id, Extents(l.result_sizes(node).size(), 1));
    }
    ids.push_back(id);
  }
  if (ids.size() == 1) {
    l.add_node(NodeKind::Copy, {ids[0]}, l.result(node));
    return absl::OkStatus();
  }
  // Channels are joined in place (third_party/xnnpack/in_place.patch), one join in another.
  const std::vector<uint32_t> last = layout == Layout::kChannelsLast
                                         ? join_in_turn(l, ids, axis)
                                         : join_in_levels(l, std::move(ids), axis);
  join(l, last, axis, l.result(node));
  return absl::OkStatus();
}

// --- slice ---

// Where the slice begins, within the dim as PyTorch clamps it. It varies where it is
// counted from the end of a dim that varies, or where such a dim may be shorter.
std::optional<Size> slice_start(const IrNode& node, size_t axis) {
  const exir::Argument& start = node.argument(arg::start);
  if (start.is_none()) return 0;
  if (!start.is_int()) return std::nullopt;
  const Size size = self_sizes(node)[axis];
  const Size value = start.as_int() < 0 ? start.as_int() + size : Size(start.as_int());
  return exir::rules::largest(0, exir::rules::smallest(value, size));
}

Support check_slice(const IrNode& node) {
  const exir::Argument& dim = node.argument(arg::dim);
  const exir::Argument& step = node.argument(arg::step);
  const auto axis = dim.is_int() ? axis_argument(dim.as_int(), self_rank(node)) : std::nullopt;
  const std::optional<Size> start = axis ? slice_start(node, *axis) : std::nullopt;
  if (!start) return Support::no("dim and start must be literal");
  if (!step.is_int() || step.as_int() != 1) return Support::no("step must be 1");
  const Size size = exir::sizes_of(node.result())[*axis];
  if (exir::is_always(size, self_sizes(node)[*axis])) return Support::yes();
  if (!fixed(size)) return Support::no("its extent depends on sizes that vary");
  if (!fixed(*start)) return Support::no("its start depends on sizes that vary");
  return Support::yes();
}

LayoutNeed slice_need(const IrNode& node) {
  const size_t rank = self_rank(node);
  return moves_planes(rank, *axis_argument(node.argument(arg::dim).as_int(), rank));
}

Status lower_slice(Lowering& l, const IrNode& node) {
  const Layout layout = l.result_layout(node);
  const size_t rank = self_rank(node);
  size_t axis = *axis_argument(node.argument(arg::dim).as_int(), rank);
  const std::optional<int64_t> start = fixed(*slice_start(node, axis));
  if (layout == Layout::kChannelsLast) axis = channels_last_axis(rank, axis);
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, l.operand(node.input(arg::self), layout));
  const uint32_t out = l.result(node);
  Node& slice = l.add_node(NodeKind::StaticSlice, {x}, out);
  slice.list.assign(l.sizes(out).size(), 0);
  // A size of 0 takes the whole dim, and tells XNNPACK that it does: a slice of nothing but
  // channels may lie where they are.
  slice.list[axis] = static_cast<uint32_t>(start.value_or(0));
  slice.list2.assign(l.sizes(out).size(), 0);
  slice.list2[axis] = static_cast<uint32_t>(fixed(l.sizes(out)[axis]).value_or(0));
  return absl::OkStatus();
}

// --- constant_pad_nd ---

Support check_pad(const IrNode& node) {
  const exir::Argument& pad = node.argument(arg::pad);
  if (!pad.is_ints()) return Support::no("pad must be literal");
  if (pad.as_ints().size() % 2 != 0 || pad.as_ints().size() > 2 * self_rank(node)) {
    return Support::no(absl::StrCat("pad has ", pad.as_ints().size(), " entries"));
  }
  for (const int64_t value : pad.as_ints()) {
    if (value < 0 || value > INT32_MAX) {
      return Support::no(absl::StrCat("pad has ", value, ", must be in [0, 2^31)"));
    }
  }
  if (!number_argument(node.argument(arg::value))) return Support::no("value must be a number");
  return Support::yes();
}

LayoutNeed pad_need(const IrNode& node) {
  const size_t rank = self_rank(node);
  const std::vector<int64_t>& pad = node.argument(arg::pad).as_ints();
  for (size_t i = 0; i < pad.size(); ++i) {
    const bool moves = pad[i] != 0;
    if (moves && moves_planes(rank, rank - 1 - i / 2) == LayoutNeed::kPlain) {
      return LayoutNeed::kPlain;
    }
  }
  return LayoutNeed::kFollows;
}

Status lower_pad(Lowering& l, const IrNode& node) {
  const Layout layout = l.result_layout(node);
  const size_t rank = self_rank(node);
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, l.operand(node.input(arg::self), layout));
  const uint32_t out = l.result(node);
  const size_t payload_rank = l.sizes(out).size();
  Node& node_out = l.add_node(NodeKind::StaticConstantPad, {x}, out);
  node_out.scalar = static_cast<float>(*number_argument(node.argument(arg::value)));
  node_out.list.assign(payload_rank, 0);
  node_out.list2.assign(payload_rank, 0);
  // Pairs (before, after), the last dim first.
  const std::vector<int64_t>& pad = node.argument(arg::pad).as_ints();
  for (size_t i = 0; 2 * i < pad.size(); ++i) {
    size_t axis = rank - 1 - i;
    if (layout == Layout::kChannelsLast) axis = channels_last_axis(rank, axis);
    node_out.list[axis] = static_cast<uint32_t>(pad[2 * i]);
    node_out.list2[axis] = static_cast<uint32_t>(pad[2 * i + 1]);
  }
  return absl::OkStatus();
}

// --- pixel_shuffle and pixel_unshuffle ---

Support check_pixels(const IrNode& node) {
  const size_t rank = self_rank(node);
  if (rank != 4) return Support::no(absl::StrCat("the image has rank ", rank, ", must be 4"));
  return Support::yes();
}

// The image is seen with its channels and pixels split in two, which change
// places: from[k] is where axis k of the result comes from.
//
//   shuffle    plain [n,c,r,r,h,w] -> [n,c,h,r,w,r]    last [n,h,w,c,r,r] -> [n,h,r,w,r,c]
//   unshuffle  plain [n,c,h,r,w,r] -> [n,c,r,r,h,w]    last [n,h,r,w,r,c] -> [n,h,w,c,r,r]
Status lower_pixels(Lowering& l, const IrNode& node, bool shuffles) {
  const Layout layout = l.result_layout(node);
  const bool last = layout == Layout::kChannelsLast;
  const Size r = node.argument(arg::upscale_factor, arg::downscale_factor).as_int();
  const Extents small = exir::sizes_of(shuffles ? node.input(arg::self) : node.result());
  const Extents large = exir::sizes_of(shuffles ? node.result() : node.input(arg::self));
  const Size& n = small[0];
  const Size& c = large[1];
  const Size& h = small[2];
  const Size& w = small[3];
  const Extents packed = last ? Extents{n, h, w, c, r, r} : Extents{n, c, r, r, h, w};
  const Extents spread = last ? Extents{n, h, r, w, r, c} : Extents{n, c, h, r, w, r};
  std::vector<uint32_t> from = {0, 1, 4, 2, 5, 3};
  if (!shuffles) {
    std::vector<uint32_t> back(from.size());
    for (uint32_t i = 0; i < from.size(); ++i) back[from[i]] = i;
    from = std::move(back);
  }
  PETREL_ASSIGN_OR_RETURN(const uint32_t x, l.operand(node.input(arg::self), layout));
  const uint32_t split = l.reshape(x, shuffles ? packed : spread);
  const uint32_t moved = l.intermediate(shuffles ? spread : packed);
  l.add_node(NodeKind::StaticTranspose, {split}, moved).list = std::move(from);
  l.add_reshape(moved, l.result(node));
  return absl::OkStatus();
}

Status lower_pixel_shuffle(Lowering& l, const IrNode& node) { return lower_pixels(l, node, true); }
Status lower_pixel_unshuffle(Lowering& l, const IrNode& node) {
  return lower_pixels(l, node, false);
}

// --- clone ---

Status lower_clone(Lowering& l, const IrNode& node) {
  PETREL_ASSIGN_OR_RETURN(const uint32_t x,
                          l.operand(node.input(arg::self), l.result_layout(node)));
  l.add_node(NodeKind::Copy, {x}, l.result(node));
  return absl::OkStatus();
}

constexpr OpRow moves(exir::OpHandle op, Support (*check)(const IrNode&),
                      LayoutNeed (*need)(const IrNode&),
                      Status (*lower)(Lowering&, const IrNode&)) {
  return {op, check, need, lower, /*takes_activation=*/false, /*needs_company=*/true};
}

constexpr OpRow kRows[] = {
    moves(aten::view, &accept, &view_need, &lower_view),
    moves(aten::_unsafe_view, &accept, &view_need, &lower_view),
    moves(aten::reshape, &accept, &view_need, &lower_view),
    moves(aten::unsqueeze, &accept, &view_need, &lower_view),
    moves(aten::squeeze_dim, &accept, &view_need, &lower_view),
    moves(aten::squeeze_dims, &accept, &view_need, &lower_view),
    moves(aten::permute, &check_permute, &permute_need, &lower_permute),
    moves(aten::cat, &check_cat, &cat_need, &lower_cat),
    moves(aten::slice_Tensor, &check_slice, &slice_need, &lower_slice),
    moves(aten::constant_pad_nd, &check_pad, &pad_need, &lower_pad),
    moves(aten::pixel_shuffle, &check_pixels, &follows, &lower_pixel_shuffle),
    moves(aten::pixel_unshuffle, &check_pixels, &follows, &lower_pixel_unshuffle),
    moves(aten::clone, &accept, &follows, &lower_clone),
};

}  // namespace

absl::Span<const OpRow> shape_ops() { return kRows; }

}  // namespace petrel::backends::xnnpack::aot
