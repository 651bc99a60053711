// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/elementwise.h"
#include "exir/ops/einsum.h"
#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

absl::Status mismatch(const Sizes& a, const Sizes& b) {
  return invalid("sizes [", absl::StrJoin(a, ","), "] and [", absl::StrJoin(b, ","),
                 "] do not multiply");
}

absl::Status check_rank(const BoundArguments& in, const char* name, size_t rank) {
  if (in.tensor(name).rank() == rank) return absl::OkStatus();
  return invalid("argument '", name, "' has rank ", in.tensor(name).rank(), ", must be ", rank);
}

absl::Status check_same_dtype(const TensorType& a, const TensorType& b) {
  if (a.dtype == b.dtype) return absl::OkStatus();
  return invalid("dtypes ", std::string(scalar_type_name(a.dtype)), " and ",
                 std::string(scalar_type_name(b.dtype)), " differ");
}

// What broadcasts into a product must not make it larger.
absl::Status check_broadcasts_into(const TensorType& added, const Sizes& product) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast_sizes({added.sizes, product}));
  if (sizes == product) return absl::OkStatus();
  return invalid("sizes [", absl::StrJoin(added.sizes, ","), "] do not broadcast into [",
                 absl::StrJoin(product, ","), "]");
}

Inferred linear(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  const TensorType& weight = in.tensor("weight");
  PETREL_RETURN_IF_ERROR(check_same_dtype(input, weight));
  if (input.rank() == 0 || weight.rank() < 1 || weight.rank() > 2 ||
      input.sizes.back() != weight.sizes.back()) {
    return mismatch(input.sizes, weight.sizes);
  }
  Sizes sizes = input.sizes;
  sizes.pop_back();
  if (weight.rank() == 2) sizes.push_back(weight.sizes[0]);
  if (in.given("bias")) {
    PETREL_RETURN_IF_ERROR(check_broadcasts_into(in.tensor("bias"), sizes));
  }
  return one(input.dtype, std::move(sizes));
}

// Vectors count as a row on the left and as a column on the right; the batch
// dimensions broadcast.
Inferred multiplied(const TensorType& a, const TensorType& b) {
  PETREL_RETURN_IF_ERROR(check_same_dtype(a, b));
  if (a.rank() == 0 || b.rank() == 0) return mismatch(a.sizes, b.sizes);
  Sizes left = a.sizes;
  Sizes right = b.sizes;
  if (a.rank() == 1) left.insert(left.begin(), 1);
  if (b.rank() == 1) right.push_back(1);
  if (left.back() != right[right.size() - 2]) return mismatch(a.sizes, b.sizes);
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast_sizes({Sizes(left.begin(), left.end() - 2),
                                                        Sizes(right.begin(), right.end() - 2)}));
  if (a.rank() > 1) sizes.push_back(left[left.size() - 2]);
  if (b.rank() > 1) sizes.push_back(right.back());
  return one(a.dtype, std::move(sizes));
}

Inferred matmul(const BoundArguments& in) {
  return multiplied(in.tensor("self"), in.tensor("other"));
}

Inferred mm(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rank(in, "self", 2));
  PETREL_RETURN_IF_ERROR(check_rank(in, "mat2", 2));
  return multiplied(in.tensor("self"), in.tensor("mat2"));
}

// Of bytes, the left ones with or without sign.
Inferred int_mm(const BoundArguments& in) {
  TensorType self = in.tensor("self");
  TensorType mat2 = in.tensor("mat2");
  PETREL_RETURN_IF_ERROR(check_rank(in, "self", 2));
  PETREL_RETURN_IF_ERROR(check_rank(in, "mat2", 2));
  const bool is_byte = self.dtype == ScalarType::kChar || self.dtype == ScalarType::kByte;
  if (!is_byte || mat2.dtype != ScalarType::kChar) {
    return invalid("dtypes ", std::string(scalar_type_name(self.dtype)), " and ",
                   std::string(scalar_type_name(mat2.dtype)), " must be i8 or u8, and i8");
  }
  self.dtype = mat2.dtype = ScalarType::kInt;
  return multiplied(self, mat2);
}

Inferred batched(const BoundArguments& in, const char* a, const char* b) {
  PETREL_RETURN_IF_ERROR(check_rank(in, a, 3));
  PETREL_RETURN_IF_ERROR(check_rank(in, b, 3));
  if (in.tensor(a).sizes[0] != in.tensor(b).sizes[0]) {
    return mismatch(in.tensor(a).sizes, in.tensor(b).sizes);
  }
  return multiplied(in.tensor(a), in.tensor(b));
}

