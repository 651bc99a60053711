// SPDX-License-Identifier: Apache-2.0
//
// Operators of levels of 8 bits that need no floats (docs/int8.md). exir/integer makes them.
#include <algorithm>
#include <string>
#include <utility>

#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

absl::Status check_levels(const BoundArguments& in, const char* name) {
  const ScalarType dtype = in.tensor(name).dtype;
  if (dtype == ScalarType::kChar || dtype == ScalarType::kByte) return absl::OkStatus();
  return invalid("argument '", name, "' has type ", std::string(scalar_type_name(dtype)),
                 ", must have i8 or u8");
}

// The type of the result, in which `least` and `most` are a range.
absl::StatusOr<ScalarType> target(const BoundArguments& in) {
  const auto dtype = in.dtype("dtype");
  if (!dtype || (*dtype != ScalarType::kChar && *dtype != ScalarType::kByte)) {
    return invalid("argument 'dtype' must be i8 or u8");
  }
  const bool is_signed = *dtype == ScalarType::kChar;
  const int64_t least = in.integer("least"), most = in.integer("most");
  if (least > most || least < (is_signed ? -128 : 0) || most > (is_signed ? 127 : 255)) {
    return invalid("arguments 'least' and 'most' are ", least, " and ", most,
                   ", must be a range within ", std::string(scalar_type_name(*dtype)));
  }
  return *dtype;
}

absl::Status check_shift(const BoundArguments& in) {
  const int64_t shift = in.integer("shift");
  if (shift >= 1 && shift <= 62) return absl::OkStatus();
  return invalid("argument 'shift' is ", shift, ", must be in [1, 62]");
}

// Numbers of the weight's channels: multipliers, shifts and perhaps a bias.
absl::Status check_channels(const BoundArguments& in) {
  const Sizes channels = {in.tensor("weight").sizes[0]};
  const std::pair<const char*, ScalarType> all[] = {
      {"multiplier", ScalarType::kInt}, {"shift", ScalarType::kChar}, {"bias", ScalarType::kInt}};
  for (const auto& [name, dtype] : all) {
    if (!in.given(name)) continue;
    const TensorType& tensor = in.tensor(name);
    if (tensor.dtype == dtype && tensor.sizes == channels) continue;
    return invalid("argument '", name, "' must be ", std::string(scalar_type_name(dtype)),
                   " with one element for each of ", channels[0], " channels");
  }
  return absl::OkStatus();
}

Inferred table(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_levels(in, "input"));
  PETREL_RETURN_IF_ERROR(check_levels(in, "table"));
  if (in.tensor("table").sizes != Sizes{256}) {
    return invalid("argument 'table' must have 256 entries");
  }
  return one(in.tensor("table").dtype, in.tensor("input").sizes);
}

Inferred combined(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_levels(in, "self"));
  PETREL_RETURN_IF_ERROR(check_levels(in, "other"));
  PETREL_RETURN_IF_ERROR(check_shift(in));
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, target(in));
  PETREL_ASSIGN_OR_RETURN(Sizes sizes,
                          broadcast_sizes({in.tensor("self").sizes, in.tensor("other").sizes}));
  return one(dtype, std::move(sizes));
}

Inferred matmul(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_levels(in, "self"));
  PETREL_RETURN_IF_ERROR(check_levels(in, "other"));
  PETREL_RETURN_IF_ERROR(check_shift(in));
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, target(in));
  Sizes sizes = in.tensor("self").sizes;
  const Sizes& other = in.tensor("other").sizes;
  const size_t rank = sizes.size();
  if (rank != other.size() || rank < 2 || rank > 3 || sizes[rank - 1] != other[rank - 2] ||
      (rank == 3 && sizes[0] != other[0])) {
    return invalid("arguments 'self' and 'other' do not multiply");
  }
  sizes[rank - 1] = other[rank - 1];
  return one(dtype, std::move(sizes));
}

Inferred linear(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_levels(in, "input"));
  PETREL_RETURN_IF_ERROR(check_levels(in, "weight"));
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, target(in));
  const Sizes& weight = in.tensor("weight").sizes;
  Sizes sizes = in.tensor("input").sizes;
  if (weight.size() != 2 || sizes.empty() || sizes.back() != weight[1]) {
    return invalid("arguments 'input' and 'weight' do not multiply");
  }
  PETREL_RETURN_IF_ERROR(check_channels(in));
  sizes.back() = weight[0];
  return one(dtype, std::move(sizes));
}

