// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// Every given per-channel tensor has one element for each channel.
absl::Status check_channels(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  if (input.rank() < 2) {
    return invalid("argument 'input' has rank ", input.rank(), ", must be at least 2");
  }
  for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
    if (!in.given(name)) continue;
    if (in.tensor(name).sizes == Sizes{input.sizes[1]}) continue;
    return invalid("argument '", name, "' is [", absl::StrJoin(in.tensor(name).sizes, ","),
                   "], must be [", input.sizes[1], "]");
  }
  return absl::OkStatus();
}

// In training mode the running statistics change, which these schemas hide.
absl::Status check_keeps_statistics(const BoundArguments& in) {
  const bool training = in.flag("training") || in.flag("use_input_stats");
  if (!training || in.at("running_mean").is_none()) return absl::OkStatus();
  return invalid(
      "batch norm in training mode; call eval() on the model before exporting "
      "it");
}

Inferred batch_norm(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_channels(in));
  PETREL_RETURN_IF_ERROR(check_keeps_statistics(in));
  const bool training = in.flag("training") || in.flag("use_input_stats");
  if (!training && !(in.given("running_mean") && in.given("running_var"))) {
    return invalid("neither training nor given a mean and a variance");
  }
  return one(in.tensor("input"));
}

// Of halves with parameters of f32 statistics are f32, else of the input's type.
ScalarType statistics_dtype(const BoundArguments& in) {
  const ScalarType dtype = in.tensor("input").dtype;
  if (item_size(dtype) != 2 || !in.given("weight")) return dtype;
  return in.tensor("weight").dtype == ScalarType::kFloat ? ScalarType::kFloat : dtype;
}

Inferred native_batch_norm(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_channels(in));
  bool writes = false;
  for (const ArgSpec& spec : in.op().args) writes = writes || spec.is_written;
  if (!writes) PETREL_RETURN_IF_ERROR(check_keeps_statistics(in));
  if (!in.has("running_mean") && !in.flag("training")) {
    return invalid("neither training nor given a mean and a variance");
  }
  const TensorType& input = in.tensor("input");
  // Statistics are given out only where they are computed.
  const Size channels = in.flag("training") ? input.sizes[1] : Size(0);
  const Type saved = TensorType::contiguous(statistics_dtype(in), {channels});
  return std::vector<Type>{TensorType::contiguous(input.dtype, input.sizes), saved, saved};
}

// The last dimensions of the input are `normalized_shape`, as is the weight.
absl::Status check_normalized(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  const Sizes shape = in.ints("normalized_shape");
  const bool fits =
      !shape.empty() && shape.size() <= input.rank() &&
      Sizes(input.sizes.end() - static_cast<ptrdiff_t>(shape.size()), input.sizes.end()) == shape;
  if (!fits) {
    return invalid("argument 'normalized_shape' is [", absl::StrJoin(shape, ","),
                   "], the input is [", absl::StrJoin(input.sizes, ","), "]");
  }
  for (const char* name : {"weight", "bias"}) {
    if (!in.given(name) || in.tensor(name).sizes == shape) continue;
    return invalid("argument '", name, "' is [", absl::StrJoin(in.tensor(name).sizes, ","),
                   "], must be [", absl::StrJoin(shape, ","), "]");
  }
  return absl::OkStatus();
}

Inferred layer_norm(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_normalized(in));
  return one(in.tensor("input"));
}

// One statistic for each normalised block, with the rank of the input.
Type block_statistics(const BoundArguments& in, ScalarType dtype) {
  Sizes sizes = in.tensor("input").sizes;
  const size_t count = in.ints("normalized_shape").size();
  for (size_t i = 0; i < count; ++i) sizes[sizes.size() - 1 - i] = 1;
  return TensorType::contiguous(dtype, std::move(sizes));
}

Inferred native_layer_norm(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_normalized(in));
  const TensorType& input = in.tensor("input");
  const Type statistics = block_statistics(in, statistics_dtype(in));
  return std::vector<Type>{TensorType::contiguous(input.dtype, input.sizes), statistics,
                           statistics};
}

Inferred fused_rms_norm(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_normalized(in));
  const TensorType& input = in.tensor("input");
  // Sums of squares of halves are in f32.
  const ScalarType dtype = item_size(input.dtype) == 2 ? ScalarType::kFloat : input.dtype;
  return std::vector<Type>{TensorType::contiguous(input.dtype, input.sizes),
                           block_statistics(in, dtype)};
}

