// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_join.h"
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

// Rows of a table that is stored with `kPerByte` elements in each byte.
template <int64_t kPerByte>
Inferred embedding(const BoundArguments& in) {
  const TensorType& weight = in.tensor("weight");
  const TensorType& scales = in.tensor("weight_scales");
  if (weight.rank() != 2 || item_size(weight.dtype) != 1) {
    return invalid("argument 'weight' has rank ", weight.rank(), " and type ",
                   std::string(scalar_type_name(weight.dtype)), ", must have 2 and i8 or u8");
  }
  if (scales.rank() < 1 || scales.rank() > 2 || scales.sizes[0] != weight.sizes[0]) {
    return invalid("argument 'weight_scales' must have a row for each of the ", weight.sizes[0],
                   " of the table");
  }
  Sizes sizes = in.tensor("indices").sizes;
  sizes.push_back(weight.sizes[1] * kPerByte);
  return one(in.dtype("dtype").value_or(scales.dtype), std::move(sizes));
}

Inferred mixed(const BoundArguments& in, size_t rank, size_t inner, ScalarType dtype) {
  const TensorType& input = in.tensor("input");
  const TensorType& weight = in.tensor("weight");
  if (input.rank() != rank || weight.rank() != 2 || input.sizes.back() != weight.sizes[inner]) {
    return invalid("sizes [", absl::StrJoin(input.sizes, ","), "] and [",
                   absl::StrJoin(weight.sizes, ","), "] do not multiply");
  }
  Sizes sizes = input.sizes;
  sizes.back() = weight.sizes[1 - inner];
  return one(dtype, std::move(sizes));
}

Inferred mixed_mm(const BoundArguments& in) { return mixed(in, 2, 0, in.tensor("input").dtype); }

Inferred mixed_linear(const BoundArguments& in) {
  return mixed(in, 2, 1, in.dtype("dtype").value_or(in.tensor("input").dtype));
}

Inferred add(const BoundArguments& in) {
  const TensorType& a = in.tensor("a");
  const TensorType& b = in.tensor("b");
  if (a.sizes == b.sizes && a.dtype == b.dtype) return one(a);
  return invalid("arguments 'a' and 'b' must have the same sizes and types");
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
    {"quantized_decomposed::embedding_byte(Tensor weight, Tensor weight_scales, Tensor? "
     "weight_zero_points, int weight_quant_min, int weight_quant_max, Tensor indices) -> Tensor",
     "quantized_decomposed::embedding_byte.out", kPure, infer<embedding<1>>},
    {"quantized_decomposed::embedding_byte.dtype(Tensor weight, Tensor weight_scales, Tensor? "
     "weight_zero_points, int weight_quant_min, int weight_quant_max, Tensor indices, *, "
     "ScalarType? dtype=None) -> Tensor",
     "quantized_decomposed::embedding_byte.dtype_out", kPure, infer<embedding<1>>},
    {"quantized_decomposed::embedding_4bit(Tensor weight, Tensor weight_scales, Tensor? "
     "weight_zero_points, int weight_quant_min, int weight_quant_max, Tensor indices) -> Tensor",
     "quantized_decomposed::embedding_4bit.out", kPure, infer<embedding<2>>},
    {"quantized_decomposed::embedding_4bit.dtype(Tensor weight, Tensor weight_scales, Tensor? "
     "weight_zero_points, int weight_quant_min, int weight_quant_max, Tensor indices, *, "
     "ScalarType? dtype=None) -> Tensor",
     "quantized_decomposed::embedding_4bit.dtype_out", kPure, infer<embedding<2>>},
    {"quantized_decomposed::embedding_2bit(Tensor weight, Tensor weight_scales, Tensor? "
     "weight_zero_points, int weight_quant_min, int weight_quant_max, Tensor indices) -> Tensor",
     "quantized_decomposed::embedding_2bit.out", kPure, infer<embedding<4>>},
    {"quantized_decomposed::embedding_2bit.dtype(Tensor weight, Tensor weight_scales, Tensor? "
     "weight_zero_points, int weight_quant_min, int weight_quant_max, Tensor indices, *, "
     "ScalarType? dtype=None) -> Tensor",
     "quantized_decomposed::embedding_2bit.dtype_out", kPure, infer<embedding<4>>},
    {"quantized_decomposed::mixed_mm(Tensor input, Tensor weight, Tensor weight_scales, Tensor? "
     "weight_zero_points) -> Tensor",
     "quantized_decomposed::mixed_mm.out", kPure, infer<mixed_mm>},
    {"quantized_decomposed::mixed_linear(Tensor input, Tensor weight, Tensor weight_scales, "
     "Tensor? weight_zero_points, ScalarType? dtype=None) -> Tensor",
     "quantized_decomposed::mixed_linear.out", kPure, infer<mixed_linear>},
    {"quantized_decomposed::add(Tensor a, float a_scale, int a_zero_point, int a_quant_min, int "
     "a_quant_max, Tensor b, float b_scale, int b_zero_point, int b_quant_min, int b_quant_max, "
     "float out_scale, int out_zero_point, int out_quant_min, int out_quant_max) -> Tensor",
     "quantized_decomposed::add.out", kPure, infer<add>},
};

}  // namespace

absl::Span<const OpRow> quantized_ops() { return kRows; }

}  // namespace petrel::exir::rules