Inferred convolution(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_levels(in, "input"));
  PETREL_RETURN_IF_ERROR(check_levels(in, "weight"));
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, target(in));
  const Sizes& weight = in.tensor("weight").sizes;
  Sizes sizes = in.tensor("input").sizes;
  const Size groups = in.integer("groups");
  if ((sizes.size() != 3 && sizes.size() != 4) || weight.size() != sizes.size() || groups < 1 ||
      weight[0] % groups != 0 || sizes[1] != weight[1] * groups) {
    return invalid("arguments 'input' and 'weight' do not convolve in ", groups, " groups");
  }
  PETREL_RETURN_IF_ERROR(check_channels(in));
  const size_t spatial = sizes.size() - 2;
  PETREL_ASSIGN_OR_RETURN(const Sizes stride, in.window("stride", spatial, 1));
  PETREL_ASSIGN_OR_RETURN(const Sizes padding, in.window("padding", spatial, 0));
  PETREL_ASSIGN_OR_RETURN(const Sizes dilation, in.window("dilation", spatial, 1));
  sizes[1] = weight[0];
  for (size_t i = 0; i < spatial; ++i) {
    const Size room = sizes[2 + i] + padding[i] * 2 - dilation[i] * (weight[2 + i] - 1) - 1;
    if (weight[2 + i] < 1 || room < 0) return invalid("the kernel does not fit dim ", 2 + i);
    sizes[2 + i] = room / stride[i] + 1;
  }
  return one(dtype, std::move(sizes));
}

// "first, end" and a divisor or step of each window of a dim.
absl::StatusOr<Size> count_windows(const BoundArguments& in, const char* name) {
  const size_t numbers = in.ints(name).size();
  if (numbers % 3 == 0) return Size(static_cast<int64_t>(numbers / 3));
  return invalid("argument '", name, "' has ", numbers, " numbers, must have three a window");
}

Inferred average(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_levels(in, "input"));
  PETREL_RETURN_IF_ERROR(check_shift(in));
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, target(in));
  Sizes sizes = in.tensor("input").sizes;
  if (sizes.size() < 2) return invalid("argument 'input' has rank ", sizes.size());
  PETREL_ASSIGN_OR_RETURN(sizes[sizes.size() - 2], count_windows(in, "rows"));
  PETREL_ASSIGN_OR_RETURN(sizes[sizes.size() - 1], count_windows(in, "columns"));
  return one(dtype, std::move(sizes));
}

Inferred max_pool(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_levels(in, "input"));
  TensorType out = in.tensor("input");
  if (out.rank() < 2) return invalid("argument 'input' has rank ", out.rank());
  PETREL_ASSIGN_OR_RETURN(out.sizes[out.rank() - 2], count_windows(in, "rows"));
  PETREL_ASSIGN_OR_RETURN(out.sizes[out.rank() - 1], count_windows(in, "columns"));
  return one(out);
}

Inferred softmax(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_levels(in, "input"));
  PETREL_RETURN_IF_ERROR(check_shift(in));
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, target(in));
  const TensorType& table = in.tensor("table");
  if (table.dtype != ScalarType::kInt || table.sizes != Sizes{256}) {
    return invalid("argument 'table' must have 256 entries of i32");
  }
  PETREL_RETURN_IF_ERROR(in.dim("dim", in.tensor("input").rank()).status());
  return one(dtype, in.tensor("input").sizes);
}

// `mask` has the last dims of the input.
Inferred masked_softmax(const BoundArguments& in) {
  const TensorType& mask = in.tensor("mask");
  const Sizes& sizes = in.tensor("input").sizes;
  if (mask.dtype != ScalarType::kBool) return invalid("argument 'mask' must be bool");
  if (mask.rank() > sizes.size() ||
      !std::equal(mask.sizes.rbegin(), mask.sizes.rend(), sizes.rbegin())) {
    return invalid("argument 'mask' must have the last dims of 'input'");
  }
  return softmax(in);
}

