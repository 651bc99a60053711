// SPDX-License-Identifier: Apache-2.0
//
// Operators that exist in programs only: each is written as others before
// anything runs.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

Inferred flipped(const BoundArguments& in) {
  const size_t least = in.op().name == "aten::fliplr" ? 2 : 1;
  if (in.tensor("self").rank() < least) {
    return invalid("argument 'self' has rank ", in.tensor("self").rank(), ", must be at least ",
                   least);
  }
  return one(in.tensor("self"));
}

Inferred kthvalue(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", self.rank()));
  const Size size = self.rank() == 0 ? Size(1) : self.sizes[static_cast<size_t>(dim)];
  if (in.integer("k") < 1 || in.integer("k") > size) {
    return invalid("argument 'k' is ", in.integer("k"), ", must be in [1, ", size, "]");
  }
  Sizes sizes = self.sizes;
  if (!sizes.empty() && in.flag("keepdim")) {
    sizes[static_cast<size_t>(dim)] = 1;
  } else if (!sizes.empty()) {
    sizes.erase(sizes.begin() + dim);
  }
  return std::vector<Type>{TensorType::contiguous(self.dtype, sizes),
                           TensorType::contiguous(ScalarType::kLong, sizes)};
}

Inferred msort(const BoundArguments& in) { return one(in.tensor("self")); }

// The number of places of a window that fit one dim.
absl::StatusOr<Size> places(const Size& size, int64_t kernel, int64_t dilation, int64_t padding,
                            int64_t stride) {
  const Size room = size + 2 * padding - dilation * (kernel - 1) - 1;
  if (room < 0) {
    return invalid("a window that reaches ", dilation * (kernel - 1) + 1, " does not fit ", size,
                   " padded by ", padding);
  }
  return room / stride + 1;
}

constexpr int64_t kMostElements = int64_t{1} << 31;

struct Unfolding {
  Sizes kernel, dilation, padding, stride;
  Size count = 1;  // windows
  Size area = 1;   // elements of one

  absl::Status read(const BoundArguments& in, const Sizes& image) {
    PETREL_ASSIGN_OR_RETURN(kernel, in.window("kernel_size", 2, 1));
    PETREL_ASSIGN_OR_RETURN(dilation, in.window("dilation", 2, 1));
    PETREL_ASSIGN_OR_RETURN(padding, in.window("padding", 2, 0));
    PETREL_ASSIGN_OR_RETURN(stride, in.window("stride", 2, 1));
    for (size_t i = 0; i < 2; ++i) {
      PETREL_ASSIGN_OR_RETURN(const Size n,
                              places(image[i], kernel[i], dilation[i], padding[i], stride[i]));
      // Both products stay far from the limits of int64.
      if (n > kMostElements / count || kernel[i] > kMostElements / area) {
        return invalid("more than ", kMostElements, " windows, or elements of a window");
      }
      count *= n;
      area *= kernel[i];
    }
    return absl::OkStatus();
  }
};

Inferred im2col(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() < 3 || self.rank() > 4) {
    return invalid("argument 'self' has rank ", self.rank(), ", must be 3 or 4");
  }
  Unfolding u;
  PETREL_RETURN_IF_ERROR(u.read(in, {self.sizes[self.rank() - 2], self.sizes[self.rank() - 1]}));
  Sizes sizes(self.sizes.begin(), self.sizes.end() - 2);
  if (sizes.back() > kMostElements) {
    return invalid("argument 'self' has ", sizes.back(), " channels");
  }
  sizes.back() *= u.area;
  sizes.push_back(u.count);
  return one(self.dtype, std::move(sizes));
}

Inferred col2im(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(Sizes image, in.window("output_size", 2, 1));
  Unfolding u;
  PETREL_RETURN_IF_ERROR(u.read(in, image));
  const Size area = u.area;
  if (self.rank() < 2 || self.rank() > 3 || self.sizes[self.rank() - 2] % area != 0 ||
      self.sizes.back() != u.count) {
    return invalid("argument 'self' [", absl::StrJoin(self.sizes, ","), "] does not fit ", u.count,
                   " windows of ", area);
  }
  Sizes sizes(self.sizes.begin(), self.sizes.end() - 1);
  sizes.back() /= area;
  sizes.insert(sizes.end(), image.begin(), image.end());
  return one(self.dtype, std::move(sizes));
}

Inferred diag(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  const int64_t shift = in.integer("diagonal");
  if (self.rank() < 1 || self.rank() > 2 || shift < -(int64_t{1} << 30) ||
      shift > int64_t{1} << 30) {
    return invalid("argument 'self' has rank ", self.rank(), " and 'diagonal' is ", shift,
                   ", must be 1 or 2 and within 2^30");
  }
  if (self.rank() == 1) {
    const Size n = self.sizes[0] + std::abs(shift);
    return one(self.dtype, {n, n});
  }
  const Size rows = self.sizes[0] + std::min<int64_t>(shift, 0);
  const Size columns = self.sizes[1] - std::max<int64_t>(shift, 0);
  return one(self.dtype, {largest(0, smallest(rows, columns))});
}