Inferred bmm(const BoundArguments& in) { return batched(in, "self", "mat2"); }

Inferred mv(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rank(in, "self", 2));
  PETREL_RETURN_IF_ERROR(check_rank(in, "vec", 1));
  return multiplied(in.tensor("self"), in.tensor("vec"));
}

Inferred dot(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rank(in, "self", 1));
  PETREL_RETURN_IF_ERROR(check_rank(in, "tensor", 1));
  return multiplied(in.tensor("self"), in.tensor("tensor"));
}

Inferred outer(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rank(in, "self", 1));
  PETREL_RETURN_IF_ERROR(check_rank(in, "vec2", 1));
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, promoted_dtype(in));
  return one(dtype, {in.tensor("self").sizes[0], in.tensor("vec2").sizes[0]});
}

// `self` is added to `product`.
Inferred added(const BoundArguments& in, Inferred product) {
  PETREL_RETURN_IF_ERROR(product.status());
  const TensorType& type = (*product)[0].tensor;
  PETREL_RETURN_IF_ERROR(check_same_dtype(in.tensor("self"), type));
  PETREL_RETURN_IF_ERROR(check_broadcasts_into(in.tensor("self"), type.sizes));
  return product;
}

Inferred addmm(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rank(in, "mat1", 2));
  PETREL_RETURN_IF_ERROR(check_rank(in, "mat2", 2));
  return added(in, multiplied(in.tensor("mat1"), in.tensor("mat2")));
}

Inferred addmv(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rank(in, "mat", 2));
  PETREL_RETURN_IF_ERROR(check_rank(in, "vec", 1));
  return added(in, multiplied(in.tensor("mat"), in.tensor("vec")));
}

Inferred baddbmm(const BoundArguments& in) { return added(in, batched(in, "batch1", "batch2")); }

// A sum of integers has 64 bits, a product their own type. `uses` counts the dims of all operands
// that have a label.
absl::StatusOr<ScalarType> einsum_dtype(const BoundArguments& in, const std::map<char, int>& uses,
                                        const std::string& result) {
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, promoted_dtype(in));
  if (is_floating_point(dtype)) return dtype;
  const bool is_alone = in.tensors("tensors").size() == 1;
  const bool is_summed = std::any_of(uses.begin(), uses.end(), [&](const auto& use) {
    return result.find(use.first) == std::string::npos && (use.second == 1 || is_alone);
  });
  if (!is_summed) return dtype;
  if (is_alone || dtype == ScalarType::kLong) return ScalarType::kLong;
  return absl::UnimplementedError("integers of one operand are summed before the product");
}

// How large each label is, how many dims have it, and the dims of the ellipsis.
struct EinsumSizes {
  std::map<char, Size> extents;
  std::map<char, int> uses;
  Sizes ellipsis;
};

// Operand `i`, whose dims are named by `labels`.
absl::Status add_operand(size_t i, const std::string& labels, const Sizes& sizes,
                         EinsumSizes* known) {
  const bool has_ellipsis = labels.find(kEinsumEllipsis) != std::string::npos;
  const size_t named = labels.size() - (has_ellipsis ? 1 : 0);
  if (sizes.size() < named || (!has_ellipsis && sizes.size() != named)) {
    return invalid("argument 'equation' gives operand ", i, " ", named, " dimensions, it has ",
                   sizes.size());
  }
  size_t dim = 0;
  for (const char label : labels) {
    if (label == kEinsumEllipsis) {
      const auto begin = sizes.begin() + static_cast<ptrdiff_t>(dim);
      const auto end = begin + static_cast<ptrdiff_t>(sizes.size() - named);
      PETREL_ASSIGN_OR_RETURN(known->ellipsis,
                              broadcast_sizes({known->ellipsis, Sizes(begin, end)}));
      dim += sizes.size() - named;
      continue;
    }
    ++known->uses[label];
    const auto [it, fresh] = known->extents.emplace(label, sizes[dim]);
    if (!fresh && it->second == 1) it->second = sizes[dim];
    if (sizes[dim] != it->second && sizes[dim] != 1) {
      return invalid("argument 'equation' has '", std::string(1, label), "' as ", it->second,
                     " and as ", sizes[dim]);
    }
    ++dim;
  }
  return absl::OkStatus();
}

