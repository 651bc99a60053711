// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_join.h"
#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

Inferred activation(const BoundArguments& in) { return unary_same(in); }

Inferred float_activation(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_floats(in));
  return unary_same(in);
}

Inferred gelu(const BoundArguments& in) {
  const std::string approximate = in.text("approximate");
  if (approximate == "none" || approximate == "tanh") return float_activation(in);
  return invalid("argument 'approximate' is '", approximate, "', must be 'none' or 'tanh'");
}

// Weights of prelu are per channel and do not broadcast like an operand.
Inferred prelu(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_floats(in));
  const TensorType& self = in.tensor("self");
  const TensorType& weight = in.tensor("weight");
  const Size count = weight.numel();
  const Size channels = self.rank() == 0 ? Size(1) : self.sizes[self.rank() > 1 ? 1 : 0];
  if (weight.rank() > 1 || (count != 1 && count != channels)) {
    return invalid("argument 'weight' is [", absl::StrJoin(weight.sizes, ","), "], must be [",
                   channels, "] or [1]");
  }
  return unary_same(in);
}

Inferred prelu_kernel(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_floats(in));
  return in_place_elementwise(in);
}

Inferred glu(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_floats(in));
  TensorType out = in.tensor("self");
  if (out.rank() == 0) return invalid("argument 'self' has no dimension");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", out.rank()));
  if (out.sizes[dim] % 2 != 0) {
    return invalid("dim ", dim, " is ", out.sizes[dim], ", must be even");
  }
  out.sizes[dim] /= 2;
  return one(out);
}

Inferred softmax(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_RETURN_IF_ERROR(in.dim("dim", self.rank()).status());
  const ScalarType dtype = in.dtype("dtype").value_or(self.dtype);
  if (!is_floating_point(dtype)) {
    return invalid("softmax of ", std::string(scalar_type_name(dtype)));
  }
  return one(dtype, self.sizes);
}

Inferred internal_softmax(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_RETURN_IF_ERROR(in.dim("dim", self.rank()).status());
  return one(in.flag("half_to_float") ? ScalarType::kFloat : self.dtype, self.sizes);
}

absl::Status check_not_training(const BoundArguments& in) {
  if (!in.flag("train")) return absl::OkStatus();
  return invalid("dropout in training mode; call eval() on the model before exporting it");
}

Inferred dropout(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_not_training(in));
  return unary_same(in);
}

Inferred native_dropout(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_not_training(in));
  const TensorType& input = in.tensor("input");
  return std::vector<Type>{TensorType::contiguous(input.dtype, input.sizes),
                           TensorType::contiguous(ScalarType::kBool, input.sizes)};
}

// Its slope is drawn in training only.
Inferred rrelu(const BoundArguments& in) {
  if (!in.flag("training")) return float_activation(in);
  return invalid("rrelu in training mode; call eval() on the model before exporting it");
}

