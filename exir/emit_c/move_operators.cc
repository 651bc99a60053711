// SPDX-License-Identifier: Apache-2.0
//
// Operators that only rearrange elements.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/emit_c/literal.h"
#include "exir/emit_c/operators.h"
#include "exir/emit_c/strided_view.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {
namespace {

// The first argument, whatever its name.
const Value* self_of(const NodeCalls& calls) { return calls.node().arguments()[0].value(); }

void move_all(const OperatorRow& row, NodeCalls& calls, const StridedView& from) {
  move(calls, row.name(), self_of(calls), from, calls.out(), view_of(calls.out()->tensor()));
}

// The same elements in the same order, perhaps of another type or dim order.
absl::Status copy(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& in = self_of(calls)->tensor();
  const TensorType& out = calls.out()->tensor();
  const StridedView from = view_of(in);
  // Views of contiguous tensors change sizes.
  const bool reshapes = extents_of(in) != extents_of(out);
  const StridedView flat = {{numel_of(in)}, {1}, 0};
  move(calls, row.name(), self_of(calls), reshapes ? flat : from, calls.out(),
       reshapes ? flat : view_of(out));
  return absl::OkStatus();
}

absl::Status permute(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = self_of(calls)->tensor();
  const StridedView whole = view_of(type);
  StridedView view = whole;
  const std::vector<int64_t> dims = ints_of(calls.node().argument(arg::dims));
  for (size_t d = 0; d < dims.size(); ++d) {
    const size_t from = dim_of(Argument(dims[d]), type);
    view.sizes[d] = whole.sizes[from];
    view.strides[d] = whole.strides[from];
  }
  move_all(row, calls, view);
  return absl::OkStatus();
}

absl::Status transpose(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = self_of(calls)->tensor();
  StridedView view = view_of(type);
  if (type.rank() >= 2) {
    const bool named = calls.node().op().find_arg(arg::dim0) >= 0;
    const size_t a = named ? dim_of(calls.node().argument(arg::dim0), type) : 0;
    const size_t b = named ? dim_of(calls.node().argument(arg::dim1), type) : 1;
    std::swap(view.sizes[a], view.sizes[b]);
    std::swap(view.strides[a], view.strides[b]);
  }
  move_all(row, calls, view);
  return absl::OkStatus();
}

// Repeats a tensor to the sizes of the result.
void repeat_to_result(const OperatorRow& row, NodeCalls& calls, const Value* from) {
  const Extents sizes = extents_of(calls.out()->tensor());
  StridedView view = view_of(from->tensor());
  const size_t shift = sizes.size() - view.sizes.size();
  for (size_t d = 0; d < view.sizes.size(); ++d) {
    if (view.sizes[d] == 1 && sizes[shift + d] != 1) view.strides[d] = 0;
  }
  view.strides.insert(view.strides.begin(), shift, 0);
  view.sizes = sizes;
  move(calls, row.name(), from, view, calls.out(), view_of(calls.out()->tensor()));
}

absl::Status expand(const OperatorRow& row, NodeCalls& calls) {
  repeat_to_result(row, calls, self_of(calls));
  return absl::OkStatus();
}

// Of self nothing but its type and its sizes counts.
absl::Status copy_source(const OperatorRow& row, NodeCalls& calls) {
  repeat_to_result(row, calls, calls.node().input(arg::src));
  return absl::OkStatus();
}

// The value is one element, of any rank.
absl::Status fill_with_element(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = calls.out()->tensor();
  const StridedView one = {extents_of(type), Extents(type.rank(), 0), 0};
  move(calls, row.name(), calls.node().input(arg::value), one, calls.out(), view_of(type));
  return absl::OkStatus();
}

// A place that counts from the end when it is negative.
Extent from_start(const Extent& place, const Extent& size) {
  if (!place.is_known() || place.range().low >= 0) return place;
  if (place.range().high < 0) return place + size;
  const Extent is_negative = smaller_of(larger_of(Extent(0) - place, 0), 1);
  return place + size * is_negative;
}

Extent clamped(const Extent& place, const Extent& size) {
  return smaller_of(larger_of(from_start(place, size), 0), size);
}

// self[..., start:end:step, ...]; as many elements as `count`.
StridedView slice_of(const Node& node, const TensorType& type, const Extent& count) {
  const size_t dim = dim_of(node.argument(arg::dim), type);
  const Argument& start = node.argument(arg::start);
  const Extent begin = start.is_none() ? 0 : clamped(extent_of(start), extents_of(type)[dim]);
  const bool steps = node.op().find_arg(arg::step) >= 0;
  return view_of(type).cut(dim, begin, count, steps ? node.argument(arg::step).as_int() : 1);
}

// [begin, begin + count) lies in [0, size).
void require_inside(NodeCalls& calls, const Extent& begin, const Extent& count,
                    const Extent& size) {
  calls.require_not_negative(begin);
  calls.require_not_negative(size - count - begin);
}

absl::Status narrow(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = self_of(calls)->tensor();
  const size_t dim = dim_of(calls.node().argument(arg::dim), type);
  const Extent size = extents_of(type)[dim], count = extents_of(calls.out()->tensor())[dim];
  const Extent begin = from_start(extent_of(calls.node().argument(arg::start)), size);
  require_inside(calls, begin, count, size);
  move_all(row, calls, view_of(type).cut(dim, begin, count, 1));
  return absl::OkStatus();
}

absl::Status slice(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = self_of(calls)->tensor();
  const size_t dim = dim_of(calls.node().argument(arg::dim), type);
  move_all(row, calls, slice_of(calls.node(), type, extents_of(calls.out()->tensor())[dim]));
  return absl::OkStatus();
}

StridedView row_of(NodeCalls& calls, const TensorType& type) {
  const size_t dim = dim_of(calls.node().argument(arg::dim), type);
  const Extent size = extents_of(type)[dim];
  const Extent index = from_start(extent_of(calls.node().argument(arg::index)), size);
  require_inside(calls, index, 1, size);
  return view_of(type).cut(dim, index, 1, 1).without(dim);
}

absl::Status select(const OperatorRow& row, NodeCalls& calls) {
  move_all(row, calls, row_of(calls, self_of(calls)->tensor()));
  return absl::OkStatus();
}

// A copy of self with a part of it written over.
absl::Status scatter_part(const OperatorRow& row, NodeCalls& calls, const StridedView& part) {
  const Value* source = calls.node().input(arg::src);
  copy_whole(calls, row.name(), self_of(calls), calls.out());
  move(calls, row.name(), source, view_of(source->tensor()), calls.out(), part);
  return absl::OkStatus();
}

// Of self[..., start:end:step, ...].
Extent length_of_slice(const Node& node, const Extent& size) {
  const Argument &start = node.argument(arg::start), &end = node.argument(arg::end);
  const Extent begin = start.is_none() ? 0 : clamped(extent_of(start), size);
  const Extent limit = end.is_none() ? size : clamped(extent_of(end), size);
  const int64_t step = node.argument(arg::step).as_int();
  return (larger_of(limit - begin, 0) + (step - 1)) / step;
}

absl::Status slice_scatter(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = self_of(calls)->tensor();
  const size_t dim = dim_of(calls.node().argument(arg::dim), type);
  const Extent size = extents_of(type)[dim];
  const Extent count = extents_of(calls.node().input(arg::src)->tensor())[dim];
  const Extent taken = length_of_slice(calls.node(), size);
  calls.require_not_negative(taken - count);
  calls.require_not_negative(count - taken);
  return scatter_part(row, calls, slice_of(calls.node(), type, count));
}

absl::Status select_scatter(const OperatorRow& row, NodeCalls& calls) {
  return scatter_part(row, calls, row_of(calls, self_of(calls)->tensor()));
}

absl::Status cat(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = calls.out()->tensor();
  const size_t dim = dim_of(calls.node().argument(arg::dim), type);
  Extent begin = 0;
  for (const Value* part : calls.node().argument(arg::tensors).values()) {
    // An empty list of any rank may stand among them.
    if (numel_of(part->tensor()) == 0) continue;
    const Extent count = extents_of(part->tensor())[dim];
    move(calls, row.name(), part, view_of(part->tensor()), calls.out(),
         view_of(type).cut(dim, begin, count, 1));
    begin += count;
  }
  return absl::OkStatus();
}

absl::Status stack(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = calls.out()->tensor();
  const size_t dim = dim_of(calls.node().argument(arg::dim), type);
  int64_t i = 0;
  for (const Value* part : calls.node().argument(arg::tensors).values()) {
    move(calls, row.name(), part, view_of(part->tensor()), calls.out(),
         view_of(type).cut(dim, i++, 1, 1).without(dim));
  }
  return absl::OkStatus();
}

// Into one result per part, along a dim that the results keep.
absl::Status split(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = self_of(calls)->tensor();
  const size_t dim = dim_of(calls.node().argument(arg::dim), type);
  Extent begin = 0;
  for (size_t i = 0; i < calls.node().num_results(); ++i) {
    const Value* part = calls.out(i);
    const Extent count = extents_of(part->tensor())[dim];
    move(calls, row.name(), self_of(calls), view_of(type).cut(dim, begin, count, 1), part,
         view_of(part->tensor()));
    begin += count;
  }
  return absl::OkStatus();
}

absl::Status unbind(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = self_of(calls)->tensor();
  const size_t dim = dim_of(calls.node().argument(arg::dim), type);
  for (size_t i = 0; i < calls.node().num_results(); ++i) {
    move(calls, row.name(), self_of(calls),
         view_of(type).cut(dim, static_cast<int64_t>(i), 1, 1).without(dim), calls.out(i),
         view_of(calls.out(i)->tensor()));
  }
  return absl::OkStatus();
}

absl::Status repeat(const OperatorRow& row, NodeCalls& calls) {
  const StridedView in = view_of(self_of(calls)->tensor());
  const StridedView out = view_of(calls.out()->tensor());
  const size_t shift = out.sizes.size() - in.sizes.size();
  StridedView from, to;
  for (size_t d = 0; d < out.sizes.size(); ++d) {
    const Extent size = d < shift ? 1 : in.sizes[d - shift];
    if (size == 0) return absl::OkStatus();
    for (const auto& [count, from_stride, to_stride] :
         {std::tuple<Extent, Extent, Extent>{out.sizes[d] / size, 0, size * out.strides[d]},
          {size, d < shift ? Extent(0) : in.strides[d - shift], out.strides[d]}}) {
      from.sizes.push_back(count);
      from.strides.push_back(from_stride);
      to.sizes.push_back(count);
      to.strides.push_back(to_stride);
    }
  }
  move(calls, row.name(), self_of(calls), from, calls.out(), to);
  return absl::OkStatus();
}

absl::Status flip(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = self_of(calls)->tensor();
  StridedView view = view_of(type);
  for (const int64_t dim : ints_of(calls.node().argument(arg::dims))) {
    const size_t d = dim_of(Argument(dim), type);
    if (type.rank() == 0) break;
    view.offset += (view.sizes[d] - 1) * view.strides[d];
    view.strides[d] = Extent(0) - view.strides[d];
  }
  move_all(row, calls, view);
  return absl::OkStatus();
}

// How far a dim of `size` moves, from 0 up to its size. Unknown where that is not certain to be
// so, and where nothing may be in it.
Extent rolled_by(const Extent& by, const Extent& size) {
  if (by.is_number() && size.is_number()) {
    return (by.number() % size.number() + size.number()) % size.number();
  }
  const SizeRange shift = by.range(), room = size.range();
  if (shift.low >= 0 && shift.high <= room.low) return by;
  if (shift.high < 0 && -shift.low <= room.low) return size + by;
  if (room.low < 1) return Extent(MaybeSize());
  const Extent forward = shift.low >= 0 ? by : by + size * ((-shift.low - 1) / room.low + 1);
  return forward - forward / size * size;
}

// How far each of `sizes` moves, from 0 up to its size: a dim may be named more than once. Without
// `dims` there is one.
absl::StatusOr<Extents> rolled_dims(const Extents& shifts, const std::vector<int64_t>& dims,
                                    const Extents& sizes, const TensorType& type) {
  Extents rolled(sizes.size());
  for (size_t i = 0; i < shifts.size(); ++i) {
    const size_t d = dims.empty() ? 0 : dim_of(Argument(dims[i]), type);
    const Extent shift = rolled_by(shifts[i], sizes[d]);
    rolled[d] = rolled[d] == 0 ? shift : rolled_by(rolled[d] + shift, sizes[d]);
    if (!rolled[d].text().empty()) continue;
    return absl::UnimplementedError(absl::StrCat(
        "it rolls by ", shifts[i].range().low, " to ", shifts[i].range().high,
        ", of which C does not know the rest by a size of at least ", sizes[d].range().low));
  }
  return rolled;
}

// Every dim is two pieces that change places.
absl::Status roll(const OperatorRow& row, NodeCalls& calls) {
  constexpr size_t kMostPieces = 64;
  const TensorType& type = self_of(calls)->tensor();
  if (type.numel() == 0) return absl::OkStatus();
  const std::vector<int64_t> dims = ints_of(calls.node().argument(arg::dims));
  const StridedView whole = dims.empty() ? StridedView{{numel_of(type)}, {1}, 0} : view_of(type);
  const absl::StatusOr<Extents> rolled =
      rolled_dims(extents_of_list(calls.node().argument(arg::shifts)), dims, whole.sizes, type);
  if (!rolled.ok()) return rolled.status();
  std::vector<std::pair<StridedView, StridedView>> pieces = {{whole, whole}};
  for (size_t d = 0; d < whole.sizes.size(); ++d) {
    const Extent &size = whole.sizes[d], &shift = (*rolled)[d];
    if (shift == 0) continue;
    if (2 * pieces.size() > kMostPieces) {
      return absl::UnimplementedError(
          absl::StrCat("it rolls so many dims that its pieces are more than ", kMostPieces));
    }
    std::vector<std::pair<StridedView, StridedView>> cut;
    for (const auto& [from, to] : pieces) {
      cut.emplace_back(from.cut(d, 0, size - shift, 1), to.cut(d, shift, size - shift, 1));
      cut.emplace_back(from.cut(d, size - shift, shift, 1), to.cut(d, 0, shift, 1));
    }
    pieces = std::move(cut);
  }
  for (const auto& [from, to] : pieces) {
    move(calls, row.name(), self_of(calls), from, calls.out(), to);
  }
  return absl::OkStatus();
}

absl::Status as_strided(const OperatorRow& row, NodeCalls& calls) {
  const Argument& offset = calls.node().argument(arg::storage_offset);
  const auto extents = [](const std::vector<int64_t>& ints) {
    return Extents(ints.begin(), ints.end());
  };
  move_all(row, calls,
           {extents(ints_of(calls.node().argument(arg::size))),
            extents(ints_of(calls.node().argument(arg::stride))),
            offset.is_none() ? 0 : offset.as_int()});
  return absl::OkStatus();
}

absl::Status diagonal(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = self_of(calls)->tensor();
  const int64_t offset = calls.node().argument(arg::offset).as_int();
  const size_t a = dim_of(calls.node().argument(arg::dim1), type);
  const size_t b = dim_of(calls.node().argument(arg::dim2), type);
  StridedView view = view_of(type);
  view.offset = offset >= 0 ? view.strides[b] * offset : view.strides[a] * -offset;
  const Extent stride = view.strides[a] + view.strides[b];
  view = view.without(std::max(a, b)).without(std::min(a, b));
  view.sizes.push_back(extents_of(calls.out()->tensor()).back());
  view.strides.push_back(stride);
  move_all(row, calls, view);
  return absl::OkStatus();
}

absl::Status unfold(const OperatorRow& row, NodeCalls& calls) {
  const TensorType& type = self_of(calls)->tensor();
  StridedView view = view_of(type);
  const size_t dim = dim_of(calls.node().argument(arg::dimension), type);
  const Extent stride = type.rank() == 0 ? 1 : view.strides[dim];
  if (type.rank() > 0) view.strides[dim] *= calls.node().argument(arg::step).as_int();
  view.sizes.push_back(calls.node().argument(arg::size).as_int());
  view.strides.push_back(stride);
  view.sizes = extents_of(calls.out()->tensor());
  move_all(row, calls, view);
  return absl::OkStatus();
}

// [..., c * r * r, h, w] and [..., c, h * r, w * r], `shrinks` from the first to the second.
absl::Status shuffle(const OperatorRow& row, NodeCalls& calls, int64_t r, bool enlarges) {
  const TensorType& many = (enlarges ? self_of(calls) : calls.out())->tensor();
  const TensorType& large = (enlarges ? calls.out() : self_of(calls))->tensor();
  const size_t rank = many.rank();
  const Extents all = extents_of(many);
  const Extent h = all[rank - 2], w = all[rank - 1];
  Extent channels = 1;
  for (size_t d = 0; d + 2 < rank; ++d) channels *= all[d];
  channels = channels / (r * r);
  const Extents sizes = {channels, r, r, h, w};
  const StridedView channel_wise = {sizes, {h * w * (r * r), h * w * r, h * w, w, 1}, 0};
  const StridedView plane_wise = {sizes, {h * w * (r * r), w * r, 1, w * (r * r), r}, 0};
  if (numel_of(large) == 0) return absl::OkStatus();
  move(calls, row.name(), self_of(calls), enlarges ? channel_wise : plane_wise, calls.out(),
       enlarges ? plane_wise : channel_wise);
  return absl::OkStatus();
}

absl::Status pixel_shuffle(const OperatorRow& row, NodeCalls& calls) {
  return shuffle(row, calls, calls.node().argument(arg::upscale_factor).as_int(), true);
}

absl::Status pixel_unshuffle(const OperatorRow& row, NodeCalls& calls) {
  return shuffle(row, calls, calls.node().argument(arg::downscale_factor).as_int(), false);
}

constexpr OperatorRow kRows[] = {
    {"aten::view_copy.out", copy},
    {"aten::alias_copy.out", copy},
    {"aten::detach_copy.out", copy},
    {"aten::lift_fresh_copy.out", copy},
    {"aten::clone.out", copy},
    {"dim_order_ops::_clone_dim_order.out", copy},
    {"dim_order_ops::_to_dim_order_copy.out", copy},
    {"aten::_to_copy.out", copy},
    {"aten::squeeze_copy.dim_out", copy},
    {"aten::squeeze_copy.dims_out", copy},
    {"aten::unsqueeze_copy.out", copy},
    {"aten::permute_copy.out", permute},
    {"aten::transpose_copy.int_out", transpose},
    {"aten::t_copy.out", transpose},
    {"aten::expand_copy.out", expand},
    {"aten::copy.out", copy_source},
    {"aten::fill.Tensor_out", fill_with_element},
    {"aten::slice_copy.Tensor_out", slice},
    {"aten::narrow_copy.out", narrow},
    {"aten::select_copy.int_out", select},
    {"aten::slice_scatter.out", slice_scatter},
    {"aten::select_scatter.out", select_scatter},
    {"aten::cat.out", cat},
    {"aten::stack.out", stack},
    {"aten::split_with_sizes_copy.out", split},
    {"aten::split_copy.Tensor_out", split},
    {"aten::unbind_copy.int_out", unbind},
    {"aten::repeat.out", repeat},
    {"aten::flip.out", flip},
    {"aten::roll.out", roll},
    {"aten::as_strided_copy.out", fixed(as_strided)},
    {"aten::diagonal_copy.out", diagonal},
    {"aten::unfold_copy.out", unfold},
    {"aten::pixel_shuffle.out", pixel_shuffle},
    {"aten::pixel_unshuffle.out", pixel_unshuffle},
};

}  // namespace

absl::Span<const OperatorRow> move_operators() { return kRows; }

}  // namespace petrel::exir::emit_c
