// SPDX-License-Identifier: Apache-2.0
#include "exir/import/complex_transforms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Made = absl::StatusOr<std::vector<ComplexPair>>;

// Which of the functions, whatever the number of dims.
struct Kind {
  bool forward = true;
  bool is_half = false;  // of real numbers, or to them
};

Kind kind_of(const OpInfo& op) {
  if (op.is(aten::fft_ifft, aten::fft_ifft2, aten::fft_ifftn)) return {false, false};
  if (op.is(aten::fft_rfft, aten::fft_rfft2, aten::fft_rfftn)) return {true, true};
  if (op.is(aten::fft_irfft, aten::fft_irfft2, aten::fft_irfftn)) return {false, true};
  return {true, false};
}

// Of `size` elements: "backward", the default, divides the inverse, "forward" the other one,
// "ortho" both by the root.
absl::StatusOr<double> scale_of(const Argument& norm, bool forward, int64_t size) {
  const std::string name = norm.is_string() ? norm.as_string() : "backward";
  const auto n = static_cast<double>(size);
  if (name == "ortho") return 1 / std::sqrt(n);
  if (name != "backward" && name != "forward") {
    return absl::InvalidArgumentError(
        absl::StrCat("norm is '", name, "', must be backward, ortho or forward"));
  }
  return (name == "forward") == forward ? 1 / n : 1;
}

// One dim of a tensor and the elements that it has before or after.
struct Along {
  size_t dim = 0;
  int64_t size = 0;
};

// Dims in order, the last of which is halved by the functions of real numbers.
Made transform_dims(Builder& b, const ComplexCall& call, const std::vector<Along>& dims) {
  const Kind kind = kind_of(call.op);
  const Argument& norm = call.argument(arg::norm);
  ComplexPair x = call.parts(arg::self);
  if (kind.is_half && kind.forward && x.is_complex()) {
    return absl::InvalidArgumentError("takes real numbers, its input is complex");
  }
  if (!is_floating_point(x.real->tensor().dtype)) {
    PETREL_ASSIGN_OR_RETURN(x.real, b.cast(x.real, ScalarType::kFloat));
  }
  std::vector<Along> order = dims;
  // Of real numbers the halved dim is first, back to them last.
  if (kind.is_half && kind.forward) std::reverse(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(const double scale, scale_of(norm, kind.forward, order[i].size));
    const Transform how{order[i].dim, order[i].size, kind.forward, scale};
    const bool is_halved = kind.is_half && (kind.forward ? i == 0 : i + 1 == order.size());
    if (!is_halved) {
      PETREL_ASSIGN_OR_RETURN(x, transform(b, x, how));
    } else if (kind.forward) {
      PETREL_ASSIGN_OR_RETURN(x, half_transform(b, x.real, how));
    } else {
      PETREL_ASSIGN_OR_RETURN(x.real, from_half(b, x, how));
      x.imaginary = nullptr;
    }
  }
  return std::vector<ComplexPair>{x};
}

absl::StatusOr<size_t> checked_dim(int64_t dim, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  if (dim >= -n && dim < n) return static_cast<size_t>(wrap_dim(dim, rank));
  return absl::InvalidArgumentError(absl::StrCat("dim ", dim, " is not in [", -n, ", ", n, ")"));
}

// Without a size, that of the input; of half a spectrum, the even size that it may be of.
absl::StatusOr<int64_t> default_size(const ComplexCall& call, size_t dim, bool is_last) {
  PETREL_ASSIGN_OR_RETURN(const int64_t size, transformed_size(*call.parts(arg::self).real, dim));
  const Kind kind = kind_of(call.op);
  return kind.is_half && !kind.forward && is_last ? 2 * (size - 1) : size;
}

}  // namespace

Made transform_one(Builder& b, const ComplexCall& call) {
  const size_t rank = call.parts(arg::self).real->tensor().rank();
  PETREL_ASSIGN_OR_RETURN(const size_t dim, checked_dim(call.argument(arg::dim).as_int(), rank));
  Along along{dim, 0};
  const Argument& size = call.argument(arg::n);
  if (size.is_none()) {
    PETREL_ASSIGN_OR_RETURN(along.size, default_size(call, dim, true));
  } else {
    along.size = size.as_int();
  }
  return transform_dims(b, call, {along});
}

Made transform_many(Builder& b, const ComplexCall& call) {
  const size_t rank = call.parts(arg::self).real->tensor().rank();
  const Argument& sizes = call.argument(arg::s);
  const Argument& dims = call.argument(arg::dim);
  Ints order;
  if (!dims.is_none()) {
    order = dims.as_ints();
  } else if (!sizes.is_none()) {
    if (sizes.as_ints().size() > rank) {
      return absl::InvalidArgumentError(
          absl::StrCat("s has ", sizes.as_ints().size(), " sizes, the input has rank ", rank));
    }
    for (size_t i = rank - sizes.as_ints().size(); i < rank; ++i) {
      order.push_back(static_cast<int64_t>(i));
    }
  } else {
    order = all_dims(rank);
  }
  if (order.empty()) return absl::InvalidArgumentError("transforms no dim");
  if (!sizes.is_none() && sizes.as_ints().size() != order.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("s has ", sizes.as_ints().size(), " sizes for ", order.size(), " dims"));
  }
  std::vector<Along> along;
  for (size_t i = 0; i < order.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(const size_t dim, checked_dim(order[i], rank));
    const auto same = [&](const Along& other) { return other.dim == dim; };
    if (std::any_of(along.begin(), along.end(), same)) {
      return absl::InvalidArgumentError(absl::StrCat("dim ", dim, " occurs twice"));
    }
    Along next{dim, sizes.is_none() ? -1 : sizes.as_ints()[i]};
    if (next.size == -1) {
      PETREL_ASSIGN_OR_RETURN(next.size, default_size(call, dim, i + 1 == order.size()));
    }
    along.push_back(next);
  }
  return transform_dims(b, call, along);
}

