// SPDX-License-Identifier: Apache-2.0
//
// Elements that an index with the dims of self names: along one dim by what it holds, along the
// others by where it holds it. Its sizes are what is walked, so that there must be as many
// elements in what they walk over.
#include <string>

#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// A number is a list of one element here.
Sizes list_sizes(const TensorType& type) { return type.rank() == 0 ? Sizes{1} : type.sizes; }

// `dim`, from 0, is the one that the elements of the index choose along; -1: none is.
absl::Status check_walk(const TensorType& index, const TensorType& over, const char* name,
                        int64_t dim) {
  const Sizes sizes = list_sizes(index), most = list_sizes(over);
  bool fits = sizes.size() == most.size();
  for (size_t d = 0; fits && d < sizes.size(); ++d) {
    fits = static_cast<int64_t>(d) == dim || sizes[d] <= most[d];
  }
  if (fits) return absl::OkStatus();
  return invalid("argument 'index' is [", absl::StrJoin(index.sizes, ","),
                 "], which does not lie in argument '", name, "' [", absl::StrJoin(over.sizes, ","),
                 "]");
}

absl::Status check_index(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  const TensorType& index = in.tensor("index");
  PETREL_ASSIGN_OR_RETURN(const int64_t dim, in.dim("dim", self.rank()));
  PETREL_RETURN_IF_ERROR(check_index_dtype(index));
  return check_walk(index, self, "self", dim);
}

Inferred gather(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_index(in));
  return one(in.tensor("self").dtype, in.tensor("index").sizes);
}

Inferred scatter(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_index(in));
  const TensorType& self = in.tensor("self");
  if (!in.has("src")) return one(self);
  const TensorType& source = in.tensor("src");
  if (source.dtype != self.dtype) {
    return invalid("argument 'src' is ", std::string(scalar_type_name(source.dtype)), ", must be ",
                   std::string(scalar_type_name(self.dtype)));
  }
  PETREL_RETURN_IF_ERROR(check_walk(in.tensor("index"), source, "src", -1));
  return one(self);
}

constexpr OpRow kRows[] = {
    {"aten::gather(Tensor self, int dim, Tensor index, *, bool "
     "sparse_grad=False) -> Tensor",
     "aten::gather.out", kPure, infer<gather>},
    {"aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> "
     "Tensor",
     "aten::scatter.src_out", kPure, infer<scatter>},
    {"aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) "
     "-> Tensor",
     "aten::scatter.value_out", kPure, infer<scatter>},
    {"aten::scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) "
     "-> Tensor(a!)",
     "", kInPlace, infer<scatter>, "aten::scatter.src"},
    {"aten::scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar "
     "value) -> Tensor(a!)",
     "", kInPlace, infer<scatter>, "aten::scatter.value"},
    {"aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> "
     "Tensor",
     "aten::scatter_add.out", kPure, infer<scatter>},
    {"aten::scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) "
     "-> Tensor(a!)",
     "", kInPlace, infer<scatter>, "aten::scatter_add"},
    {"aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor "
     "src, str reduce, *, bool include_self=True) -> Tensor",
     "", kPure, infer<scatter>},
    {"aten::scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor "
     "src, str reduce, *, bool include_self=True) -> Tensor(a!)",
     "", kInPlace, infer<scatter>, "aten::scatter_reduce.two"},
    {"aten::scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, "
     "*, str reduce) -> Tensor(a!)",
     "", kInPlace, infer<scatter>, "aten::scatter.reduce"},
    {"aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar "
     "value, *, str reduce) -> Tensor",
     "", kPure, infer<scatter>},
    {"aten::scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, "
     "Scalar value, *, str reduce) -> Tensor(a!)",
     "", kInPlace, infer<scatter>, "aten::scatter.value_reduce"},
    {"aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, "
     "str reduce) -> Tensor",
     "", kPure, infer<scatter>},
};

}  // namespace

absl::Span<const OpRow> scatter_ops() { return kRows; }

}  // namespace petrel::exir::rules
