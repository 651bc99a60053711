// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"
#include "exir/ops/view_rules.h"

namespace petrel::exir::rules {
namespace {

absl::StatusOr<ScalarType> common_dtype(const std::vector<const TensorType*>& types) {
  Promotion promotion;
  for (const TensorType* type : types) {
    PETREL_RETURN_IF_ERROR(promotion.add(*type));
  }
  return promotion.result();
}

Inferred concatenated(const std::vector<TensorType>& parts, int64_t axis) {
  Promotion promotion;
  std::optional<Sizes> sizes;
  for (const TensorType& part : parts) {
    PETREL_RETURN_IF_ERROR(promotion.add(part));
    // A tensor of sizes [0] joins anything and adds nothing.
    if (part.rank() == 1 && part.sizes[0] == 0) continue;
    if (part.rank() == 0) return invalid("a tensor of rank 0 in a list");
    if (!sizes) {
      sizes = part.sizes;
      PETREL_ASSIGN_OR_RETURN(axis, normalize_dim(axis, part.rank(), "dim"));
      continue;
    }
    Sizes other = part.sizes;
    if (other.size() == sizes->size()) {
      other[axis] = (*sizes)[axis];
      if (other == *sizes) {
        (*sizes)[axis] += part.sizes[axis];
        continue;
      }
    }
    return invalid("sizes [", absl::StrJoin(part.sizes, ","), "] and [", absl::StrJoin(*sizes, ","),
                   "] do not join along dim ", axis);
  }
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, promotion.result());
  return one(dtype, sizes.value_or(Sizes{0}));
}

std::vector<TensorType> tensor_list(const BoundArguments& in) {
  std::vector<TensorType> parts;
  for (const TensorType* type : in.tensors("tensors")) parts.push_back(*type);
  return parts;
}

Inferred cat(const BoundArguments& in) { return concatenated(tensor_list(in), in.integer("dim")); }

Inferred stack(const BoundArguments& in) {
  const std::vector<const TensorType*> parts = in.tensors("tensors");
  if (parts.empty()) return invalid("argument 'tensors' is empty");
  Sizes sizes = parts[0]->sizes;
  for (const TensorType* part : parts) {
    if (part->sizes == sizes) continue;
    return invalid("sizes [", absl::StrJoin(part->sizes, ","), "] and [", absl::StrJoin(sizes, ","),
                   "] do not stack");
  }
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, common_dtype(parts));
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", sizes.size() + 1));
  sizes.insert(sizes.begin() + dim, static_cast<int64_t>(parts.size()));
  return one(dtype, std::move(sizes));
}

Inferred hstack(const BoundArguments& in) {
  std::vector<TensorType> parts = tensor_list(in);
  if (parts.empty()) return invalid("argument 'tensors' is empty");
  for (TensorType& part : parts) {
    if (part.rank() == 0) part.sizes = {1};
  }
  return concatenated(parts, parts[0].rank() == 1 ? 0 : 1);
}

Inferred vstack(const BoundArguments& in) {
  std::vector<TensorType> parts = tensor_list(in);
  for (TensorType& part : parts) {
    while (part.rank() < 2) part.sizes.insert(part.sizes.begin(), 1);
  }
  return concatenated(parts, 0);
}

Inferred column_stack(const BoundArguments& in) {
  std::vector<TensorType> parts = tensor_list(in);
  for (TensorType& part : parts) {
    if (part.rank() < 2) part.sizes = {part.numel(), 1};
  }
  return concatenated(parts, 1);
}

// Sizes of 1 come in front, and behind an image that lacks its depth.
Sizes of_rank_at_least(size_t least, Sizes sizes) {
  const bool has_depth = sizes.size() == 3 || least < 3;
  while (sizes.size() + (has_depth ? 0 : 1) < least) sizes.insert(sizes.begin(), 1);
  if (sizes.size() < least) sizes.push_back(1);
  return sizes;
}

Inferred dstack(const BoundArguments& in) {
  std::vector<TensorType> parts = tensor_list(in);
  for (TensorType& part : parts) part.sizes = of_rank_at_least(3, part.sizes);
  return concatenated(parts, 2);
}

template <size_t least>
Inferred at_least(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  return one(self.dtype, of_rank_at_least(least, self.sizes));
}