Inferred diff(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", out.rank()));
  const int64_t n = in.integer("n");
  if (out.rank() == 0 || n < 0) {
    return invalid("argument 'self' has rank ", out.rank(), " and 'n' is ", n,
                   ", must be at least 1 and 0");
  }
  Size& size = out.sizes[static_cast<size_t>(dim)];
  for (const char* name : {"prepend", "append"}) {
    if (!in.given(name)) continue;
    const TensorType& more = in.tensor(name);
    if (more.rank() != out.rank() || more.dtype != out.dtype) {
      return invalid("argument '", name, "' is ", to_string(more), ", does not fit ",
                     to_string(in.tensor("self")));
    }
    size += more.sizes[static_cast<size_t>(dim)];
  }
  // In the words of slices, of which it is made.
  size = size - smallest(n, size);
  return one(out);
}

Inferred trace(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() != 2) {
    return invalid("argument 'self' has rank ", self.rank(), ", must be 2");
  }
  return one(is_floating_point(self.dtype) ? self.dtype : ScalarType::kLong, {});
}

Inferred cross(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes,
                          broadcast_sizes({in.tensor("self").sizes, in.tensor("other").sizes}));
  if (in.given("dim")) {
    PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", sizes.size()));
    if (sizes.empty() || sizes[static_cast<size_t>(dim)] != 3) {
      return invalid("arguments have no 3 elements along dim ", dim);
    }
  } else if (std::find(sizes.begin(), sizes.end(), Size(3)) == sizes.end()) {
    return invalid("arguments have 3 elements along no dim");
  }
  const ScalarType dtype = in.tensor("self").dtype;
  if (dtype == ScalarType::kBool || dtype != in.tensor("other").dtype) {
    return invalid("arguments are ", std::string(scalar_type_name(dtype)), " and ",
                   std::string(scalar_type_name(in.tensor("other").dtype)),
                   ", must be numbers of one dtype");
  }
  return one(in.tensor("self").dtype, std::move(sizes));
}

Inferred cosine_similarity(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes,
                          broadcast_sizes({in.tensor("x1").sizes, in.tensor("x2").sizes}));
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", sizes.size()));
  if (sizes.empty()) return invalid("arguments have rank 0, must be at least 1");
  sizes.erase(sizes.begin() + dim);
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, promoted_dtype(in));
  if (!is_floating_point(dtype)) {
    return invalid("arguments are ", std::string(scalar_type_name(dtype)), ", must be of floats");
  }
  return one(dtype, std::move(sizes));
}

Inferred pairwise_distance(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes,
                          broadcast_sizes({in.tensor("x1").sizes, in.tensor("x2").sizes}));
  if (sizes.empty()) return invalid("arguments have rank 0, must be at least 1");
  sizes.pop_back();
  if (in.flag("keepdim")) sizes.push_back(1);
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, promoted_dtype(in));
  return one(as_floating(dtype), std::move(sizes));
}

Inferred bilinear(const BoundArguments& in) {
  const TensorType& a = in.tensor("input1");
  const TensorType& c = in.tensor("input2");
  const TensorType& weight = in.tensor("weight");
  if (weight.rank() != 3 || a.rank() < 1 || a.rank() != c.rank() ||
      a.sizes.back() != weight.sizes[1] || c.sizes.back() != weight.sizes[2] ||
      !std::equal(a.sizes.begin(), a.sizes.end() - 1, c.sizes.begin())) {
    return invalid("arguments [", absl::StrJoin(a.sizes, ","), "] and [",
                   absl::StrJoin(c.sizes, ","), "] do not fit the weight [",
                   absl::StrJoin(weight.sizes, ","), "]");
  }
  Sizes sizes = a.sizes;
  sizes.back() = weight.sizes[0];
  return one(a.dtype, std::move(sizes));
}

// The sizes of an argument with the dims along which it is the same for all.
absl::StatusOr<Sizes> expanded(const BoundArguments& in, const char* name, const char* dims) {
  Sizes sizes = in.tensor(name).sizes;
  const size_t rank = sizes.size() + in.ints(dims).size();
  if (rank > kMaxRank) {
    return invalid("argument '", name, "' has rank ", rank, " with '", dims, "', must be at most ",
                   kMaxRank);
  }
  PETREL_ASSIGN_OR_RETURN(Sizes at, in.dims(dims, rank));
  std::sort(at.begin(), at.end(), [](int64_t a, int64_t b) { return a < b; });
  for (const int64_t dim : at) sizes.insert(sizes.begin() + dim, 1);
  return sizes;
}

