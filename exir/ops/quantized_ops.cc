// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

bool holds(ScalarType type, int64_t level) {
  const auto bits = static_cast<int64_t>(item_size(type)) * 8;
  const bool is_unsigned = type == ScalarType::kByte || type == ScalarType::kUInt16 ||
                           type == ScalarType::kUInt32 || type == ScalarType::kUInt64;
  if (bits == 64) return !is_unsigned || level >= 0;
  const int64_t end = int64_t{1} << (is_unsigned ? bits : bits - 1);
  return level < end && level >= (is_unsigned ? 0 : -end);
}

// Whether `dtype` and the levels between quant_min and quant_max are ones of integers.
// Levels in tensors are not known.
absl::Status check_levels(const BoundArguments& in) {
  const auto dtype = in.dtype("dtype");
  if (!dtype || !is_integral(*dtype)) {
    return invalid("argument 'dtype' must be an integer type");
  }
  if (in.at("quant_min").is_value()) return absl::OkStatus();
  const int64_t low = in.integer("quant_min");
  const int64_t high = in.integer("quant_max");
  if (low <= high && holds(*dtype, low) && holds(*dtype, high)) return absl::OkStatus();
  return invalid("arguments 'quant_min' and 'quant_max' are ", low, " and ", high,
                 ", must be a range within ", std::string(scalar_type_name(*dtype)));
}

absl::Status check_floating(const TensorType& tensor, const char* name) {
  if (is_floating_point(tensor.dtype)) return absl::OkStatus();
  return invalid("argument '", name, "' has type ", std::string(scalar_type_name(tensor.dtype)),
                 ", must have a floating-point one");
}

// How many scales a call needs: one for the tensor, or for each index of an axis, row of
// the last dimension (a token) or group of a row.
absl::StatusOr<Size> count_scales(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  if (in.has("scale")) return Size(1);
  if (in.has("axis")) {
    PETREL_ASSIGN_OR_RETURN(const int64_t axis, in.dim("axis", input.rank()));
    if (input.rank() == 0) return invalid("argument 'input' has no dimension");
    return input.sizes[static_cast<size_t>(axis)];
  }
  if (input.rank() == 0) return invalid("argument 'input' has no dimension");
  Size rows = 1;
  for (size_t i = 0; i + 1 < input.rank(); ++i) rows *= input.sizes[i];
  if (!in.has("group_size")) return rows;
  const Size group = in.integer("group_size");
  if (input.rank() != 2) {
    return invalid("argument 'input' has rank ", input.rank(), ", must have 2");
  }
  if (group < 1 || input.sizes[1] % group != 0) {
    return invalid("argument 'group_size' is ", group, ", must divide rows of ", input.sizes[1]);
  }
  return rows * (input.sizes[1] / group);
}

// A scale and zero point that are written in the program: those of tensors check_quantisation
// looks at.
absl::Status check_numbers(const BoundArguments& in) {
  if (in.at("scale").is_number()) {
    const double scale = in.number("scale");
    constexpr double kLeast = std::numeric_limits<float>::min();
    constexpr double kMost = std::numeric_limits<float>::max();
    if (!(scale >= kLeast && scale <= kMost)) {
      return invalid("argument 'scale' is ", scale, ", must be a positive, normal number of f32");
    }
  }
  if (!in.at("zero_point").is_int()) return absl::OkStatus();
  const int64_t zero_point = in.integer("zero_point");
  if (holds(*in.dtype("dtype"), zero_point)) return absl::OkStatus();
  return invalid("argument 'zero_point' is ", zero_point, ", must be one of ",
                 std::string(scalar_type_name(*in.dtype("dtype"))));
}

absl::Status check_scales(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(const Size count, count_scales(in));
  const bool is_one = in.has("scale");
  if (is_one) PETREL_RETURN_IF_ERROR(check_numbers(in));
  const char* scale = is_one ? "scale" : "scales";
  const char* zero_point = is_one ? "zero_point" : "zero_points";
  for (const char* name : {scale, zero_point}) {
    if (!in.given(name) || !in.at(name).is_value()) continue;
    const TensorType& tensor = in.tensor(name);
    if (name == scale) PETREL_RETURN_IF_ERROR(check_floating(tensor, name));
    if (tensor.numel() == count) continue;
    return invalid("argument '", name, "' has ", tensor.numel(), " elements, must have ", count);
  }
  return absl::OkStatus();
}

Inferred quantize(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  PETREL_RETURN_IF_ERROR(check_floating(input, "input"));
  PETREL_RETURN_IF_ERROR(check_levels(in));
  PETREL_RETURN_IF_ERROR(check_scales(in));
  return one(*in.dtype("dtype"), input.sizes);
}