absl::StatusOr<Size> checked_groups(const BoundArguments& in, const char* name) {
  PETREL_RETURN_IF_ERROR(check_channels(in));
  const Size groups = in.integer(name);
  const Size channels = in.tensor("input").sizes[1];
  if (groups < 1 || channels % groups != 0) {
    return invalid("argument '", name, "' is ", groups, ", must divide ", channels, " channels");
  }
  return groups;
}

Inferred group_norm(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(checked_groups(in, "num_groups").status());
  return one(in.tensor("input"));
}

Inferred native_group_norm(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(const Size groups, checked_groups(in, "group"));
  const TensorType& input = in.tensor("input");
  Size plane = 1;
  for (size_t d = 2; d < input.rank(); ++d) plane *= input.sizes[d];
  if (in.integer("N") != input.sizes[0] || in.integer("C") != input.sizes[1] ||
      in.integer("HxW") != plane) {
    return invalid("arguments 'N', 'C' and 'HxW' are ", in.integer("N"), ", ", in.integer("C"),
                   " and ", in.integer("HxW"), ", argument 'input' is [",
                   absl::StrJoin(input.sizes, ","), "]");
  }
  const Type saved = TensorType::contiguous(statistics_dtype(in), {input.sizes[0], groups});
  return std::vector<Type>{TensorType::contiguous(input.dtype, input.sizes), saved, saved};
}

Inferred weight_norm(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(in.dim("dim", in.tensor("v").rank()).status());
  PETREL_RETURN_IF_ERROR(check_floats(in));
  return in_place_elementwise(in);
}

Inferred weight_norm_interface(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(weight_norm(in).status());
  const TensorType& v = in.tensor("v");
  const TensorType& g = in.tensor("g");
  return std::vector<Type>{TensorType::contiguous(v.dtype, v.sizes),
                           TensorType::contiguous(g.dtype, g.sizes)};
}

constexpr OpRow kRows[] = {
    {"aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, bool training, float momentum, float "
     "eps, bool cudnn_enabled) -> Tensor",
     "", kPure, infer<batch_norm>},
    {"aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? "
     "weight, Tensor? bias, Tensor running_mean, Tensor running_var, float "
     "momentum, float eps) -> (Tensor, Tensor, Tensor)",
     "aten::_native_batch_norm_legit_no_training.out", kPure, infer<native_batch_norm>},
    {"aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? "
     "bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, "
     "float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     "", kNoTraits, infer<native_batch_norm>},
    {"aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, "
     "Tensor? bias, bool training, float momentum, float eps) -> (Tensor, "
     "Tensor, Tensor)",
     "aten::_native_batch_norm_legit.no_stats_out", kPure, infer<native_batch_norm>},
    {"aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, "
     "Tensor? running_mean, Tensor? running_var, bool training, float "
     "momentum, float eps) -> (Tensor, Tensor, Tensor)",
     "", kNoTraits, infer<native_batch_norm>},
    {"aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, bool use_input_stats, float "
     "momentum, float eps, bool cudnn_enabled) -> Tensor",
     "", kPure, infer<batch_norm>},
    {"aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? "
     "weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool "
     "cudnn_enable=True) -> Tensor",
     "", kPure, infer<layer_norm>},
    {"aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, "
     "Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
     "aten::native_layer_norm.out", kPure, infer<native_layer_norm>},
    {"aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, "
     "Tensor? bias=None, float eps=1.0000000000000001e-05, bool "
     "cudnn_enabled=True) -> Tensor",
     "", kPure, infer<group_norm>},
    {"aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, "
     "SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, "
     "Tensor, Tensor)",
     "aten::native_group_norm.out", kPure, infer<native_group_norm>},
    {"aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? "
     "weight=None, float? eps=None) -> Tensor",
     "", kPure, infer<layer_norm>},
    {"aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? "
     "weight, float? eps) -> (Tensor, Tensor)",
     "", kPure, infer<fused_rms_norm>},
    {"aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", "", kPure, infer<weight_norm>},
    {"aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, "
     "Tensor)",
     "", kPure, infer<weight_norm_interface>},
};

}  // namespace

absl::Span<const OpRow> norm_ops() { return kRows; }

}  // namespace petrel::exir::rules
