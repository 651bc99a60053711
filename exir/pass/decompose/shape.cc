// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

Rewritten stack(Builder& b, Node& node) {
  const Sizes& out = sizes_of(node.result());
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), out.size());
  std::vector<Value*> parts;
  for (Value* part : node.argument(arg::tensors).values()) {
    Sizes sizes = sizes_of(part);
    sizes.insert(sizes.begin() + dim, 1);
    PETREL_ASSIGN_OR_RETURN(part, b.view(part, sizes));
    parts.push_back(part);
  }
  return done(b, node, b.call(aten::cat, {parts, dim}));
}

// One dtype: kernels and backends join what is alike.
Rewritten cat(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  bool is_alike = true;
  std::vector<Value*> parts = node.argument(arg::tensors).values();
  for (Value*& part : parts) {
    is_alike = is_alike && part->tensor().dtype == dtype;
    PETREL_ASSIGN_OR_RETURN(part, b.cast(part, dtype));
  }
  if (is_alike) return false;
  return done(b, node, b.call(aten::cat, {parts, node.argument(arg::dim)}));
}

Rewritten copy(Builder& b, Node& node) {
  const TensorType& type = tensor_at(node, arg::self)->tensor();
  PETREL_ASSIGN_OR_RETURN(Value * made, b.cast(tensor_at(node, arg::src), type.dtype));
  return done(b, node, b.expand(made, sizes_of(type)));
}

// hstack joins along dim 1 (0 for vectors), vstack along dim 0 of matrices.
Rewritten joined(Builder& b, Node& node, bool horizontal) {
  std::vector<Value*> parts;
  size_t rank = 0;
  for (Value* part : node.argument(arg::tensors).values()) {
    Sizes sizes = sizes_of(part);
    if (sizes.empty()) sizes = {1};
    if (!horizontal && sizes.size() == 1) sizes.insert(sizes.begin(), 1);
    if (parts.empty()) rank = sizes.size();  // the first decides, as in eager
    PETREL_ASSIGN_OR_RETURN(part, b.view(part, sizes));
    parts.push_back(part);
  }
  return done(b, node, b.call(aten::cat, {parts, horizontal && rank > 1 ? 1 : 0}));
}

Rewritten hstack(Builder& b, Node& node) { return joined(b, node, true); }
Rewritten vstack(Builder& b, Node& node) { return joined(b, node, false); }

// column_stack along dim 1, dstack along dim 2, once each part has that dim.
Rewritten stacked(Builder& b, Node& node) {
  const bool is_deep = node.is(aten::dstack);
  std::vector<Value*> parts;
  for (Value* part : node.argument(arg::tensors).values()) {
    if (is_deep) {
      PETREL_ASSIGN_OR_RETURN(part, b.call(aten::atleast_3d, {part}));
    } else if (part->tensor().rank() < 2) {
      PETREL_ASSIGN_OR_RETURN(part, b.view(part, {numel_of(part), 1}));
    }
    parts.push_back(part);
  }
  return done(b, node, b.call(aten::cat, {parts, is_deep ? 2 : 1}));
}

Rewritten at_least(Builder& b, Node& node) {
  return done(b, node, b.view(tensor_at(node, arg::self), sizes_of(node.result())));
}

Rewritten tile(Builder& b, Node& node) {
  Sizes repeats = sizes_in(node.argument(arg::dims), 1);
  const size_t rank = tensor_at(node, arg::self)->tensor().rank();
  while (repeats.size() < rank) repeats.insert(repeats.begin(), 1);
  return done(b, node, b.call(aten::repeat, {tensor_at(node, arg::self), repeats}));
}

// Each element `repeats` times in a row.
Rewritten repeat_interleave(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  if (!is_size(node.argument(arg::repeats))) return false;
  Sizes sizes = sizes_of(x);
  int64_t dim = 0;
  if (node.argument(arg::dim).is_none() || sizes.empty()) {
    sizes = {numel_of(x)};
  } else {
    dim = wrap_dim(fixed_int(node.argument(arg::dim)), sizes.size());
  }
  sizes.insert(sizes.begin() + dim + 1, 1);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  sizes[static_cast<size_t>(dim) + 1] = size_in(node.argument(arg::repeats));
  PETREL_ASSIGN_OR_RETURN(x, b.expand(x, sizes));
  return done(b, node, b.view(x, sizes_of(node.result())));
}