Inferred einsum(const BoundArguments& in) {
  const std::vector<const TensorType*> operands = in.tensors("tensors");
  PETREL_ASSIGN_OR_RETURN(const EinsumEquation equation, read_einsum(in.text("equation")));
  if (equation.operands.size() != operands.size()) {
    return invalid("argument 'equation' does not name ", operands.size(), " operands");
  }
  EinsumSizes known;
  for (size_t i = 0; i < operands.size(); ++i) {
    PETREL_RETURN_IF_ERROR(add_operand(i, equation.operands[i], operands[i]->sizes, &known));
  }
  Sizes sizes;
  for (const char label : equation.result) {
    if (label == kEinsumEllipsis) {
      sizes.insert(sizes.end(), known.ellipsis.begin(), known.ellipsis.end());
    } else {
      sizes.push_back(known.extents.at(label));
    }
  }
  if (!known.ellipsis.empty()) known.uses[kEinsumEllipsis] = 1;
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, einsum_dtype(in, known.uses, equation.result));
  return one(dtype, std::move(sizes));
}

// [..., L, E] x [..., S, E] x [..., S, Ev] -> [..., L, Ev].
Inferred attention(const BoundArguments& in) {
  const TensorType& query = in.tensor("query");
  const TensorType& key = in.tensor("key");
  const TensorType& value = in.tensor("value");
  if (in.number("dropout_p") != 0.0) {
    return invalid("argument 'dropout_p' is ", in.number("dropout_p"),
                   ", must be 0; call eval() on the model before exporting it");
  }
  const size_t rank = query.rank();
  if (rank < 2 || key.rank() < 2 || value.rank() < 2 || query.sizes.back() != key.sizes.back() ||
      key.sizes[key.rank() - 2] != value.sizes[value.rank() - 2]) {
    return invalid("query [", absl::StrJoin(query.sizes, ","), "], key [",
                   absl::StrJoin(key.sizes, ","), "] and value [", absl::StrJoin(value.sizes, ","),
                   "] do not fit");
  }
  const auto batch_of = [](const TensorType& type) {
    return Sizes(type.sizes.begin(), type.sizes.end() - 2);
  };
  if (!is_floating_point(query.dtype)) return invalid("argument 'query' must be of floats");
  PETREL_RETURN_IF_ERROR(check_same_dtype(query, key));
  PETREL_RETURN_IF_ERROR(check_same_dtype(query, value));
  if (in.flag("enable_gqa") && (rank < 3 || key.rank() != rank || value.rank() != rank)) {
    return invalid("groups of queries need a dim of heads in each argument");
  }
  Sizes sizes = batch_of(query);
  if (!in.flag("enable_gqa")) {
    PETREL_ASSIGN_OR_RETURN(sizes,
                            broadcast_sizes({batch_of(query), batch_of(key), batch_of(value)}));
  }
  sizes.push_back(query.sizes[rank - 2]);
  sizes.push_back(value.sizes.back());
  return one(query.dtype, std::move(sizes));
}

// What the kernel of the same name takes: rank 4, equal batches, the heads of
// key and value dividing those of query.
Inferred attention_kernel(const BoundArguments& in) {
  const TensorType& query = in.tensor("query");
  const TensorType& key = in.tensor("key");
  const TensorType& value = in.tensor("value");
  for (const char* name : {"query", "key", "value"}) {
    PETREL_RETURN_IF_ERROR(check_rank(in, name, 4));
  }
  if (key.sizes[0] != query.sizes[0] || value.sizes[0] != query.sizes[0] ||
      key.sizes[3] != query.sizes[3] || key.sizes[1] != value.sizes[1] ||
      key.sizes[2] != value.sizes[2] || key.sizes[1] < 1 || query.sizes[1] % key.sizes[1] != 0) {
    return invalid("query [", absl::StrJoin(query.sizes, ","), "], key [",
                   absl::StrJoin(key.sizes, ","), "] and value [", absl::StrJoin(value.sizes, ","),
                   "] do not fit");
  }
  return one(query.dtype, {query.sizes[0], query.sizes[1], query.sizes[2], value.sizes[3]});
}

Inferred flash_attention(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rank(in, "query", 4));
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, attention(in));
  Sizes sizes = TensorType(types[0].tensor).sizes;
  sizes.pop_back();
  types.push_back(TensorType::contiguous(ScalarType::kFloat, sizes));
  return types;
}

Inferred cdist(const BoundArguments& in) {
  const TensorType& a = in.tensor("x1");
  const TensorType& b = in.tensor("x2");
  if (a.rank() < 2 || b.rank() < 2 || a.sizes.back() != b.sizes.back()) {
    return mismatch(a.sizes, b.sizes);
  }
  PETREL_RETURN_IF_ERROR(check_floats(in));
  PETREL_ASSIGN_OR_RETURN(Sizes sizes,
                          broadcast_sizes({Sizes(a.sizes.begin(), a.sizes.end() - 2),
                                           Sizes(b.sizes.begin(), b.sizes.end() - 2)}));
  sizes.push_back(a.sizes[a.rank() - 2]);
  sizes.push_back(b.sizes[b.rank() - 2]);
  return one(a.dtype, std::move(sizes));
}