// The sum of products of three tensors, over some of their dims.
Inferred trilinear(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(const Sizes a, expanded(in, "i1", "expand1"));
  PETREL_ASSIGN_OR_RETURN(const Sizes b, expanded(in, "i2", "expand2"));
  PETREL_ASSIGN_OR_RETURN(const Sizes c, expanded(in, "i3", "expand3"));
  if (a.size() != b.size() || a.size() != c.size()) {
    return invalid("arguments 'i1', 'i2' and 'i3' have ", a.size(), ", ", b.size(), " and ",
                   c.size(), " dims where they are expanded, must have as many");
  }
  PETREL_RETURN_IF_ERROR(check_floats(in));
  PETREL_ASSIGN_OR_RETURN(const Sizes all, broadcast_sizes({a, b, c}));
  PETREL_ASSIGN_OR_RETURN(const Sizes sums, in.dims("sumdim", all.size()));
  Sizes sizes;
  for (size_t i = 0; i < all.size(); ++i) {
    if (std::find(sums.begin(), sums.end(), static_cast<int64_t>(i)) == sums.end()) {
      sizes.push_back(all[i]);
    }
  }
  return one(in.tensor("i1").dtype, std::move(sizes));
}

// A layer of nn.TransformerEncoder. A mask is of scores, of keys, or of the heads' scores.
Inferred encoder_layer(const BoundArguments& in) {
  const TensorType& src = in.tensor("src");
  const Size width = in.integer("embed_dim");
  const Size heads = in.integer("num_heads");
  if (!is_floating_point(src.dtype) || src.rank() != 3 || heads < 1 || width < 1 ||
      width % heads != 0 || src.sizes[2] != width) {
    return invalid("argument 'src' [", absl::StrJoin(src.sizes, ","), "] does not fit ", heads,
                   " heads of ", width, " channels");
  }
  const TensorType& first = in.tensor("ffn_weight_1");
  if (first.rank() != 2) return invalid("argument 'ffn_weight_1' is not a matrix");
  const Size inner = first.sizes[0];
  const std::pair<const char*, Sizes> needed[] = {
      {"qkv_weight", {width * 3, width}}, {"qkv_bias", {width * 3}},
      {"proj_weight", {width, width}},    {"proj_bias", {width}},
      {"norm_weight_1", {width}},         {"norm_bias_1", {width}},
      {"norm_weight_2", {width}},         {"norm_bias_2", {width}},
      {"ffn_weight_1", {inner, width}},   {"ffn_bias_1", {inner}},
      {"ffn_weight_2", {width, inner}},   {"ffn_bias_2", {width}}};
  for (const auto& [name, sizes] : needed) {
    const TensorType& given = in.tensor(name);
    if (given.dtype != src.dtype || given.sizes != sizes) {
      return invalid("argument '", std::string(name), "' is not of the type that [",
                     absl::StrJoin(src.sizes, ","), "] needs");
    }
  }
  if (in.given("mask")) {
    if (!in.given("mask_type") || in.integer("mask_type") < 0 || in.integer("mask_type") > 2) {
      return invalid("argument 'mask_type' must be 0, 1 or 2 with a mask");
    }
    const int64_t type = in.integer("mask_type");
    const Size batch = src.sizes[0];
    const Size length = src.sizes[1];
    const Sizes sizes = type == 0   ? Sizes{length, length}
                        : type == 1 ? Sizes{batch, length}
                                    : Sizes{batch, heads, length, length};
    if (in.tensor("mask").sizes != sizes) {
      return invalid("argument 'mask' [", absl::StrJoin(in.tensor("mask").sizes, ","),
                     "] must be [", absl::StrJoin(sizes, ","), "]");
    }
  }
  return one(src);
}

constexpr OpRow kRows[] = {
    {"aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor "
     "qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool "
     "norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, "
     "Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor "
     "ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
     "", kPure, infer<encoder_layer>},
    {"aten::fliplr(Tensor self) -> Tensor", "", kPure, infer<flipped>},
    {"aten::flipud(Tensor self) -> Tensor", "", kPure, infer<flipped>},
    {"aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) "
     "-> (Tensor values, Tensor indices)",
     "", kPure, infer<kthvalue>},
    {"aten::msort(Tensor self) -> Tensor", "", kPure, infer<msort>},
    {"aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] "
     "padding, int[2] stride) -> Tensor",
     "", kPure, infer<im2col>},
    {"aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, "
     "int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
     "", kPure, infer<col2im>},
    {"aten::diag(Tensor self, int diagonal=0) -> Tensor", "", kPure, infer<diag>},
    {"aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, "
     "Tensor? append=None) -> Tensor",
     "", kPure, infer<diff>},
    {"aten::trace(Tensor self) -> Tensor", "", kPure, infer<trace>},
    {"aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor", "", kPure, infer<cross>},
    {"aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", "", kPure,
     infer<cross>},
    {"aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float "
     "eps=1e-08) -> Tensor",
     "", kPure, infer<cosine_similarity>},
    {"aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float "
     "eps=1e-06, bool keepdim=False) -> Tensor",
     "", kPure, infer<pairwise_distance>},
    {"aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? "
     "bias=None) -> Tensor",
     "", kPure, infer<bilinear>},
    {"aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] "
     "expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
     "", kPure, infer<trilinear>},
};

}  // namespace

absl::Span<const OpRow> composite_ops() { return kRows; }

}  // namespace petrel::exir::rules