// [N, g*c, ...] seen as [N, g, c, ...] with g and c changed over.
Rewritten channel_shuffle(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes out = sizes_of(x);
  const int64_t groups = fixed_int(node.argument(arg::groups));
  if (out.size() < 2 || groups < 1 || !is_always(out[1] % groups, 0)) return false;
  Sizes sizes = out;
  sizes[1] = groups;
  sizes.insert(sizes.begin() + 2, out[1] / groups);
  Ints dims = all_dims(sizes.size());
  std::swap(dims[1], dims[2]);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  PETREL_ASSIGN_OR_RETURN(x, b.permute(x, dims));
  return done(b, node, b.view(x, out));
}

// [..., c*r*r, h, w] seen as [..., c, r, r, h, w], and each r moved behind the
// h or w that it multiplies. Kernels and backends take one dim before the c.
Rewritten pixel_shuffle(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes out = sizes_of(node.result());
  const int64_t r = fixed_int(node.argument(arg::upscale_factor));
  if (out.size() == 4) return false;
  const size_t lead = out.size() - 3;
  Sizes sizes(out.begin(), out.end() - 2);
  const Sizes& in = sizes_of(x);
  sizes.insert(sizes.end(), {r, r, in[lead + 1], in[lead + 2]});
  Ints dims = all_dims(sizes.size());
  const auto c = static_cast<int64_t>(lead);
  std::copy_n(Ints{c + 3, c + 1, c + 4, c + 2}.begin(), 4, dims.end() - 4);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  PETREL_ASSIGN_OR_RETURN(x, b.permute(x, dims));
  return done(b, node, b.view(x, out));
}

// The way back: [..., c, h, r, w, r] with each r moved behind the c.
Rewritten pixel_unshuffle(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes out = sizes_of(node.result());
  const int64_t r = fixed_int(node.argument(arg::downscale_factor));
  if (out.size() == 4) return false;
  const size_t lead = out.size() - 3;
  const Sizes& in = sizes_of(x);
  Sizes sizes(in.begin(), in.end() - 2);
  sizes.insert(sizes.end(), {out[lead + 1], r, out[lead + 2], r});
  Ints dims = all_dims(sizes.size());
  const auto c = static_cast<int64_t>(lead);
  std::copy_n(Ints{c + 2, c + 4, c + 1, c + 3}.begin(), 4, dims.end() - 4);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  PETREL_ASSIGN_OR_RETURN(x, b.permute(x, dims));
  return done(b, node, b.view(x, out));
}

// Wraps around: what leaves at one end comes in at the other, of what padding by less than
// nothing has left.
BuiltValue circular(Builder& b, Value* x, const Sizes& pad) {
  const size_t rank = x->tensor().rank();
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = static_cast<int64_t>(rank - 1 - i);
    const int64_t before = pad[2 * i];
    const int64_t after = pad[2 * i + 1];
    const Size whole = sizes_of(x)[static_cast<size_t>(dim)];
    if (before > whole || after > whole) {
      return absl::InvalidArgumentError("circular padding wraps twice");
    }
    PETREL_ASSIGN_OR_RETURN(
        x, b.slice(x, dim, std::max<int64_t>(0, -before), whole - std::max<int64_t>(0, -after)));
    const Size size = sizes_of(x)[static_cast<size_t>(dim)];
    std::vector<Value*> parts;
    if (before > 0) {
      PETREL_ASSIGN_OR_RETURN(Value * part, b.slice(x, dim, size - before, size));
      parts.push_back(part);
    }
    parts.push_back(x);
    if (after > 0) {
      PETREL_ASSIGN_OR_RETURN(Value * part, b.slice(x, dim, 0, after));
      parts.push_back(part);
    }
    if (parts.size() > 1) {
      PETREL_ASSIGN_OR_RETURN(x, b.call(aten::cat, {parts, dim}));
    }
  }
  return x;
}