Inferred dequantize(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  PETREL_RETURN_IF_ERROR(check_levels(in));
  if (in.dtype("dtype") != input.dtype) {
    return invalid("argument 'dtype' is ", std::string(scalar_type_name(*in.dtype("dtype"))),
                   ", argument 'input' has type ", std::string(scalar_type_name(input.dtype)));
  }
  PETREL_RETURN_IF_ERROR(check_scales(in));
  const char* name = in.has("output_dtype") ? "output_dtype" : "out_dtype";
  const ScalarType output = in.dtype(name).value_or(ScalarType::kFloat);
  if (!is_floating_point(output)) {
    return invalid("argument '", name, "' is ", std::string(scalar_type_name(output)),
                   ", must be a floating-point type");
  }
  return one(output, input.sizes);
}

Inferred choose_qparams(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_floating(in.tensor("input"), "input"));
  constexpr int64_t kBound = INT32_MAX;
  const int64_t low = in.integer("quant_min");
  const int64_t high = in.integer("quant_max");
  if (low < -kBound || high > kBound || low >= high) {
    return invalid("arguments 'quant_min' and 'quant_max' are ", low, " and ", high,
                   ", must be a range of several levels within 32 bits");
  }
  return std::vector<Type>{TensorType::contiguous(ScalarType::kDouble, {1}),
                           TensorType::contiguous(ScalarType::kLong, {1})};
}

// One pair for each row of the last dimension.
Inferred choose_for_rows(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_floating(in.tensor("input"), "input"));
  Sizes sizes = in.tensor("input").sizes;
  if (sizes.empty()) return invalid("argument 'input' has no dimension");
  sizes.back() = 1;
  return std::vector<Type>{TensorType::contiguous(ScalarType::kDouble, sizes),
                           TensorType::contiguous(ScalarType::kLong, sizes)};
}

// The same around 0, for which PyTorch has levels of i8 alone.
Inferred choose_around_zero_for_rows(const BoundArguments& in) {
  if (in.dtype("dtype") == ScalarType::kChar) return choose_for_rows(in);
  return invalid("argument 'dtype' is ", std::string(scalar_type_name(*in.dtype("dtype"))),
                 ", must be i8");
}

// Rounded to levels of channels, and dequantised again.
Inferred fake_quantize(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  const int64_t low = in.integer("quant_min");
  const int64_t high = in.integer("quant_max");
  if (low < INT32_MIN || high > INT32_MAX || low > high) {
    return invalid("arguments 'quant_min' and 'quant_max' are ", low, " and ", high,
                   ", must be a range within 32 bits");
  }
  if (input.dtype != ScalarType::kFloat) {
    return invalid("argument 'input' has type ", std::string(scalar_type_name(input.dtype)),
                   ", must be f32");
  }
  PETREL_RETURN_IF_ERROR(check_scales(in));
  return one(input);
}

Inferred convert(const BoundArguments& in) {
  return one(*in.dtype("dtype"), in.tensor("input").sizes);
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
  if (weight.dtype != ScalarType::kByte && (kPerByte > 1 || weight.dtype != ScalarType::kChar)) {
    return invalid("argument 'weight' has type ", std::string(scalar_type_name(weight.dtype)),
                   ", must have u8", kPerByte > 1 ? "" : " or i8");
  }
  PETREL_RETURN_IF_ERROR(check_floating(scales, "weight_scales"));
  const Size columns = weight.sizes[1] * kPerByte;
  const Size groups = scales.rank() == 2 ? scales.sizes[1] : Size(1);
  if (groups < 1 || columns % groups != 0) {
    return invalid("argument 'weight_scales' has ", groups, " groups, must divide rows of ",
                   columns);
  }
  if (in.given("weight_zero_points") && in.tensor("weight_zero_points").sizes != scales.sizes) {
    return invalid("argument 'weight_zero_points' is [",
                   absl::StrJoin(in.tensor("weight_zero_points").sizes, ","), "], must be [",
                   absl::StrJoin(scales.sizes, ","), "]");
  }
  PETREL_RETURN_IF_ERROR(check_index_dtype(in.tensor("indices")));
  const ScalarType dtype = in.dtype("dtype").value_or(scales.dtype);
  if (!is_floating_point(dtype)) {
    return invalid("argument 'dtype' is ", std::string(scalar_type_name(dtype)),
                   ", must be one of floats");
  }
  Sizes sizes = in.tensor("indices").sizes;
  sizes.push_back(columns);
  return one(dtype, std::move(sizes));
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
     infer<choose_for_rows>},
    {"quantized_decomposed::_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType "
     "dtype) -> (Tensor, Tensor)",
     "", kPure, infer<choose_for_rows>},
    {"quantized_decomposed::choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, "
     "Tensor)",
     "", kPure, infer<choose_around_zero_for_rows>},
    {"quantized_decomposed::fake_quant_per_channel(Tensor input, Tensor scales, Tensor "
     "zero_points, int axis, int quant_min, int quant_max) -> Tensor",
     "", kPure | kElementwise, infer<fake_quantize>},
    {"quantized_decomposed::convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> "
     "Tensor",
     "", kPure | kElementwise, infer<convert>},
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
