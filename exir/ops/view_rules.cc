// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/view_rules.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_join.h"

namespace petrel::exir::rules {
namespace {

absl::Status no_dimension() { return invalid("argument 'self' has no dimension"); }

}  // namespace

absl::StatusOr<Sizes> resolve_sizes(const Size& numel, Sizes wanted) {
  Size known = 1;
  int wildcard = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == -1) {
      if (wildcard >= 0) {
        return invalid("sizes [", absl::StrJoin(wanted, ","), "] have more than one -1");
      }
      wildcard = static_cast<int>(i);
    } else if (wanted[i] < 0 || multiply_overflows(known, wanted[i], &known)) {
      return invalid("sizes [", absl::StrJoin(wanted, ","), "] are not sizes of a tensor");
    }
  }
  const bool fits = wildcard < 0 ? known == numel : known != 0 && numel % known == 0;
  if (!fits) {
    return invalid("sizes [", absl::StrJoin(wanted, ","), "] do not hold ", numel, " elements");
  }
  if (wildcard >= 0) wanted[wildcard] = numel / known;
  return wanted;
}

Size clamp_index(Size index, const Size& size) {
  if (index < 0) index += size;
  return smallest(largest(index, 0), size);
}

Inferred reshaped(const TensorType& self, const Sizes& sizes) {
  PETREL_ASSIGN_OR_RETURN(Sizes resolved, resolve_sizes(self.numel(), sizes));
  return one(self.dtype, std::move(resolved));
}

Inferred expanded(const TensorType& self, Sizes sizes) {
  if (sizes.size() < self.rank()) {
    return invalid("sizes [", absl::StrJoin(sizes, ","), "] have fewer dimensions than the ",
                   self.rank(), " of argument 'self'");
  }
  const size_t shift = sizes.size() - self.rank();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i < shift) {
      if (sizes[i] < 0) return invalid("dim ", i, " is new and ", sizes[i]);
      continue;
    }
    const Size& old = self.sizes[i - shift];
    if (sizes[i] == -1) sizes[i] = old;
    if (sizes[i] != old && old != 1) {
      return invalid("dim ", i, " is ", old, " and cannot be expanded to ", sizes[i]);
    }
  }
  return one(self.dtype, std::move(sizes));
}

Inferred split_into(const TensorType& self, int64_t dim, const Sizes& parts) {
  if (parts.size() > kMaxListResults) {
    return invalid("splits into ", parts.size(), " tensors, the limit is ", kMaxListResults);
  }
  std::vector<Type> types;
  for (const Size& part : parts) {
    Sizes sizes = self.sizes;
    sizes[dim] = part;
    types.push_back(TensorType::contiguous(self.dtype, std::move(sizes)));
  }
  return types;
}

Inferred split_evenly(const TensorType& self, int64_t dim, const Size& part) {
  const Size size = self.sizes[dim];
  if (part < 0 || (part == 0 && size != 0)) {
    return invalid("splits dim ", dim, " of ", size, " into parts of ", part);
  }
  if (size == 0) return split_into(self, dim, {0});
  if ((size - 1) / part >= kMaxListResults) {
    return invalid("splits into ", (size - 1) / part + 1, " tensors, the limit is ",
                   kMaxListResults);
  }
  Sizes parts;
  for (Size left = size; left > 0; left -= parts.back()) {
    parts.push_back(left < part ? left : part);
  }
  return split_into(self, dim, parts);
}

Inferred reshape(const BoundArguments& in) {
  return reshaped(in.tensor("self"), in.ints(in.has("size") ? "size" : "shape"));
}

Inferred permute(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(Sizes dims, in.dims("dims", self.rank()));
  if (dims.size() != self.rank()) {
    return invalid("argument 'dims' has ", dims.size(), " items, must have ", self.rank());
  }
  Sizes sizes;
  for (int64_t dim : dims) sizes.push_back(self.sizes[dim]);
  return one(self.dtype, std::move(sizes));
}

Inferred transpose(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  const bool by_axis = in.has("axis0");
  PETREL_ASSIGN_OR_RETURN(int64_t a, in.dim(by_axis ? "axis0" : "dim0", out.rank()));
  PETREL_ASSIGN_OR_RETURN(int64_t b, in.dim(by_axis ? "axis1" : "dim1", out.rank()));
  if (out.rank() > 0) std::swap(out.sizes[a], out.sizes[b]);
  return one(out);
}

Inferred matrix_transpose(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  if (out.rank() > 2) {
    return invalid("argument 'self' has rank ", out.rank(), ", must be at most 2");
  }
  std::reverse(out.sizes.begin(), out.sizes.end());
  return one(out);
}

Inferred squeeze(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  const bool every = !in.has("dim");
  PETREL_ASSIGN_OR_RETURN(Sizes dims, in.dims("dim", self.rank()));
  Sizes sizes;
  for (size_t i = 0; i < self.rank(); ++i) {
    const bool named =
        every || std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end();
    if (!named || self.sizes[i] != 1) sizes.push_back(self.sizes[i]);
  }
  return one(self.dtype, std::move(sizes));
}

Inferred unsqueeze(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", out.rank() + 1));
  out.sizes.insert(out.sizes.begin() + dim, 1);
  return one(out);
}

Inferred expand(const BoundArguments& in) { return expanded(in.tensor("self"), in.ints("size")); }

