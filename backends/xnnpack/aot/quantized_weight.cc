// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/quantized_weight.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/xnnpack/aot/arguments.h"
#include "backends/xnnpack/aot/dynamic_input.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/format/quantization.h"
#include "backends/xnnpack/format/scale_ratios.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/status_macros.h"

namespace petrel::backends::xnnpack::aot {
namespace {

namespace quantized = exir::quantized_decomposed;

bool is_int8(const exir::Node& node) {
  return node.argument(arg::dtype).is_scalar_type() &&
         node.argument(arg::dtype).as_scalar_type() == exir::ScalarType::kChar;
}

// What is computed from the scales of `weight` and from `other`, which may be null. What
// is not told by names of weights is told by the recipe, so that two ways of computing
// have two keys: the numbers that lie in the program, and which scales they are.
MadeOf made_of(const exir::Constant* other, const StoredWeight& weight, const char* what,
               float input_scale) {
  MadeOf made;
  if (other != nullptr) made.weights.push_back(other);
  std::string text = absl::StrFormat("%d %d %a", weight.axis, weight.group_size, input_scale);
  if (weight.scale_constant != nullptr) {
    made.weights.push_back(weight.scale_constant.get());
    absl::StrAppend(&text, " ", weight.scale_constant->fqn);
  } else {
    for (const float scale : weight.scales) absl::StrAppendFormat(&text, " %a", scale);
  }
  if (weight.zero_point != 0) absl::StrAppend(&text, " z", weight.zero_point);
  const exir::Sha256 digest = exir::sha256_of(
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  made.recipe = absl::StrCat(what, "_", exir::to_hex(digest).substr(0, 16));
  return made;
}

// The scales of a weight, `form` of their own numbers.
MadeOf made_scales(const StoredWeight& weight, const std::string& form) {
  if (weight.scale_constant == nullptr) return {};
  std::string recipe = form;
  if (weight.scale_constant->type.dtype != exir::ScalarType::kFloat)
    absl::StrAppend(&recipe, "f32");
  return {{weight.scale_constant.get()}, recipe};
}

// Scales and bias of a product of integers.
struct IntegerProduct {
  std::vector<float> bias_scales;  // input * filter
  std::vector<int32_t> bias;
};

// Nullopt where a number does not fit.
std::optional<IntegerProduct> integer_product(const FilterUse& p, const StoredWeight& weight,
                                              const TensorQuant& input, const TensorQuant& output) {
  IntegerProduct product;
  for (const float scale : weight.scales) {
    const float both = input.scale * scale;
    if (!check_scale(both).ok() || !check_filter_scale(input.scale, scale, output.scale).ok()) {
      return std::nullopt;
    }
    product.bias_scales.push_back(both);
  }
  if (p.bias == nullptr) return product;
  const auto numbers = exir::decode_constant(*p.bias->constant());
  if (!numbers.ok()) return std::nullopt;
  for (size_t i = 0; i < numbers->size(); ++i) {
    const size_t channel = weight.is_per_channel() ? i : 0;
    const double level =
        std::nearbyint((*numbers)[i] / static_cast<double>(product.bias_scales[channel]));
    if (!(std::fabs(level) <= static_cast<double>(INT32_MAX))) return std::nullopt;
    product.bias.push_back(static_cast<int32_t>(level));
  }
  return product;
}

// A scale that is a weight lies where others can take its place, not in the payload.
bool has_scales_of_channels(const StoredWeight& weight) {
  return weight.is_per_channel() || weight.scale_constant != nullptr;
}

absl::StatusOr<uint32_t> add_integer_bias(Lowering& l, const IntegerProduct& product,
                                          const exir::Constant& bias, const StoredWeight& weight,
                                          float input_scale) {
  const MadeOf made = made_of(&bias, weight, "int32", input_scale);
  QuantParams quant;
  if (has_scales_of_channels(weight)) {
    std::vector<float> scales = product.bias_scales;
    std::string form = absl::StrFormat("times_%a", input_scale);
    if (!weight.is_per_channel()) {
      scales.resize(product.bias.size(), scales[0]);
      absl::StrAppend(&form, "x", scales.size());
    }
    PETREL_ASSIGN_OR_RETURN(quant.scales, l.scales(made_scales(weight, form), scales));
    return l.integers(made, product.bias, Datatype::QCINT32, Quantization::kPerChannel, quant);
  }
  quant.scale = product.bias_scales[0];
  return l.integers(made, product.bias, Datatype::QINT32, Quantization::kPerTensor, quant);
}

bool is_by_output(const StoredWeight& weight, size_t axis, int64_t outputs) {
  if (weight.group_size != 0) return false;
  return !weight.is_per_channel() ||
         (weight.axis == axis && outputs == static_cast<int64_t>(weight.scales.size()));
}

absl::StatusOr<uint32_t> add_float_bias(Lowering& l, const exir::Value* bias) {
  if (bias == nullptr) return kNoId;
  return l.constant(bias, WeightView::of(*bias->constant()));
}

// `half` as f32, lying as it does.
exir::ConstantPtr widened(const exir::Constant& half) {
  auto constant = std::make_shared<exir::Constant>();
  constant->kind = exir::Constant::Kind::kLiteral;
  constant->fqn = half.fqn + "@float";
  constant->type = half.type;
  constant->type.dtype = exir::ScalarType::kFloat;
  const auto count = static_cast<size_t>(half.type.numel());
  const auto produce = [data = half.data, count](absl::Span<uint8_t> out) {
    const exir::Blob::Bytes bytes = data.bytes();
    for (size_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(
          exir::decode_element(bytes.data() + i * sizeof(uint16_t), exir::ScalarType::kHalf));
      std::memcpy(out.data() + i * sizeof(value), &value, sizeof(value));
    }
  };
  constant->data = exir::Blob::produced(count * sizeof(float), produce);
  return constant;
}

// XNNPACK has convolutions of f16 with filters and biases of f32 only.
bool is_widened(const FilterUse& p) {
  return p.layout == Layout::kChannelsLast && p.input->tensor().dtype == exir::ScalarType::kHalf;
}

absl::StatusOr<uint32_t> add_widened(Lowering& l, const exir::Constant& half,
                                     const WeightView& view, const Dims& dims) {
  return l.made_constant({{&half}, "f32"}, widened(half), view, dims);
}

// As floats, each for itself; `stored` is null where the weight is of floats.
absl::StatusOr<ProductIds> add_floats(Lowering& l, const FilterUse& p, const StoredWeight* stored) {
  ProductIds ids;
  PETREL_ASSIGN_OR_RETURN(ids.input, l.operand(p.input, p.layout));
  if (is_widened(p)) {
    PETREL_ASSIGN_OR_RETURN(ids.filter,
                            add_widened(l, *p.weight->constant(), p.filter, p.filter_dims));
    if (p.bias == nullptr) return ids;
    const exir::Constant& bias = *p.bias->constant();
    PETREL_ASSIGN_OR_RETURN(ids.bias, add_widened(l, bias, WeightView::of(bias),
                                                  {static_cast<uint32_t>(bias.type.numel())}));
    return ids;
  }
  if (stored == nullptr) {
    PETREL_ASSIGN_OR_RETURN(ids.filter, l.constant(p.weight->constant(), p.filter, p.filter_dims));
  } else {
    PETREL_ASSIGN_OR_RETURN(ids.filter, l.made_constant(made_in_floats(*stored), in_floats(*stored),
                                                        p.filter, p.filter_dims));
  }
  PETREL_ASSIGN_OR_RETURN(ids.bias, add_float_bias(l, p.bias));
  return ids;
}

// Whether it is linear with a weight of [outputs, inputs].
bool is_rows(const FilterUse& p) {
  return p.layout == Layout::kPlain && p.filter_axis == 0 && p.filter_dims.size() == 2;
}

absl::StatusOr<uint32_t> add_groups(Lowering& l, const FilterUse& p, const StoredWeight& weight) {
  QuantParams quant;
  quant.group_size = static_cast<uint32_t>(weight.group_size);
  PETREL_ASSIGN_OR_RETURN(quant.scales, l.scales(made_scales(weight, "bf16"), weight.scales,
                                                 exir::ScalarType::kBFloat16));
  return l.quantized_constant(weight.constant, p.filter, p.filter_dims, Datatype::QBINT4,
                              Quantization::kPerGroup, quant);
}

// XNNPACK has scales for each channel only, so that one for all is repeated.
absl::StatusOr<uint32_t> add_channels(Lowering& l, const FilterUse& p, const StoredWeight& weight,
                                      Datatype datatype) {
  QuantParams quant;
  quant.axis = p.filter_axis;
  const uint32_t channels = p.filter_dims[p.filter_axis];
  const std::vector<float> alike(channels, weight.scales[0]);
  // One channel has its own scale, whatever it is called.
  const bool is_own = weight.is_per_channel() || channels == 1;
  PETREL_ASSIGN_OR_RETURN(quant.scales,
                          l.scales(made_scales(weight, is_own ? "" : absl::StrCat("x", channels)),
                                   weight.is_per_channel() ? weight.scales : alike));
  return l.quantized_constant(weight.constant, p.filter, p.filter_dims, datatype,
                              Quantization::kPerChannel, quant);
}

absl::StatusOr<uint32_t> add_integers(Lowering& l, const FilterUse& p, const StoredWeight& weight) {
  if (weight.group_size != 0) return add_groups(l, p, weight);
  return add_channels(l, p, weight,
                      weight.is_4_bit && is_rows(p) ? Datatype::QCINT4 : Datatype::QCINT8);
}

absl::StatusOr<ProductIds> add_quantized_at_run_time(Lowering& l, const FilterUse& p,
                                                     const exir::Value* source,
                                                     const StoredWeight& weight) {
  ProductIds ids;
  PETREL_ASSIGN_OR_RETURN(ids.input, l.quantized_at_run_time(source, p.layout));
  PETREL_ASSIGN_OR_RETURN(ids.filter, add_integers(l, p, weight));
  PETREL_ASSIGN_OR_RETURN(ids.bias, add_float_bias(l, p.bias));
  return ids;
}

// What XNNPACK wants as bias where it multiplies floats by integers: it scales sum and
// bias together. Nullopt where that is infinite.
std::optional<std::vector<float>> unscaled_bias(const FilterUse& p, const StoredWeight& weight) {
  const auto numbers = exir::decode_constant(*p.bias->constant());
  if (!numbers.ok()) return std::nullopt;
  std::vector<float> bias;
  for (size_t i = 0; i < numbers->size(); ++i) {
    const float scale = weight.scales[weight.is_per_channel() ? i : 0];
    bias.push_back(static_cast<float>((*numbers)[i] / static_cast<double>(scale)));
    if (!std::isfinite(bias.back())) return std::nullopt;
  }
  return bias;
}

// Floats by integers.
absl::StatusOr<ProductIds> add_mixed(Lowering& l, const FilterUse& p, const StoredWeight& weight) {
  std::optional<std::vector<float>> bias;
  if (p.bias != nullptr) {
    bias = unscaled_bias(p, weight);
    if (!bias) return add_floats(l, p, &weight);
  }
  ProductIds ids;
  PETREL_ASSIGN_OR_RETURN(ids.input, l.operand(p.input, p.layout));
  PETREL_ASSIGN_OR_RETURN(ids.filter, add_integers(l, p, weight));
  if (!bias) return ids;
  PETREL_ASSIGN_OR_RETURN(ids.bias,
                          l.floats(made_of(p.bias->constant().get(), weight, "unscaled", 1),
                                   {static_cast<uint32_t>(bias->size())}, *bias));
  return ids;
}

}  // namespace

MadeOf made_in_floats(const StoredWeight& weight) {
  return made_of(weight.constant.get(), weight, "float", 1);
}

QuantParams TensorQuant::params() const {
  QuantParams quant;
  quant.scale = scale;
  quant.zero_point = zero_point;
  return quant;
}

std::optional<TensorQuant> tensor_quant(const exir::Node& node) {
  if (!node.is(quantized::quantize_per_tensor, quantized::dequantize_per_tensor)) {
    return std::nullopt;
  }
  const auto scale = number_argument(node.argument(arg::scale));
  const auto zero_point = number_argument(node.argument(arg::zero_point));
  if (!is_int8(node) || !scale || !zero_point || *zero_point < INT8_MIN || *zero_point > INT8_MAX ||
      !check_scale(static_cast<float>(*scale)).ok()) {
    return std::nullopt;
  }
  if (node.is(quantized::quantize_per_tensor)) {
    const auto low = number_argument(node.argument(arg::quant_min));
    const auto high = number_argument(node.argument(arg::quant_max));
    // Ranges that are symmetric lack the level -128, which numbers below them may get: one
    // beside that of -127.
    if (!low || !high || *low > INT8_MIN + 1 || *high != INT8_MAX) return std::nullopt;
  }
  return TensorQuant{static_cast<float>(*scale), static_cast<int32_t>(*zero_point)};
}

std::optional<TensorQuant> quantized_by_user(const exir::Value* value) {
  if (!value->has_single_user() || !value->users()[0]->is(quantized::quantize_per_tensor)) {
    return std::nullopt;
  }
  return tensor_quant(*value->users()[0]);
}

std::optional<TensorQuant> quantized_input(const exir::Value* value) {
  const exir::Node* producer = value->producer();
  if (producer == nullptr || !producer->is(quantized::dequantize_per_tensor) ||
      producer->input(arg::input)->is_constant()) {
    return std::nullopt;
  }
  return tensor_quant(*producer);
}

exir::Support check_groups(const StoredWeight& weight) {
  if (!weight.is_4_bit) return exir::Support::no("XNNPACK has groups of 4 bits only");
  if (weight.group_size % kGroupUnit == 0) return exir::Support::yes();
  return exir::Support::no(absl::StrCat("groups have ", weight.group_size,
                                        " elements, must have a multiple of ", kGroupUnit));
}

std::optional<StoredWeight> stored_filter(const exir::Value* input, const exir::Value* weight) {
  std::optional<StoredWeight> found = stored_weight(weight);
  if (found || dynamic_source(input) == nullptr) return found;
  found = stored_with_zero_points(weight);
  if (!found || found->constant->type.rank() != 2 || found->axis != 0) return std::nullopt;
  const bool is_by_row =
      found->scales.size() == static_cast<size_t>(found->constant->type.sizes[0]);
  return found->group_size != 0 || is_by_row ? std::move(found) : std::nullopt;
}

exir::Support check_dynamic_filter(const exir::Value* weight, size_t axis, int64_t outputs) {
  std::optional<StoredWeight> stored = stored_weight(weight);
  if (!stored && axis == 0) stored = stored_with_zero_points(weight);
  if (!stored) return exir::Support::no("its weight is not stored as i8 without zero points");
  if (stored->group_size != 0) {
    return axis == 0 ? check_groups(*stored) : exir::Support::no("its weight has groups");
  }
  if (is_by_output(*stored, axis, outputs)) return exir::Support::yes();
  return exir::Support::no("the scales of its weight are not those of its output channels");
}

absl::StatusOr<ProductIds> add_operands(Lowering& l, const FilterUse& p) {
  if (p.weight->is_constant()) return add_floats(l, p, nullptr);
  const std::optional<StoredWeight> weight = stored_filter(p.input, p.weight);
  if (!weight) return absl::InvalidArgumentError("weight is computed at run time");
  const bool is_by_channel =
      is_by_output(*weight, p.weight_axis, int64_t{p.filter_dims[p.filter_axis]});
  if (const exir::Value* source = dynamic_source(p.input)) {
    return add_quantized_at_run_time(l, p, source, *weight);
  }
  const std::optional<TensorQuant> input = quantized_input(p.input);
  const std::optional<TensorQuant> output = quantized_by_user(p.result);
  std::optional<IntegerProduct> product;
  if (input && output && is_by_channel) product = integer_product(p, *weight, *input, *output);
  if (!product && is_by_channel && is_rows(p)) return add_mixed(l, p, *weight);
  if (!product) return add_floats(l, p, &*weight);

  ProductIds ids;
  PETREL_ASSIGN_OR_RETURN(ids.input, l.operand(p.input, p.layout));
  if (has_scales_of_channels(*weight)) {
    PETREL_ASSIGN_OR_RETURN(ids.filter, add_channels(l, p, *weight, Datatype::QCINT8));
  } else {
    QuantParams quant;
    quant.scale = weight->scales[0];
    PETREL_ASSIGN_OR_RETURN(
        ids.filter, l.quantized_constant(weight->constant, p.filter, p.filter_dims, Datatype::QINT8,
                                         Quantization::kPerTensor, quant));
  }
  if (p.bias == nullptr) return ids;
  PETREL_ASSIGN_OR_RETURN(
      ids.bias, add_integer_bias(l, *product, *p.bias->constant(), *weight, input->scale));
  return ids;
}

}  // namespace petrel::backends::xnnpack::aot
