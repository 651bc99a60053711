// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/elementwise.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "exir/ops/promotion.h"

namespace petrel::exir::rules {

Inferred unary_same(const BoundArguments& in) { return one(in.tensor(in.op().args[0].name)); }

Inferred unary_float(const BoundArguments& in) {
  const TensorType& self = in.tensor(in.op().args[0].name);
  return one(as_floating(self.dtype), self.sizes);
}

Inferred promote(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, promoted_dtype(in));
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(in.all_tensors()));
  return one(dtype, std::move(sizes));
}

Inferred promote_float(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, promoted_dtype(in));
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(in.all_tensors()));
  return one(as_floating(dtype), std::move(sizes));
}

absl::Status check_floats(const BoundArguments& in) {
  const std::vector<const TensorType*> types = in.all_tensors();
  for (const TensorType* type : types) {
    if (is_floating_point(type->dtype) && type->dtype == types[0]->dtype) continue;
    return invalid("a tensor is ", std::string(scalar_type_name(type->dtype)), ", must be ",
                   is_floating_point(type->dtype)
                       ? std::string(scalar_type_name(types[0]->dtype)) + " as the first"
                       : "of floats");
  }
  return absl::OkStatus();
}

Inferred in_place_elementwise(const BoundArguments& in) {
  const TensorType& self = in.tensor(in.op().args[0].name);
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(in.all_tensors()));
  if (sizes != self.sizes) {
    return invalid("sizes [", absl::StrJoin(sizes, ","), "] cannot be written in place into [",
                   absl::StrJoin(self.sizes, ","), "]");
  }
  return one(self);
}

}  // namespace petrel::exir::rules