Made transform_decomposed(Builder& b, const ComplexCall& call) {
  ComplexPair x = call.parts(arg::self);
  const size_t rank = x.real->tensor().rank();
  const Argument& dims = call.argument(arg::dim);
  const Ints& order = dims.as_ints();
  const bool to_real = call.op.is(aten::_fft_c2r);
  const bool from_real = call.op.is(aten::_fft_r2c);
  const bool forward = from_real || (!to_real && call.argument(arg::forward).as_bool());
  // 0: none, 1: the root of the elements, 2: their count.
  const int64_t normalization = call.argument(arg::normalization).as_int();
  for (size_t k = 0; k < order.size(); ++k) {
    // The last dim is the halved one.
    const size_t i = from_real ? order.size() - 1 - k : k;
    PETREL_ASSIGN_OR_RETURN(const size_t dim, checked_dim(order[i], rank));
    Transform how{dim, 0, forward, 1};
    const bool is_last = i + 1 == order.size();
    if (to_real && is_last) {
      how.size = call.argument(arg::last_dim_size).as_int();
    } else {
      PETREL_ASSIGN_OR_RETURN(how.size, transformed_size(*x.real, dim));
    }
    const auto n = static_cast<double>(how.size);
    how.scale = normalization == 1 ? 1 / std::sqrt(n) : normalization == 2 ? 1 / n : 1;
    if (to_real && is_last) {
      PETREL_ASSIGN_OR_RETURN(x.real, from_half(b, x, how));
      x.imaginary = nullptr;
    } else if (from_real && is_last && call.argument(arg::onesided).as_bool()) {
      PETREL_ASSIGN_OR_RETURN(x, half_transform(b, x.real, how));
    } else {
      PETREL_ASSIGN_OR_RETURN(x, transform(b, x, how));
    }
  }
  return std::vector<ComplexPair>{x};
}

Made shift(Builder& b, const ComplexCall& call) {
  ComplexPair x = call.parts(arg::self);
  const size_t rank = x.real->tensor().rank();
  const Argument& dims = call.argument(arg::dim);
  const Ints order = dims.is_none() ? all_dims(rank) : dims.as_ints();
  Ints shifts;
  for (const int64_t one : order) {
    PETREL_ASSIGN_OR_RETURN(const size_t dim, checked_dim(one, rank));
    PETREL_ASSIGN_OR_RETURN(const int64_t size, transformed_size(*x.real, dim));
    shifts.push_back(call.op.is(aten::fft_fftshift) ? size / 2 : (size + 1) / 2);
  }
  PETREL_ASSIGN_OR_RETURN(x.real, b.call(aten::roll, {x.real, shifts, order}));
  if (x.is_complex()) {
    PETREL_ASSIGN_OR_RETURN(x.imaginary, b.call(aten::roll, {x.imaginary, shifts, order}));
  }
  return std::vector<ComplexPair>{x};
}

