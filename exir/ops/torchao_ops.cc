// SPDX-License-Identifier: Apache-2.0
//
// torchao's quantisation in blocks: one scale and zero point for each block of
// `block_size` elements.
//
//   input [4,64], block_size [1,32]    scale and zero point [4,2]
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// How many blocks lie along each dim.
absl::StatusOr<Sizes> count_blocks(const BoundArguments& in) {
  Sizes counts = in.tensor("input").sizes;
  const Sizes block = in.ints("block_size");
  if (block.size() != counts.size()) {
    return invalid("argument 'block_size' has ", block.size(), " sizes, must have ", counts.size());
  }
  for (size_t i = 0; i < block.size(); ++i) {
    if (block[i] < 1 || counts[i] % block[i] != 0) {
      return invalid("argument 'block_size' has ", block[i], ", must divide ", counts[i]);
    }
    counts[i] /= block[i];
  }
  return counts;
}

absl::Status check_numbers(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(const Sizes counts, count_blocks(in));
  Size blocks = 1;
  for (const Size& count : counts) blocks *= count;
  for (const char* name : {"scale", "zero_point"}) {
    if (!in.given(name) || in.tensor(name).numel() == blocks) continue;
    return invalid("argument '", name, "' has ", in.tensor(name).numel(), " elements, must have ",
                   blocks, ", one for each block");
  }
  return absl::OkStatus();
}

Inferred choose(const BoundArguments& in) {
  const TensorType& input = in.tensor("input");
  const std::string mapping = in.text("mapping_type");
  const bool is_symmetric = mapping == "SYMMETRIC" || mapping == "SYMMETRIC_NO_CLIPPING_ERR";
  if (!is_symmetric && mapping != "ASYMMETRIC") {
    return invalid("argument 'mapping_type' is '", mapping,
                   "', must be 'SYMMETRIC', 'SYMMETRIC_NO_CLIPPING_ERR' or 'ASYMMETRIC'");
  }
  PETREL_ASSIGN_OR_RETURN(const Sizes counts, count_blocks(in));
  const Sizes block = in.ints("block_size");
  Sizes sizes;
  for (size_t i = 0; i < counts.size(); ++i) {
    const bool stays = in.flag("keepdim") || block[i] == 1 || block[i] != input.sizes[i];
    if (stays) sizes.push_back(counts[i]);
  }
  const ScalarType unnamed = is_symmetric ? input.dtype : ScalarType::kInt;
  return std::vector<Type>{
      TensorType::contiguous(in.dtype("scale_dtype").value_or(input.dtype), sizes),
      TensorType::contiguous(in.dtype("zero_point_dtype").value_or(unnamed), sizes)};
}

Inferred quantize(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_numbers(in));
  const auto dtype = in.dtype("output_dtype");
  if (!dtype || !is_integral(*dtype)) {
    return invalid("argument 'output_dtype' must be an integer type");
  }
  return one(*dtype, in.tensor("input").sizes);
}

Inferred dequantize(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_numbers(in));
  return one(in.dtype("output_dtype").value_or(ScalarType::kFloat), in.tensor("input").sizes);
}

constexpr OpRow kRows[] = {
    {"torchao::choose_qparams_affine(Tensor? input, str mapping_type, SymInt[] block_size, "
     "ScalarType target_dtype, Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, "
     "ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, bool keepdim=False) -> "
     "(Tensor, Tensor)",
     "", kPure, infer<choose>},
    {"torchao::quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? "
     "zero_point, ScalarType output_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> "
     "Tensor",
     "", kPure, infer<quantize>},
    {"torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? "
     "zero_point, ScalarType input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, "
     "ScalarType output_dtype=6) -> Tensor",
     "", kPure, infer<dequantize>},
};

}  // namespace

absl::Span<const OpRow> torchao_ops() { return kRows; }

}  // namespace petrel::exir::rules
