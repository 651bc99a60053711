// SPDX-License-Identifier: Apache-2.0
//
// Floats that are rounded to levels and stay floats, as training for integers leaves them in
// a network.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

absl::Status check_levels(const BoundArguments& in) {
  const int64_t low = in.integer("quant_min");
  const int64_t high = in.integer("quant_max");
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (low < kLeast || high > kMost || low > high) {
    return invalid("arguments 'quant_min' and 'quant_max' are ", low, " and ", high,
                   ", must be a range within 32 bits");
  }
  if (!in.at("zero_point").is_int()) return absl::OkStatus();
  const int64_t zero_point = in.integer("zero_point");
  if (zero_point >= low && zero_point <= high) return absl::OkStatus();
  return invalid("argument 'zero_point' is ", zero_point, ", must be within [", low, ", ", high,
                 "]");
}

// Tensors with `count` scales and zero points.
absl::Status check_tensors(const BoundArguments& in, const Size& count) {
  for (const char* name : {"scale", "zero_point"}) {
    const TensorType& tensor = in.tensor(name);
    const bool is_scale = name[0] == 's';
    if (is_scale ? !is_floating_point(tensor.dtype) : !is_integral(tensor.dtype)) {
      return invalid("argument '", name, "' is ", std::string(scalar_type_name(tensor.dtype)),
                     ", must be of ", is_scale ? "floats" : "integers");
    }
    if (tensor.numel() == count) continue;
    return invalid("argument '", name, "' has ", tensor.numel(), " elements, must have ", count);
  }
  return absl::OkStatus();
}

Inferred fake_quantize(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (!is_floating_point(self.dtype)) {
    return invalid("argument 'self' is ", std::string(scalar_type_name(self.dtype)),
                   ", must be of floats");
  }
  PETREL_RETURN_IF_ERROR(check_levels(in));
  if (in.has("axis")) {
    PETREL_ASSIGN_OR_RETURN(const int64_t axis, in.dim("axis", self.rank()));
    if (self.rank() == 0) return invalid("argument 'self' has no dimension");
    PETREL_RETURN_IF_ERROR(check_tensors(in, self.sizes[static_cast<size_t>(axis)]));
  } else if (in.at("scale").is_value()) {
    PETREL_RETURN_IF_ERROR(check_tensors(in, 1));
  } else if (!(in.number("scale") >= std::numeric_limits<float>::min() &&
               in.number("scale") <= std::numeric_limits<float>::max())) {
    return invalid("argument 'scale' is ", in.number("scale"),
                   ", must be a positive, normal number of f32");
  }
  return one(self);
}

// And which elements lie within the levels.
Inferred fake_quantize_and_mask(const BoundArguments& in) {
  if (in.has("fake_quant_enabled") && in.tensor("fake_quant_enabled").numel() != 1) {
    return invalid("argument 'fake_quant_enabled' has ", in.tensor("fake_quant_enabled").numel(),
                   " elements, must have 1");
  }
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, fake_quantize(in));
  types.push_back(TensorType::contiguous(ScalarType::kBool, in.tensor("self").sizes));
  return types;
}

constexpr OpRow kRows[] = {
    {"aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int "
     "quant_min, int quant_max) -> Tensor",
     "", kPure, infer<fake_quantize>},
    {"aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor "
     "zero_point, int quant_min, int quant_max) -> Tensor",
     "", kPure, infer<fake_quantize>},
    {"aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int "
     "axis, int quant_min, int quant_max) -> Tensor",
     "", kPure, infer<fake_quantize>},
    {"aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, "
     "int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
     "", kPure, infer<fake_quantize_and_mask>},
    {"aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, "
     "Tensor zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max) -> (Tensor "
     "output, Tensor mask)",
     "", kPure, infer<fake_quantize_and_mask>},
    {"aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor "
     "zero_point, int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
     "", kPure, infer<fake_quantize_and_mask>},
};

}  // namespace

absl::Span<const OpRow> fake_quantize_ops() { return kRows; }

}  // namespace petrel::exir::rules
