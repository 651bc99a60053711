// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

Inferred quantize(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  const auto dtype = in.dtype("dtype");
  if (!dtype || !is_integral(*dtype)) {
    return invalid("argument 'dtype' must be an integer type");
  }
  if (in.has("axis")) {
    PETREL_RETURN_IF_ERROR(in.dim("axis", input.rank()).status());
  }
  return one(*dtype, input.sizes);
}

Inferred dequantize(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  if (in.has("axis")) {
    PETREL_RETURN_IF_ERROR(in.dim("axis", input.rank()).status());
  }
  const char* name = in.has("output_dtype") ? "output_dtype" : "out_dtype";
  return one(in.dtype(name).value_or(ScalarType::kFloat), input.sizes);
}

Inferred choose_qparams(const BoundArguments&) {
  return std::vector<Type>{TensorType::contiguous(ScalarType::kDouble, {1}),
                           TensorType::contiguous(ScalarType::kLong, {1})};
}

// One pair for each row of the last dimension.
Inferred choose_qparams_per_token(const BoundArguments& in) {
  Sizes sizes = in.tensor("input").sizes;
  if (sizes.empty()) return invalid("argument 'input' has no dimension");
  sizes.back() = 1;
  return std::vector<Type>{TensorType::contiguous(ScalarType::kDouble, sizes),
                           TensorType::contiguous(ScalarType::kLong, sizes)};
}

constexpr OpRow kRows[] = {
    {"quantized_decomposed::quantize_per_tensor(Tensor input, float scale, "
     "int zero_point, int quant_min, int quant_max, ScalarType dtype) -> "
     "Tensor",
     "quantized_decomposed::quantize_per_tensor.out", kPure | kElementwise, infer<quantize>},
    {"quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor "
     "scale, Tensor zero_point, int quant_min, int quant_max, ScalarType "
     "dtype) -> Tensor",
     "quantized_decomposed::quantize_per_tensor.Tensor_out", kPure | kElementwise, infer<quantize>},
    {"quantized_decomposed::quantize_per_tensor.tensor2(Tensor input, Tensor "
     "scale, Tensor zero_point, Tensor quant_min, Tensor quant_max, "
     "ScalarType dtype) -> Tensor",
     "", kPure | kElementwise, infer<quantize>},
    {"quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, "
     "int zero_point, int quant_min, int quant_max, ScalarType dtype, *, "
     "ScalarType? out_dtype=None) -> Tensor",
     "quantized_decomposed::dequantize_per_tensor.out", kPure | kElementwise, infer<dequantize>},
    {"quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor "
     "scale, Tensor zero_point, int quant_min, int quant_max, ScalarType "
     "dtype, *, ScalarType? out_dtype=None) -> Tensor",
     "quantized_decomposed::dequantize_per_tensor.Tensor_out", kPure | kElementwise,
     infer<dequantize>},
    {"quantized_decomposed::dequantize_per_tensor.tensor2(Tensor input, "
     "Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max, "
     "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
     "", kPure | kElementwise, infer<dequantize>},
    {"quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, "
     "Tensor zero_points, int axis, int quant_min, int quant_max, ScalarType "
     "dtype) -> Tensor",
     "quantized_decomposed::quantize_per_channel.out", kPure | kElementwise, infer<quantize>},
    {"quantized_decomposed::dequantize_per_channel(Tensor input, Tensor "
     "scales, Tensor? zero_points, int axis, int quant_min, int quant_max, "
     "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
     "quantized_decomposed::dequantize_per_channel.out", kPure | kElementwise, infer<dequantize>},
    {"quantized_decomposed::choose_qparams.tensor(Tensor input, int "
     "quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, "
     "Tensor)",
     "quantized_decomposed::choose_qparams.Tensor_out", kPure, infer<choose_qparams>},
    {"quantized_decomposed::choose_qparams_symmetric.tensor(Tensor input, int "
     "quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, "
     "Tensor)",
     "", kPure, infer<choose_qparams>},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric(Tensor input, "
     "ScalarType dtype) -> (Tensor, Tensor)",
     "quantized_decomposed::choose_qparams_per_token_asymmetric.out", kPure,
     infer<choose_qparams_per_token>},
    {"quantized_decomposed::quantize_per_token(Tensor input, Tensor scales, "
     "Tensor zero_points, int quant_min, int quant_max, ScalarType dtype) -> "
     "Tensor",
     "quantized_decomposed::quantize_per_token.out", kPure | kElementwise, infer<quantize>},
    {"quantized_decomposed::dequantize_per_token(Tensor input, Tensor scales, "
     "Tensor zero_points, int quant_min, int quant_max, ScalarType dtype, "
     "ScalarType output_dtype) -> Tensor",
     "quantized_decomposed::dequantize_per_token.out", kPure | kElementwise, infer<dequantize>},
    {"quantized_decomposed::quantize_per_channel_group(Tensor input, Tensor "
     "scales, Tensor zero_points, int quant_min, int quant_max, ScalarType "
     "dtype, int group_size) -> Tensor",
     "", kPure | kElementwise, infer<quantize>},
    {"quantized_decomposed::dequantize_per_channel_group(Tensor input, Tensor "
     "scales, Tensor? zero_points, int quant_min, int quant_max, ScalarType "
     "dtype, int group_size, ScalarType output_dtype) -> Tensor",
     "", kPure | kElementwise, infer<dequantize>},
};

}  // namespace

absl::Span<const OpRow> quantized_ops() { return kRows; }

}  // namespace petrel::exir::rules