// Rows of `size`; elements have the numbers of `repeat` in a row, again from the first of them
// where they end.
Inferred norm(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_levels(in, "input"));
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, target(in));
  const TensorType& weight = in.tensor("weight");
  for (const char* name : {"weight", "bias"}) {
    const TensorType& tensor = in.tensor(name);
    if (tensor.dtype == ScalarType::kInt && tensor.rank() == 1 && tensor.sizes == weight.sizes) {
      continue;
    }
    return invalid("argument '", name, "' must be i32, as many as weights");
  }
  const Size size = in.integer("size"), repeat = in.integer("repeat");
  constexpr int64_t kMost = 1 << 20;
  if (size < 1 || size > kMost || repeat < 1 || repeat > kMost) {
    return invalid("arguments 'size' and 'repeat' are ", size, " and ", repeat, ", must be in [1, ",
                   kMost, "]");
  }
  return one(dtype, in.tensor("input").sizes);
}

constexpr OpRow kRows[] = {
    {"petrel::int8_table(Tensor input, Tensor table) -> Tensor", "petrel::int8_table.out", kPure,
     infer<table>},
    {"petrel::int8_add(Tensor self, Tensor other, int self_zero_point, int other_zero_point, "
     "int self_multiplier, int other_multiplier, int shift, int zero_point, int least, int most, "
     "ScalarType dtype) -> Tensor",
     "petrel::int8_add.out", kPure, infer<combined>},
    {"petrel::int8_mul(Tensor self, Tensor other, int self_zero_point, int other_zero_point, "
     "int multiplier, int shift, int zero_point, int least, int most, ScalarType dtype) -> Tensor",
     "petrel::int8_mul.out", kPure, infer<combined>},
    {"petrel::int8_matmul(Tensor self, Tensor other, int self_zero_point, int other_zero_point, "
     "int multiplier, int shift, int zero_point, int least, int most, ScalarType dtype) -> Tensor",
     "petrel::int8_matmul.out", kPure, infer<matmul>},
    {"petrel::int8_linear(Tensor input, Tensor weight, Tensor? bias, Tensor multiplier, "
     "Tensor shift, int input_zero_point, int zero_point, int least, int most, ScalarType dtype) "
     "-> Tensor",
     "petrel::int8_linear.out", kPure, infer<linear>},
    {"petrel::int8_convolution(Tensor input, Tensor weight, Tensor? bias, Tensor multiplier, "
     "Tensor shift, int[] stride, int[] padding, int[] dilation, int groups, "
     "int input_zero_point, int zero_point, int least, int most, ScalarType dtype) -> Tensor",
     "petrel::int8_convolution.out", kPure, infer<convolution>},
    {"petrel::int8_average(Tensor input, int[] rows, int[] columns, int input_zero_point, "
     "int multiplier, int shift, int zero_point, int least, int most, ScalarType dtype) -> Tensor",
     "petrel::int8_average.out", kPure, infer<average>},
    {"petrel::int8_max_pool(Tensor input, int[] rows, int[] columns) -> Tensor",
     "petrel::int8_max_pool.out", kPure, infer<max_pool>},
    {"petrel::int8_softmax(Tensor input, int dim, Tensor table, int multiplier, int shift, "
     "int zero_point, int least, int most, ScalarType dtype) -> Tensor",
     "petrel::int8_softmax.out", kPure, infer<softmax>},
    {"petrel::int8_masked_softmax(Tensor input, Tensor mask, int dim, Tensor table, "
     "int multiplier, int shift, int zero_point, int least, int most, ScalarType dtype) -> Tensor",
     "petrel::int8_masked_softmax.out", kPure, infer<masked_softmax>},
    {"petrel::int8_norm(Tensor input, SymInt size, SymInt repeat, Tensor weight, Tensor bias, "
     "SymInt epsilon, int spread, int shift, int zero_point, int least, int most, ScalarType "
     "dtype) "
     "-> Tensor",
     "petrel::int8_norm.out", kPure, infer<norm>},
};

}  // namespace

absl::Span<const OpRow> int8_ops() { return kRows; }

}  // namespace petrel::exir::rules