Inferred pdist(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rank(in, "self", 2));
  const Size rows = in.tensor("self").sizes[0];
  return one(in.tensor("self").dtype, {rows * (rows - 1) / 2});
}

Inferred tensordot(const BoundArguments& in) {
  const TensorType& a = in.tensor("self");
  const TensorType& b = in.tensor("other");
  if ((a.rank() == 0 && !in.ints("dims_self").empty()) ||
      (b.rank() == 0 && !in.ints("dims_other").empty())) {
    return invalid("a tensor of rank 0 has no dims to sum over");
  }
  PETREL_ASSIGN_OR_RETURN(Sizes from_a, in.dims("dims_self", a.rank()));
  PETREL_ASSIGN_OR_RETURN(Sizes from_b, in.dims("dims_other", b.rank()));
  if (from_a.size() != from_b.size()) {
    return invalid("arguments 'dims_self' and 'dims_other' have ", from_a.size(), " and ",
                   from_b.size(), " items");
  }
  for (size_t i = 0; i < from_a.size(); ++i) {
    const Size here = a.sizes[static_cast<size_t>(from_a[i])];
    const Size there = b.sizes[static_cast<size_t>(from_b[i])];
    if (here == there || here == 1 || there == 1) continue;
    return invalid("dims ", from_a[i], " and ", from_b[i], " are ", here, " and ", there,
                   ", must be equal or 1");
  }
  Sizes sizes;
  const auto add_others = [&](const TensorType& type, const Sizes& taken) {
    for (size_t i = 0; i < type.rank(); ++i) {
      const auto dim = static_cast<int64_t>(i);
      if (std::find(taken.begin(), taken.end(), dim) == taken.end()) {
        sizes.push_back(type.sizes[i]);
      }
    }
  };
  add_others(a, from_a);
  add_others(b, from_b);
  return one(a.dtype, std::move(sizes));
}

// Over the last dimensions; a number multiplies.
Inferred inner(const BoundArguments& in) {
  const TensorType& a = in.tensor("self");
  const TensorType& b = in.tensor("other");
  PETREL_RETURN_IF_ERROR(check_same_dtype(a, b));
  if (a.rank() == 0 || b.rank() == 0) return one(a.dtype, a.rank() == 0 ? b.sizes : a.sizes);
  if (a.sizes.back() != b.sizes.back()) return mismatch(a.sizes, b.sizes);
  Sizes sizes(a.sizes.begin(), a.sizes.end() - 1);
  sizes.insert(sizes.end(), b.sizes.begin(), b.sizes.end() - 1);
  return one(a.dtype, std::move(sizes));
}

Inferred vdot(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rank(in, "self", 1));
  PETREL_RETURN_IF_ERROR(check_rank(in, "other", 1));
  return multiplied(in.tensor("self"), in.tensor("other"));
}

Inferred vecdot(const BoundArguments& in) {
  const TensorType& x = in.tensor("x");
  PETREL_RETURN_IF_ERROR(check_same_dtype(x, in.tensor("y")));
  if (x.dtype == ScalarType::kBool) return invalid("arguments are bool, must be numbers");
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast_sizes({x.sizes, in.tensor("y").sizes}));
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", sizes.size()));
  if (!sizes.empty()) sizes.erase(sizes.begin() + dim);
  return one(x.dtype, std::move(sizes));
}

Inferred addr(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_rank(in, "vec1", 1));
  PETREL_RETURN_IF_ERROR(check_rank(in, "vec2", 1));
  const TensorType& row = in.tensor("vec2");
  PETREL_RETURN_IF_ERROR(check_same_dtype(in.tensor("vec1"), row));
  return added(in, one(row.dtype, {in.tensor("vec1").sizes[0], row.sizes[0]}));
}

// The products of all pairs, summed.
Inferred addbmm(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(const std::vector<Type> all, batched(in, "batch1", "batch2"));
  TensorType sum(all[0].tensor);
  sum.sizes.erase(sum.sizes.begin());
  return added(in, one(sum));
}