Inferred slice(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  if (out.rank() == 0) return no_dimension();
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", out.rank()));
  const int64_t step = in.integer("step");
  if (step < 1 || step > std::numeric_limits<int32_t>::max()) {
    return invalid("argument 'step' is ", step, ", must be in [1, 2^31)");
  }
  const Size size = out.sizes[dim];
  const Size start = in.given("start") ? clamp_index(in.integer("start"), size) : Size(0);
  const Size end = in.given("end") ? clamp_index(in.integer("end"), size) : size;
  out.sizes[dim] = ceil_divide(largest(end - start, 0), step);
  return one(out);
}

Inferred select(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  if (out.rank() == 0) return no_dimension();
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", out.rank()));
  const Size size = out.sizes[dim];
  out.sizes.erase(out.sizes.begin() + dim);
  // One that is found at run time is checked there: its bounds may be wider than the dim.
  if (in.is_sample("index")) return one(out);
  const Size index = in.integer("index");
  if (index < -size || index >= size) {
    return invalid("argument 'index' is ", index, ", must be in [", -size, ", ", size, ")");
  }
  return one(out);
}

Inferred narrow(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  if (out.rank() == 0) return no_dimension();
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", out.rank()));
  const Size size = out.sizes[dim];
  const Size length = in.integer("length");
  if (length < 0 || length > size) {
    return invalid("takes ", length, " of the ", size, " in dim ", dim);
  }
  out.sizes[dim] = length;
  // A start that is found at run time is checked there: at a sample point it may be as large as
  // it ever is while the length is, too.
  if (in.is_sample("start")) return one(out);
  Size start = in.integer("start");
  if (start < 0 && start >= -size) start += size;
  if (start < 0 || start > size - length) {
    return invalid("takes ", length, " from ", start, " on of the ", size, " in dim ", dim);
  }
  return one(out);
}

Inferred diagonal(const BoundArguments& in) {
  TensorType out = in.tensor(in.has("A") ? "A" : "self");
  PETREL_ASSIGN_OR_RETURN(int64_t a, in.dim("dim1", out.rank()));
  PETREL_ASSIGN_OR_RETURN(int64_t b, in.dim("dim2", out.rank()));
  if (a == b) return invalid("arguments 'dim1' and 'dim2' are both ", a);
  const int64_t offset = in.integer("offset");
  const Size rows = out.sizes[a];
  const Size columns = out.sizes[b];
  const Size length =
      offset >= 0 ? smallest(rows, columns - offset) : smallest(rows + offset, columns);
  out.sizes.erase(out.sizes.begin() + std::max(a, b));
  out.sizes.erase(out.sizes.begin() + std::min(a, b));
  out.sizes.push_back(largest(length, 0));
  return one(out);
}

Inferred unfold(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dimension", out.rank()));
  const Size available = out.rank() == 0 ? Size(1) : out.sizes[dim];
  const Size size = in.integer("size");
  const Size step = in.integer("step");
  if (size < 0 || size > available) {
    return invalid("argument 'size' is ", size, ", must be in [0, ", available, "]");
  }
  if (step < 1) return invalid("argument 'step' is ", step, ", must be >= 1");
  if (out.rank() > 0) out.sizes[dim] = (available - size) / step + 1;
  out.sizes.push_back(size);
  return one(out);
}

Inferred as_strided(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  const Sizes sizes = in.ints("size");
  const Sizes strides = in.ints("stride");
  if (sizes.size() != strides.size()) {
    return invalid("argument 'stride' has ", strides.size(), " items, must have ", sizes.size());
  }
  Size last = in.integer("storage_offset");
  bool fits = last >= 0;
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Size reach = 0;
    empty = empty || sizes[i] == 0;
    fits = fits && sizes[i] >= 0 && strides[i] >= 0 &&
           !multiply_overflows(largest(sizes[i] - 1, 0), strides[i], &reach) &&
           !add_overflows(last, reach, &last);
  }
  if (!fits || (!empty && last >= self.numel())) {
    return invalid("sizes [", absl::StrJoin(sizes, ","), "] with strides [",
                   absl::StrJoin(strides, ","), "] reach past the ", self.numel(), " elements");
  }
  return one(self.dtype, sizes);
}

Inferred split(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() == 0) return no_dimension();
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", self.rank()));
  return split_evenly(self, dim, in.integer("split_size"));
}

Inferred split_with_sizes(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() == 0) return no_dimension();
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", self.rank()));
  const Sizes parts = in.ints(in.has("split_sizes") ? "split_sizes" : "split_size");
  Size left = self.sizes[dim];
  for (const Size& part : parts) {
    if (part < 0 || part > left) left = -1;
    if (left < 0) break;
    left -= part;
  }
  if (left != 0) {
    return invalid("parts [", absl::StrJoin(parts, ","), "] do not add up to ", self.sizes[dim]);
  }
  return split_into(self, dim, parts);
}

Inferred unbind(const BoundArguments& in) {
  TensorType part = in.tensor("self");
  if (part.rank() == 0) return no_dimension();
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", part.rank()));
  const Size count = part.sizes[dim];
  if (count > kMaxListResults) {
    return invalid("splits into ", count, " tensors, the limit is ", kMaxListResults);
  }
  part.sizes.erase(part.sizes.begin() + dim);
  return std::vector<Type>(static_cast<size_t>(count),
                           TensorType::contiguous(part.dtype, part.sizes));
}

}  // namespace petrel::exir::rules