Rewritten pad(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes amounts = sizes_in(node.argument(arg::pad), 1);
  const std::string mode = node.argument(arg::mode).as_string();
  if (mode == "constant") {
    const Argument& value = node.argument(arg::value);
    return done(b, node,
                b.call(aten::constant_pad_nd, {x, amounts, value.is_none() ? Arg(0) : Arg(value)}));
  }
  if (mode == "circular") return done(b, node, circular(b, x, amounts));
  static constexpr OpHandle kReflect[] = {aten::reflection_pad1d, aten::reflection_pad2d,
                                          aten::reflection_pad3d};
  static constexpr OpHandle kReplicate[] = {aten::replication_pad1d, aten::replication_pad2d,
                                            aten::replication_pad3d};
  const size_t dims = amounts.size() / 2;
  if (dims < 1 || dims > 3 || (mode != "reflect" && mode != "replicate")) {
    return false;
  }
  return done(b, node, b.call((mode == "reflect" ? kReflect : kReplicate)[dims - 1], {x, amounts}));
}

// A list of numbers is one of ints when nothing in it is computed at run time.
Argument list_of(const Argument::List& numbers) {
  Ints ints;
  for (const Argument& number : numbers) {
    if (!number.is_int()) return Argument(numbers);
    ints.push_back(fixed_int(number));
  }
  return Argument(std::move(ints));
}

// Padding with less than nothing is a slice; kernels of other runtimes refuse it. Amounts that
// are computed at run time and not proven to be negative stay.
Rewritten constant_pad(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Argument& pad = node.argument(arg::pad);
  const Sizes amounts = sizes_in(pad, 1);
  Argument::List rest;
  const auto cuts = [&](size_t i) {
    const bool is_cut = is_at_most(amounts[i], 0);
    const Argument kept = pad.is_list() ? pad.as_list()[i] : Argument(pad.as_ints()[i]);
    rest.push_back(is_cut ? Argument(int64_t{0}) : kept);
    return is_cut;
  };
  for (size_t i = 0; i + 1 < amounts.size(); i += 2) {
    const auto dim = static_cast<int64_t>(x->tensor().rank() - 1 - i / 2);
    const Size begin = cuts(i) ? Size(0) - amounts[i] : Size(0);
    const Size size = sizes_of(x)[static_cast<size_t>(dim)];
    PETREL_ASSIGN_OR_RETURN(x, b.slice(x, dim, begin, cuts(i + 1) ? size + amounts[i + 1] : size));
  }
  if (x == tensor_at(node, arg::self)) return false;
  if (is_always(sizes_of(x), sizes_of(node.result()))) return done(b, node, x);
  return done(b, node,
              b.call(aten::constant_pad_nd, {x, list_of(rest), node.argument(arg::value)}));
}

// The kernel takes no number.
Rewritten unfold(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  if (x->tensor().rank() != 0) return false;
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {1}));
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.call(aten::unfold, {x, 0, node.argument(arg::size), node.argument(arg::step)}));
  return done(b, node, b.view(y, sizes_of(node.result())));
}

constexpr Rewrite kRows[] = {
    {aten::cat, cat, true},
    {aten::constant_pad_nd, constant_pad, true},
    {aten::copy, copy},
    {aten::concat, cat, true},
    {aten::concatenate, cat, true},
    {aten::stack, stack},
    {aten::hstack, hstack},
    {aten::vstack, vstack},
    {aten::row_stack, vstack},
    {aten::column_stack, stacked},
    {aten::dstack, stacked},
    {aten::atleast_1d, at_least},
    {aten::atleast_2d, at_least},
    {aten::atleast_3d, at_least},
    {aten::tile, tile},
    {aten::repeat_interleave_self_int, repeat_interleave},
    {aten::channel_shuffle, channel_shuffle},
    {aten::native_channel_shuffle, channel_shuffle},
    {aten::pixel_shuffle, pixel_shuffle},
    {aten::pixel_unshuffle, pixel_unshuffle},
    {aten::pad, pad},
    {aten::unfold, unfold, true},
};

}  // namespace

Rewrites shape_decompositions() { return kRows; }

}  // namespace petrel::exir