template <size_t least>
Inferred all_at_least(const BoundArguments& in) {
  std::vector<Type> types;
  for (const TensorType* each : in.tensors("tensors")) {
    types.push_back(TensorType::contiguous(each->dtype, of_rank_at_least(least, each->sizes)));
  }
  return types;
}

// Sequences [length, ...], which differ in length alone, as one [longest, count, ...].
Inferred pad_sequence(const BoundArguments& in) {
  const std::vector<const TensorType*> sequences = in.tensors("sequences");
  const std::string side = in.text("padding_side");
  if (side != "left" && side != "right") {
    return invalid("argument 'padding_side' is '", side, "', must be left or right");
  }
  if (sequences.empty() || sequences[0]->rank() == 0) {
    return invalid("argument 'sequences' holds no sequence");
  }
  const Sizes& first = sequences[0]->sizes;
  const Sizes rest(first.begin() + 1, first.end());
  Size longest = 0;
  for (const TensorType* each : sequences) {
    const bool is_alike = each->rank() == first.size() && each->dtype == sequences[0]->dtype &&
                          Sizes(each->sizes.begin() + 1, each->sizes.end()) == rest;
    if (!is_alike) return invalid("argument 'sequences' differs in more than lengths");
    longest = largest(longest, each->sizes[0]);
  }
  Sizes sizes = {longest, static_cast<int64_t>(sequences.size())};
  if (in.flag("batch_first")) std::swap(sizes[0], sizes[1]);
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return one(sequences[0]->dtype, std::move(sizes));
}

Inferred repeat(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  const bool is_tile = in.has("dims");
  Sizes repeats = in.ints(is_tile ? "dims" : "repeats");
  if (repeats.size() < self.rank()) {
    if (!is_tile) {
      return invalid("argument 'repeats' has ", repeats.size(), " items, must have at least ",
                     self.rank());
    }
    repeats.insert(repeats.begin(), self.rank() - repeats.size(), 1);
  }
  Sizes sizes(repeats.size() - self.rank(), 1);
  sizes.insert(sizes.end(), self.sizes.begin(), self.sizes.end());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (repeats[i] < 0 || multiply_overflows(sizes[i], repeats[i], &sizes[i])) {
      return invalid("repeats dim ", i, " ", repeats[i], " times");
    }
  }
  return one(self.dtype, std::move(sizes));
}

Inferred repeat_interleave(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  if (!in.given("dim") || out.rank() == 0) out.sizes = {out.numel()};
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", out.rank()));
  const Size repeats = in.integer("repeats");
  if (repeats < 0 || multiply_overflows(out.sizes[dim], repeats, &out.sizes[dim])) {
    return invalid("argument 'repeats' is ", repeats);
  }
  return one(out);
}

// 0 repeats[0] times, 1 repeats[1] times, ...
Inferred repeat_places(const BoundArguments& in) {
  const TensorType& repeats = in.tensor("repeats");
  if (repeats.rank() != 1) return invalid("argument 'repeats' has rank ", repeats.rank());
  if (in.given("output_size")) return one(repeats.dtype, {in.integer("output_size")});
  return one(repeats.dtype, {size_by_data(std::numeric_limits<int32_t>::max())});
}

// Element i along a dim repeats[i] times.
Inferred repeat_elements(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  if (!in.given("dim") || out.rank() == 0) out.sizes = {out.numel()};
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", out.rank()));
  const TensorType& repeats = in.tensor("repeats");
  if (repeats.rank() != 1 || repeats.sizes[0] != out.sizes[dim]) {
    return invalid("argument 'repeats' is [", absl::StrJoin(repeats.sizes, ","), "], must be [",
                   out.sizes[dim], "]");
  }
  PETREL_ASSIGN_OR_RETURN(const std::vector<Type> places, repeat_places(in));
  out.sizes[dim] = places[0].tensor.size(0);
  return one(out);
}

Inferred rot90(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(Sizes dims, in.dims("dims", out.rank()));
  if (dims.size() != 2 || out.rank() < 2) {
    return invalid("argument 'dims' has ", dims.size(),
                   " items, must have 2 of a rank of at least 2");
  }
  if (in.integer("k") % 2 != 0) {
    std::swap(out.sizes[dims[0]], out.sizes[dims[1]]);
  }
  return one(out);
}

