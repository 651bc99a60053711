// SPDX-License-Identifier: Apache-2.0
//
// Differences and sums of samples that stand for derivatives and integrals.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// The dims along which gradient goes: those given, or all.
absl::StatusOr<Sizes> gradient_dims(const BoundArguments& in) {
  const size_t rank = in.tensor("self").rank();
  if (in.given("dim")) return in.dims("dim", rank);
  Sizes dims;
  for (size_t i = 0; i < rank; ++i) dims.push_back(static_cast<int64_t>(i));
  return dims;
}

std::optional<size_t> length_of(const Argument& list) {
  if (list.is_ints()) return list.as_ints().size();
  if (list.is_floats()) return list.as_floats().size();
  if (list.is_list()) return list.as_list().size();
  return std::nullopt;
}

// One derivative along each dim.
Inferred gradient(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(const Sizes dims, gradient_dims(in));
  if (dims.empty()) return invalid("there is no dim to go along");
  const Size order = in.integer("edge_order");
  if (order != 1 && order != 2) return invalid("argument 'edge_order' is ", order, ", not 1 or 2");
  const std::vector<const TensorType*> places = in.tensors("spacing");
  const std::optional<size_t> spacings =
      in.has("spacing") ? length_of(in.at("spacing")) : std::nullopt;
  if (spacings && *spacings != dims.size()) {
    return invalid("argument 'spacing' has ", *spacings, " items, must have ", dims.size());
  }
  Promotion promotion;
  PETREL_RETURN_IF_ERROR(promotion.add(as_floating(self.dtype), self.rank()));
  std::vector<Type> types;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (self.rank() == 0) return invalid("argument 'self' has no dimension");
    const Size size = self.sizes[static_cast<size_t>(dims[i])];
    if (size < order + 1) {
      return invalid("argument 'self' has ", size, " samples along dim ", dims[i],
                     ", must have at least ", order + 1);
    }
    if (!places.empty()) {
      if (places[i]->rank() != 1 || places[i]->sizes[0] != size) {
        return invalid("argument 'spacing' does not give the places of the ", size,
                       " samples along dim ", dims[i]);
      }
      PETREL_RETURN_IF_ERROR(promotion.add(as_floating(places[i]->dtype), 1));
    }
  }
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, promotion.result());
  for (size_t i = 0; i < dims.size(); ++i) {
    types.push_back(TensorType::contiguous(dtype, self.sizes));
  }
  return types;
}

// What the sums of neighbours over a dim have in common: a float, of the samples' sizes. The
// samples' places are a line, or broadcast with them.
absl::StatusOr<TensorType> neighbours(const BoundArguments& in, int64_t dim) {
  const TensorType& y = in.tensor("y");
  if (y.rank() == 0) return invalid("argument 'y' has no dimension");
  Promotion promotion;
  PETREL_RETURN_IF_ERROR(promotion.add(y));
  Sizes sizes = y.sizes;
  if (in.given("x")) {
    const TensorType& x = in.tensor("x");
    PETREL_RETURN_IF_ERROR(promotion.add(x));
    if (x.rank() == 1) {
      if (x.sizes[0] != y.sizes[static_cast<size_t>(dim)]) {
        return invalid("argument 'x' has ", x.sizes[0], " places, must have ",
                       y.sizes[static_cast<size_t>(dim)]);
      }
    } else {
      PETREL_ASSIGN_OR_RETURN(sizes, broadcast_sizes({x.sizes, y.sizes}));
      if (sizes.size() != y.rank() || x.rank() == 0) {
        return invalid("argument 'x' has rank ", x.rank(), ", must have 1 to ", y.rank());
      }
    }
  }
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, promotion.result());
  return TensorType::contiguous(as_floating(dtype), std::move(sizes));
}

Inferred trapezoid(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(const int64_t dim, in.dim("dim", in.tensor("y").rank()));
  PETREL_ASSIGN_OR_RETURN(TensorType out, neighbours(in, dim));
  out.sizes.erase(out.sizes.begin() + dim);
  return one(std::move(out));
}

Inferred cumulative_trapezoid(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(const int64_t dim, in.dim("dim", in.tensor("y").rank()));
  PETREL_ASSIGN_OR_RETURN(TensorType out, neighbours(in, dim));
  Size& size = out.sizes[static_cast<size_t>(dim)];
  size = largest(size - 1, 0);
  return one(std::move(out));
}

constexpr OpRow kRows[] = {
    {"aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int "
     "edge_order=1) -> Tensor[]",
     "", kPure, infer<gradient>},
    {"aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> "
     "Tensor[]",
     "", kPure, infer<gradient>},
    {"aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]", "", kPure,
     infer<gradient>},
    {"aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int "
     "edge_order=1) -> Tensor[]",
     "", kPure, infer<gradient>},
    {"aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int "
     "edge_order=1) -> Tensor[]",
     "", kPure, infer<gradient>},
    {"aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int "
     "edge_order=1) -> Tensor[]",
     "", kPure, infer<gradient>},
    {"aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) "
     "-> Tensor[]",
     "", kPure, infer<gradient>},
    {"aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "", kPure, infer<trapezoid>},
    {"aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", "", kPure,
     infer<trapezoid>},
    {"aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "", kPure, infer<trapezoid>},
    {"aten::trapz.dx(Tensor y, *, float dx=1.0, int dim=-1) -> Tensor", "", kPure,
     infer<trapezoid>},
    {"aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "", kPure,
     infer<cumulative_trapezoid>},
    {"aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", "", kPure,
     infer<cumulative_trapezoid>},
};

}  // namespace

absl::Span<const OpRow> calculus_ops() { return kRows; }

}  // namespace petrel::exir::rules