// From left to right; vectors at the ends only.
Inferred chain(const BoundArguments& in) {
  const std::vector<const TensorType*> parts =
      in.has("matrices") ? in.tensors("matrices") : in.tensors("tensors");
  if (parts.size() < 2) return invalid("a product of ", parts.size(), ", must be of at least 2");
  TensorType product = *parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i]->rank() != 2 && (parts[i]->rank() != 1 || i + 1 < parts.size())) {
      return invalid("tensor ", i, " has rank ", parts[i]->rank(), ", must be 2");
    }
    PETREL_ASSIGN_OR_RETURN(const std::vector<Type> types, multiplied(product, *parts[i]));
    product = TensorType(types[0].tensor);
  }
  return one(product);
}

constexpr OpRow kRows[] = {
    {"aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", "", kPure,
     infer<linear>},
    {"aten::matmul(Tensor self, Tensor other) -> Tensor", "", kPure, infer<matmul>},
    {"aten::linalg_matmul(Tensor self, Tensor other) -> Tensor", "", kPure, infer<matmul>},
    {"aten::mm(Tensor self, Tensor mat2) -> Tensor", "aten::mm.out", kPure, infer<mm>},
    {"aten::_int_mm(Tensor self, Tensor mat2) -> Tensor", "", kPure, infer<int_mm>},
    {"aten::bmm(Tensor self, Tensor mat2) -> Tensor", "aten::bmm.out", kPure, infer<bmm>},
    {"aten::mv(Tensor self, Tensor vec) -> Tensor", "", kPure, infer<mv>},
    {"aten::dot(Tensor self, Tensor tensor) -> Tensor", "", kPure, infer<dot>},
    {"aten::outer(Tensor self, Tensor vec2) -> Tensor", "", kPure, infer<outer>},
    {"aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
     "Scalar alpha=1) -> Tensor",
     "aten::addmm.out", kPure, infer<addmm>},
    {"aten::addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar "
     "beta=1, Scalar alpha=1) -> Tensor(a!)",
     "", kInPlace, infer<addmm>, "aten::addmm"},
    {"aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar "
     "beta=1, Scalar alpha=1) -> Tensor",
     "", kPure, infer<baddbmm>},
    {"aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, "
     "Scalar alpha=1) -> Tensor",
     "", kPure, infer<addmv>},
    {"aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] "
     "dims_other) -> Tensor",
     "", kPure, infer<tensordot>},
    {"aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> "
     "Tensor",
     "", kPure, infer<einsum>},
    {"aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor "
     "value, Tensor? attn_mask=None, float dropout_p=0., bool "
     "is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
     "", kPure, infer<attention>},
    {"aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor "
     "key, Tensor value, float dropout_p=0., bool is_causal=False, *, Tensor? "
     "attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
     "", kPure, infer<flash_attention>},
    // Of this project; emitted only where the export allows it.
    {"petrel::attention(Tensor query, Tensor key, Tensor value, Tensor? "
     "attn_mask, bool is_causal, float scale) -> Tensor",
     "petrel::attention.out", kPure, infer<attention_kernel>},
    {"aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) "
     "-> Tensor",
     "aten::_cdist_forward.out", kPure, infer<cdist>},
    {"aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) "
     "-> Tensor",
     "", kPure, infer<cdist>},
    {"aten::pdist(Tensor self, float p=2.) -> Tensor", "", kPure, infer<pdist>},
    {"aten::_pdist_forward(Tensor self, float p=2.) -> Tensor", "aten::_pdist_forward.out", kPure,
     infer<pdist>},
    {"aten::ger(Tensor self, Tensor vec2) -> Tensor", "", kPure, infer<outer>},
    {"aten::inner(Tensor self, Tensor other) -> Tensor", "", kPure, infer<inner>},
    {"aten::vdot(Tensor self, Tensor other) -> Tensor", "", kPure, infer<vdot>},
    {"aten::baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
     "alpha=1) -> Tensor(a!)",
     "", kInPlace, infer<baddbmm>, "aten::baddbmm"},
    {"aten::addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor(a!)",
     "", kInPlace, infer<addmv>, "aten::addmv"},
    {"aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     "", kPure, infer<addr>},
    {"aten::addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor(a!)",
     "", kInPlace, infer<addr>, "aten::addr"},
    {"aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     "", kPure, infer<addbmm>},
    {"aten::addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
     "alpha=1) -> Tensor(a!)",
     "", kInPlace, infer<addbmm>, "aten::addbmm"},
    {"aten::chain_matmul(Tensor[] matrices) -> Tensor", "", kPure, infer<chain>},
    {"aten::linalg_multi_dot(Tensor[] tensors) -> Tensor", "", kPure, infer<chain>},
    {"aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", "", kPure, infer<vecdot>},
};

}  // namespace

absl::Span<const OpRow> matmul_ops() { return kRows; }

}  // namespace petrel::exir::rules