Inferred meshgrid(const BoundArguments& in) {
  const std::vector<const TensorType*> axes = in.tensors("tensors");
  // Each result has as many sizes as there are results.
  if (axes.size() > kMaxRank) {
    return invalid("a grid of ", axes.size(), " tensors, must be at most ", kMaxRank);
  }
  Sizes sizes;
  for (const TensorType* axis : axes) {
    if (axis->rank() > 1) {
      return invalid("a tensor of rank ", axis->rank(), " in a grid, must be at most 1");
    }
    sizes.push_back(axis->numel());
  }
  if (in.text("indexing") == "xy" && sizes.size() >= 2) {
    std::swap(sizes[0], sizes[1]);
  }
  std::vector<Type> types;
  for (const TensorType* axis : axes) {
    types.push_back(TensorType::contiguous(axis->dtype, sizes));
  }
  return types;
}

Inferred broadcast_tensors(const BoundArguments& in) {
  const std::vector<const TensorType*> parts = in.tensors("tensors");
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(parts));
  std::vector<Type> types;
  for (const TensorType* part : parts) {
    types.push_back(TensorType::contiguous(part->dtype, sizes));
  }
  return types;
}

// The factor of pixel_shuffle; its square must divide.
absl::StatusOr<int64_t> shuffle_factor(const BoundArguments& in, const char* name) {
  const int64_t factor = in.integer(name);
  if (factor < 1 || factor > 32768) {
    return invalid("argument '", name, "' is ", factor, ", must be in [1, 32768]");
  }
  if (in.tensor("self").rank() < 3) {
    return invalid("argument 'self' has rank ", in.tensor("self").rank(), ", must be at least 3");
  }
  return factor;
}

Inferred pixel_shuffle(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(int64_t factor, shuffle_factor(in, "upscale_factor"));
  Size* chw = &out.sizes[out.rank() - 3];
  if (chw[0] % (factor * factor) != 0) {
    return invalid(chw[0], " channels are not a multiple of ", factor, " squared");
  }
  chw[0] /= factor * factor;
  chw[1] *= factor;
  chw[2] *= factor;
  return one(out);
}

Inferred pixel_unshuffle(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(int64_t factor, shuffle_factor(in, "downscale_factor"));
  Size* chw = &out.sizes[out.rank() - 3];
  if (chw[1] % factor != 0 || chw[2] % factor != 0) {
    return invalid("an image of ", chw[1], " x ", chw[2], " is not a multiple of ", factor);
  }
  chw[0] *= factor * factor;
  chw[1] /= factor;
  chw[2] /= factor;
  return one(out);
}

Inferred diag_embed(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() == 0) return invalid("argument 'self' has no dimension");
  PETREL_ASSIGN_OR_RETURN(int64_t a, in.dim("dim1", self.rank() + 1));
  PETREL_ASSIGN_OR_RETURN(int64_t b, in.dim("dim2", self.rank() + 1));
  if (a == b) return invalid("arguments 'dim1' and 'dim2' are both ", a);
  const int64_t offset = in.integer("offset");
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  if (offset > kLimit || offset < -kLimit) {
    return invalid("argument 'offset' is ", offset);
  }
  Sizes sizes = self.sizes;
  const Size length = sizes.back() + std::abs(offset);
  sizes.pop_back();
  sizes.insert(sizes.begin() + std::min(a, b), length);
  sizes.insert(sizes.begin() + std::max(a, b), length);
  return one(self.dtype, std::move(sizes));
}

Inferred triangle(const BoundArguments& in) {
  if (in.tensor("self").rank() >= 2) return one(in.tensor("self"));
  return invalid("argument 'self' has rank ", in.tensor("self").rank(), ", must be at least 2");
}

Inferred channel_shuffle(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  const Size groups = in.integer("groups");
  if (self.rank() > 2 && groups > 0 && self.sizes[1] % groups == 0) return one(self);
  return invalid("argument 'groups' is ", groups, ", must divide the channels of [",
                 absl::StrJoin(self.sizes, ","), "]");
}

Inferred flip(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(in.dims("dims", in.tensor("self").rank()).status());
  return one(in.tensor("self"));
}