namespace {

// The window of n samples: given, in the middle of zeros where it is shorter; else ones.
absl::StatusOr<Value*> window_of(Builder& b, const ComplexCall& call, int64_t n, ScalarType dtype) {
  const Argument& length = call.argument(arg::win_length);
  int64_t size = n;
  if (!length.is_none()) size = length.as_int();
  if (size < 1 || size > n) {
    return absl::InvalidArgumentError(
        absl::StrCat("win_length is ", size, ", must be 1 to n_fft (", n, ")"));
  }
  const Argument& given = call.argument(arg::window);
  Value* window = given.is_none() ? nullptr : given.value();
  if (window == nullptr) {
    PETREL_ASSIGN_OR_RETURN(window, b.call(aten::ones, {Ints{size}, dtype}));
  }
  if (window->tensor().rank() != 1 || window->tensor().sizes[0] != size) {
    return absl::InvalidArgumentError(absl::StrCat("window must be [", size, "], win_length"));
  }
  PETREL_ASSIGN_OR_RETURN(window, b.cast(window, dtype));
  if (size == n) return window;
  const int64_t before = (n - size) / 2;
  return b.call(aten::constant_pad_nd, {window, Ints{before, n - size - before}, 0.0});
}

struct Frames {
  int64_t n = 0;
  int64_t hop = 0;
  double scale = 1;
};

absl::StatusOr<Frames> frames_of(const ComplexCall& call) {
  Frames frames;
  frames.n = call.argument(arg::n_fft).as_int();
  const Argument& hop = call.argument(arg::hop_length);
  frames.hop = hop.is_none() ? frames.n / 4 : hop.as_int();
  if (frames.n < 1 || frames.n > kMostTransformed || frames.hop < 1) {
    return absl::UnimplementedError(absl::StrCat("n_fft is ", frames.n, ", must be 1 to ",
                                                 kMostTransformed, "; hop_length is ", frames.hop,
                                                 ", must be at least 1"));
  }
  if (call.argument(arg::normalized).as_bool()) {
    frames.scale = 1 / std::sqrt(static_cast<double>(frames.n));
  }
  return frames;
}

bool is_true(const Argument& flag, bool otherwise) {
  return flag.is_none() ? otherwise : flag.as_bool();
}

// `length` samples [batch, samples] from `start` on, zeros behind the last; without a length, all
// that were not padding.
absl::StatusOr<Value*> cut_samples(Builder& b, Value* samples, int64_t start,
                                   const Argument& length) {
  const rules::Size whole = sizes_of(samples)[1];
  if (length.is_none()) {
    if (is_at_most(whole, 2 * start)) return absl::InvalidArgumentError("gives no samples");
    if (start == 0) return samples;
    return b.call(aten::slice_Tensor, {samples, 1, start, -start});
  }
  const int64_t count = length.as_int();
  if (count < 1 || count > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat("gives ", count, " samples"));
  }
  const int64_t end = start + count;
  if (!is_at_least(whole, end)) {
    const rules::Size missing = whole.expression().is_constant() ? end - whole : rules::Size(end);
    PETREL_ASSIGN_OR_RETURN(
        samples, b.call(aten::constant_pad_nd, {samples, rules::Sizes{0, missing}, 0.0}));
  }
  return b.slice(samples, 1, start, end);
}

}  // namespace

Made short_time(Builder& b, const ComplexCall& call) {
  Value* x = call.parts(arg::self).real;
  if (call.parts(arg::self).is_complex()) {
    return absl::UnimplementedError("of complex samples is not supported");
  }
  const size_t rank = x->tensor().rank();
  if (rank != 1 && rank != 2) {
    return absl::InvalidArgumentError(absl::StrCat("takes rank 1 or 2, not ", rank));
  }
  PETREL_ASSIGN_OR_RETURN(const Frames frames, frames_of(call));
  PETREL_ASSIGN_OR_RETURN(Value * window, window_of(b, call, frames.n, x->tensor().dtype));
  if (rank == 1) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::unsqueeze, {x, 0}));
  }
  const bool one_sided = is_true(call.argument(arg::onesided), true);
  PETREL_ASSIGN_OR_RETURN(ComplexPair made,
                          short_transforms(b, x, window, frames.hop, one_sided, frames.scale));
  if (rank == 1) {
    PETREL_ASSIGN_OR_RETURN(made.real, b.call(aten::squeeze_dim, {made.real, 0}));
    PETREL_ASSIGN_OR_RETURN(made.imaginary, b.call(aten::squeeze_dim, {made.imaginary, 0}));
  }
  if (call.gives_complex) return std::vector<ComplexPair>{made};
  PETREL_ASSIGN_OR_RETURN(
      Value * pairs, b.call(aten::stack, {std::vector<Value*>{made.real, made.imaginary}, -1}));
  return std::vector<ComplexPair>{{pairs, nullptr}};
}

Made from_short_time(Builder& b, const ComplexCall& call) {
  ComplexPair x = call.parts(arg::self);
  const size_t rank = x.real->tensor().rank();
  if (!x.is_complex() || call.gives_complex || !is_true(call.argument(arg::onesided), true)) {
    return absl::UnimplementedError("is supported from half a spectrum to real samples only");
  }
  if (rank != 2 && rank != 3) {
    return absl::InvalidArgumentError(absl::StrCat("takes rank 2 or 3, not ", rank));
  }
  PETREL_ASSIGN_OR_RETURN(const Frames frames, frames_of(call));
  const ScalarType dtype = x.real->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * window, window_of(b, call, frames.n, dtype));
  if (rank == 2) {
    PETREL_ASSIGN_OR_RETURN(x.real, b.call(aten::unsqueeze, {x.real, 0}));
    PETREL_ASSIGN_OR_RETURN(x.imaginary, b.call(aten::unsqueeze, {x.imaginary, 0}));
  }
  // What the transform was divided by it is not again.
  const double scale = 1 / (static_cast<double>(frames.n) * frames.scale);
  PETREL_ASSIGN_OR_RETURN(Value * samples, overlap_add(b, x, window, frames.hop, scale));
  const int64_t start = call.argument(arg::center).as_bool() ? frames.n / 2 : 0;
  PETREL_ASSIGN_OR_RETURN(samples, cut_samples(b, samples, start, call.argument(arg::length)));
  if (rank == 2) {
    PETREL_ASSIGN_OR_RETURN(samples, b.call(aten::squeeze_dim, {samples, 0}));
  }
  return std::vector<ComplexPair>{{samples, nullptr}};
}

}  // namespace petrel::exir