constexpr OpRow kRows[] = {
    {"aten::celu(Tensor self, Scalar alpha=1.) -> Tensor", "", kPure | kElementwise,
     infer<float_activation>},
    {"aten::celu_(Tensor(a!) self, Scalar alpha=1.) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::celu"},
    {"aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar "
     "input_scale=1) -> Tensor",
     "aten::elu.out", kPure | kElementwise, infer<float_activation>},
    {"aten::elu_(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar "
     "input_scale=1) -> Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::elu"},
    {"aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", "aten::gelu.out",
     kPure | kElementwise, infer<gelu>},
    {"aten::glu(Tensor self, int dim=-1) -> Tensor", "aten::glu.out", kPure, infer<glu>},
    {"aten::hardsigmoid(Tensor self) -> Tensor", "", kPure | kElementwise, infer<float_activation>},
    {"aten::hardsigmoid_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>,
     "aten::hardsigmoid"},
    {"aten::hardswish(Tensor self) -> Tensor", "", kPure | kElementwise, infer<float_activation>},
    {"aten::hardswish_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>,
     "aten::hardswish"},
    {"aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> "
     "Tensor",
     "aten::hardtanh.out", kPure | kElementwise, infer<activation>},
    {"aten::hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) "
     "-> Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::hardtanh"},
    {"aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", "aten::leaky_relu.out",
     kPure | kElementwise, infer<float_activation>},
    {"aten::leaky_relu_(Tensor(a!) self, Scalar negative_slope=0.01) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::leaky_relu"},
    {"aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool "
     "training=False, Generator? generator=None) -> Tensor",
     "", kPure | kElementwise, infer<rrelu>},
    {"aten::log_sigmoid(Tensor self) -> Tensor", "", kPure | kElementwise, infer<float_activation>},
    {"aten::mish(Tensor self) -> Tensor", "", kPure | kElementwise, infer<float_activation>},
    {"aten::mish_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>,
     "aten::mish"},
    {"aten::prelu(Tensor self, Tensor weight) -> Tensor", "", kPure | kElementwise, infer<prelu>},
    {"aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor", "", kPure | kElementwise,
     infer<prelu_kernel>},
    {"aten::relu(Tensor self) -> Tensor", "aten::relu.out", kPure | kElementwise,
     infer<activation>},
    {"aten::relu_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>,
     "aten::relu"},
    {"aten::relu6(Tensor self) -> Tensor", "", kPure | kElementwise, infer<activation>},
    {"aten::relu6_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>,
     "aten::relu6"},
    {"aten::selu(Tensor self) -> Tensor", "", kPure | kElementwise, infer<float_activation>},
    {"aten::selu_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>,
     "aten::selu"},
    {"aten::sigmoid(Tensor self) -> Tensor", "aten::sigmoid.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::sigmoid_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>,
     "aten::sigmoid"},
    {"aten::silu(Tensor self) -> Tensor", "", kPure | kElementwise, infer<float_activation>},
    {"aten::silu_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>,
     "aten::silu"},
    {"aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> "
     "Tensor",
     "", kPure | kElementwise, infer<float_activation>},
    {"aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", "", kPure | kElementwise,
     infer<float_activation>},
    {"aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", "", kPure | kElementwise,
     infer<float_activation>},
    {"aten::tanh(Tensor self) -> Tensor", "aten::tanh.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::tanh_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>,
     "aten::tanh"},
    {"aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", "",
     kPure | kElementwise, infer<activation>},
    {"aten::threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::threshold"},
    {"aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> "
     "Tensor",
     "", kPure, infer<softmax>},
    {"aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> "
     "Tensor",
     "", kPure, infer<softmax>},
    {"aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "", kPure,
     infer<softmax>},
    {"aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", "aten::_softmax.out",
     kPure, infer<internal_softmax>},
    {"aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
     "aten::_log_softmax.out", kPure, infer<internal_softmax>},
    {"aten::dropout(Tensor input, float p, bool train) -> Tensor", "", kPure | kView | kIdentity,
     infer<dropout>},
    {"aten::dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", "", kInPlace | kIdentity,
     infer<dropout>, "aten::dropout"},
    {"aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", "",
     kPure | kView | kIdentity, infer<dropout>},
    {"aten::feature_dropout_(Tensor(a!) self, float p, bool train) -> "
     "Tensor(a!)",
     "", kInPlace | kIdentity, infer<dropout>, "aten::feature_dropout"},
    {"aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", "",
     kPure | kView | kIdentity, infer<dropout>},
    {"aten::alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", "",
     kInPlace | kIdentity, infer<dropout>, "aten::alpha_dropout"},
    {"aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", "",
     kPure | kView | kIdentity, infer<dropout>},
    {"aten::feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", "",
     kInPlace | kIdentity, infer<dropout>, "aten::feature_alpha_dropout"},
    {"aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, "
     "Tensor)",
     "aten::native_dropout.out", kRandom, infer<native_dropout>},
    {"aten::gelu_(Tensor(a!) self, *, str approximate=\"none\") -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::gelu"},
    {"aten::special_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "", kPure,
     infer<softmax>},
    {"aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "",
     kPure, infer<softmax>},
};

}  // namespace

absl::Span<const OpRow> activation_ops() { return kRows; }

}  // namespace petrel::exir::rules