// Without dims the elements move in order, by one number. A dim that is named twice moves twice.
Inferred roll(const BoundArguments& in) {
  const size_t shifts = in.ints("shifts").size(), dims = in.ints("dims").size();
  if (shifts != std::max<size_t>(dims, 1)) {
    return invalid("argument 'shifts' has ", shifts, " items, must have ",
                   std::max<size_t>(dims, 1), " as there are ", dims, " in 'dims'");
  }
  if (dims > 0 && in.tensor("self").rank() == 0) {
    return invalid("argument 'dims' has ", dims, " items, argument 'self' has no dims");
  }
  return same_as_self(in);
}

constexpr OpRow kRows[] = {
    {"aten::cat(Tensor[] tensors, int dim=0) -> Tensor", "aten::cat.out", kPure, infer<cat>},
    {"aten::concat(Tensor[] tensors, int dim=0) -> Tensor", "aten::cat.out", kPure, infer<cat>},
    {"aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor", "aten::cat.out", kPure,
     infer<cat>},
    {"aten::stack(Tensor[] tensors, int dim=0) -> Tensor", "aten::stack.out", kPure, infer<stack>},
    {"aten::hstack(Tensor[] tensors) -> Tensor", "", kPure, infer<hstack>},
    {"aten::vstack(Tensor[] tensors) -> Tensor", "", kPure, infer<vstack>},
    {"aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", "aten::repeat.out", kPure,
     infer<repeat>},
    {"aten::tile(Tensor self, SymInt[] dims) -> Tensor", "", kPure, infer<repeat>},
    {"aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? "
     "dim=None, *, SymInt? output_size=None) -> Tensor",
     "", kPure, infer<repeat_interleave>},
    {"aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? "
     "dim=None, *, SymInt? output_size=None) -> Tensor",
     "", kPure | kDataSized, infer<repeat_elements>},
    {"aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? "
     "output_size=None) -> Tensor",
     "aten::repeat_interleave.Tensor_out", kPure | kDataSized, infer<repeat_places>},
    {"aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", "aten::roll.out", kPure,
     infer<roll>},
    {"aten::flip(Tensor self, int[] dims) -> Tensor", "aten::flip.out", kPure, infer<flip>},
    {"aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", "", kPure, infer<rot90>},
    {"aten::tril(Tensor self, SymInt diagonal=0) -> Tensor", "aten::tril.out", kPure,
     infer<triangle>},
    {"aten::triu(Tensor self, SymInt diagonal=0) -> Tensor", "", kPure, infer<triangle>},
    {"aten::tril_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)", "", kInPlace, infer<triangle>,
     "aten::tril"},
    {"aten::triu_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)", "", kInPlace, infer<triangle>,
     "aten::triu"},
    {"aten::meshgrid(Tensor[] tensors) -> Tensor[]", "", kPure | kView, infer<meshgrid>},
    {"aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", "", kPure | kView,
     infer<meshgrid>},
    {"aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]", "", kPure | kView,
     infer<broadcast_tensors>},
    {"aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", "aten::pixel_shuffle.out",
     kPure, infer<pixel_shuffle>},
    {"aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
     "aten::pixel_unshuffle.out", kPure, infer<pixel_unshuffle>},
    {"aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor", "", kPure,
     infer<channel_shuffle>},
    {"aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor", "", kPure,
     infer<channel_shuffle>},
    {"aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) "
     "-> Tensor",
     "", kPure, infer<diag_embed>},
    {"aten::column_stack(Tensor[] tensors) -> Tensor", "", kPure, infer<column_stack>},
    {"aten::dstack(Tensor[] tensors) -> Tensor", "", kPure, infer<dstack>},
    {"aten::row_stack(Tensor[] tensors) -> Tensor", "", kPure, infer<vstack>},
    {"aten::atleast_1d(Tensor self) -> Tensor", "", kPure | kView, infer<at_least<1>>},
    {"aten::atleast_2d(Tensor self) -> Tensor", "", kPure | kView, infer<at_least<2>>},
    {"aten::atleast_3d(Tensor self) -> Tensor", "", kPure | kView, infer<at_least<3>>},
    {"aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", "", kPure | kView,
     infer<all_at_least<1>>},
    {"aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", "", kPure | kView,
     infer<all_at_least<2>>},
    {"aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", "", kPure | kView,
     infer<all_at_least<3>>},
    {"aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, "
     "str padding_side=\"right\") -> Tensor",
     "", kPure, infer<pad_sequence>},
};

}  // namespace

absl::Span<const OpRow> shape_ops() { return kRows; }

}  // namespace petrel::exir::rules
