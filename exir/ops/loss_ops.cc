// SPDX-License-Identifier: Apache-2.0
//
// Losses: programs that compute one as an output, say as a score.
#include <algorithm>
#include <string>
#include <utility>

#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// 0 keeps the loss of each element; 1 takes their mean and 2 their sum.
Inferred reduced(const BoundArguments& in, ScalarType dtype, Sizes sizes) {
  const int64_t reduction = in.integer("reduction");
  if (reduction < 0 || reduction > 2) {
    return invalid("argument 'reduction' is ", reduction, ", must be in [0, 2]");
  }
  if (!is_floating_point(dtype)) {
    return invalid("a loss of ", std::string(scalar_type_name(dtype)));
  }
  if (reduction != 0) sizes.clear();
  return one(dtype, std::move(sizes));
}

Inferred elementwise(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, promoted_dtype(in));
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(in.all_tensors()));
  return reduced(in, dtype, std::move(sizes));
}

Inferred floats(const BoundArguments& in) {
  for (const TensorType* type : in.all_tensors()) {
    if (is_floating_point(type->dtype)) continue;
    return invalid("a tensor is ", std::string(scalar_type_name(type->dtype)),
                   ", must be of floats");
  }
  return elementwise(in);
}

// The dtype of the scores, whatever the target has.
Inferred hinge(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(in.all_tensors()));
  return reduced(in, in.tensor("self").dtype, std::move(sizes));
}

// Scores [classes] or [batch, classes, ...], and the class of each, or, where a
// target may be that, the probability of every class.
Inferred of_classes(const BoundArguments& in, bool takes_probabilities) {
  const TensorType& scores = in.tensor("self");
  const TensorType& target = in.tensor("target");
  if (scores.rank() < 1) return invalid("argument 'self' has rank 0, must be at least 1");
  const size_t dim = scores.rank() == 1 ? 0 : 1;
  Sizes sizes = scores.sizes;
  sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(dim));
  const bool has_probabilities = takes_probabilities && is_floating_point(target.dtype);
  if (target.sizes != (has_probabilities ? scores.sizes : sizes)) {
    return invalid("arguments 'self' and 'target' do not fit");
  }
  if (!has_probabilities && is_floating_point(target.dtype)) {
    return invalid("argument 'target' is ", std::string(scalar_type_name(target.dtype)),
                   ", must be an integer");
  }
  if (in.given("weight") &&
      (in.tensor("weight").rank() != 1 || in.tensor("weight").sizes[0] != scores.sizes[dim])) {
    return invalid("argument 'weight' must have one element for each class");
  }
  return reduced(in, scores.dtype, std::move(sizes));
}

Inferred cross_entropy(const BoundArguments& in) { return of_classes(in, true); }
Inferred nll(const BoundArguments& in) { return of_classes(in, false); }

// One loss for each pair of lines, of which the last dim has the elements.
Inferred triplet(const BoundArguments& in) {
  for (const TensorType* type : in.all_tensors()) {
    if (type->rank() > 0 && is_floating_point(type->dtype)) continue;
    return invalid("a tensor is ", to_string(*type), ", must be of floats and one dim at least");
  }
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(in.all_tensors()));
  sizes.pop_back();
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, promoted_dtype(in));
  return reduced(in, dtype, std::move(sizes));
}

Inferred cosine_embedding(const BoundArguments& in) {
  const TensorType& target = in.tensor("target");
  PETREL_ASSIGN_OR_RETURN(Sizes sizes,
                          broadcast_sizes({in.tensor("input1").sizes, in.tensor("input2").sizes}));
  if (sizes.size() != target.rank() + 1 || target.rank() > 1) {
    return invalid("argument 'target' has rank ", target.rank(), ", inputs have ", sizes.size(),
                   ", must be 0 and 1, or 1 and 2");
  }
  if (target.rank() == 1 && target.sizes[0] != sizes[0]) {
    return invalid("argument 'target' has ", target.sizes[0], " elements, must have ", sizes[0]);
  }
  return reduced(in, in.tensor("input1").dtype, target.sizes);
}

constexpr OpRow kRows[] = {
    {"aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", "", kPure,
     infer<elementwise>},
    {"aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", "", kPure,
     infer<elementwise>},
    {"aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
     "", kPure, infer<elementwise>},
    {"aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor", "",
     kPure, infer<elementwise>},
    {"aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int "
     "reduction=1) -> Tensor",
     "", kPure, infer<floats>},
    {"aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, "
     "Tensor? pos_weight=None, int reduction=1) -> Tensor",
     "", kPure, infer<floats>},
    {"aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> "
     "Tensor",
     "", kPure, infer<floats>},
    {"aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", "", kPure,
     infer<elementwise>},
    {"aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, "
     "int reduction) -> Tensor",
     "", kPure, infer<elementwise>},
    {"aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> "
     "Tensor",
     "", kPure, infer<hinge>},
    {"aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
     "reduction=1) -> Tensor",
     "", kPure, infer<elementwise>},
    {"aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., "
     "float p=2., float eps=1e-06, bool swap=False, int reduction=1) -> Tensor",
     "", kPure, infer<triplet>},
    {"aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
     "int reduction=1) -> Tensor",
     "", kPure, infer<cosine_embedding>},
    {"aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
     "SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor",
     "", kPure, infer<cross_entropy>},
    {"aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
     "ignore_index=-100) -> Tensor",
     "", kPure, infer<nll>},
};

}  // namespace

absl::Span<const OpRow> loss_ops() { return kRows; }

}  // namespace petrel::exir::rules
