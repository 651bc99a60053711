// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/quantized_weight.h"

#include <cmath>
#include <cstring>
#include <utility>

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

bool is_fixed(const exir::Value* value) {
  return value->is_constant() && !value->constant()->is_mutable();
}

bool is_int8(const exir::Node& node) {
  return node.argument(arg::dtype).is_scalar_type() &&
         node.argument(arg::dtype).as_scalar_type() == exir::ScalarType::kChar;
}

bool are_zero(const exir::Argument& zero_points) {
  if (zero_points.is_none()) return true;
  if (!zero_points.is_value() || !is_fixed(zero_points.value())) return false;
  const auto numbers = exir::decode_constant(*zero_points.value()->constant());
  if (!numbers.ok()) return false;
  for (const double number : *numbers) {
    if (number != 0) return false;
  }
  return true;
}

std::optional<std::vector<float>> scales_of(const exir::Value* value) {
  if (!is_fixed(value)) return std::nullopt;
  const auto numbers = exir::decode_constant(*value->constant());
  if (!numbers.ok()) return std::nullopt;
  std::vector<float> scales;
  for (const double number : *numbers) {
    scales.push_back(static_cast<float>(number));
    if (!check_scale(scales.back()).ok()) return std::nullopt;
  }
  return scales;
}

// How the one node that uses `value` quantises it. Nodes that do so alike were merged.
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

absl::StatusOr<uint32_t> add_integer_bias(Lowering& l, const IntegerProduct& product,
                                          bool is_per_channel) {
  QuantParams quant;
  if (is_per_channel) {
    PETREL_ASSIGN_OR_RETURN(quant.scales, l.scales(product.bias_scales));
    return l.integers(product.bias, Datatype::QCINT32, Quantization::kPerChannel, quant);
  }
  quant.scale = product.bias_scales[0];
  return l.integers(product.bias, Datatype::QINT32, Quantization::kPerTensor, quant);
}

bool is_by_output(const StoredWeight& weight, size_t axis, int64_t outputs) {
  return !weight.is_per_channel() ||
         (weight.axis == axis && outputs == static_cast<int64_t>(weight.scales.size()));
}

absl::StatusOr<uint32_t> add_float_bias(Lowering& l, const exir::Value* bias) {
  if (bias == nullptr) return kNoId;
  return l.constant(bias, WeightView::of(*bias->constant()));
}

// As floats, each for itself.
absl::StatusOr<ProductIds> add_floats(Lowering& l, const FilterUse& p,
                                      const exir::ConstantPtr& weight) {
  ProductIds ids;
  PETREL_ASSIGN_OR_RETURN(ids.input, l.operand(p.input, p.layout));
  PETREL_ASSIGN_OR_RETURN(ids.filter, l.constant(weight, p.filter, p.filter_dims));
  PETREL_ASSIGN_OR_RETURN(ids.bias, add_float_bias(l, p.bias));
  return ids;
}

absl::StatusOr<uint32_t> add_channels(Lowering& l, const FilterUse& p, const StoredWeight& weight) {
  QuantParams quant;
  quant.axis = p.filter_axis;
  const std::vector<float> alike(p.filter_dims[p.filter_axis], weight.scales[0]);
  PETREL_ASSIGN_OR_RETURN(quant.scales, l.scales(weight.is_per_channel() ? weight.scales : alike));
  return l.quantized_constant(weight.constant, p.filter, p.filter_dims, Datatype::QCINT8,
                              Quantization::kPerChannel, quant);
}

// XNNPACK has scales for each channel only, so that one for all is repeated.
absl::StatusOr<ProductIds> add_quantized_at_run_time(Lowering& l, const FilterUse& p,
                                                     const exir::Value* source,
                                                     const StoredWeight& weight) {
  ProductIds ids;
  PETREL_ASSIGN_OR_RETURN(ids.input, l.quantized_at_run_time(source, p.layout));
  PETREL_ASSIGN_OR_RETURN(ids.filter, add_channels(l, p, weight));
  PETREL_ASSIGN_OR_RETURN(ids.bias, add_float_bias(l, p.bias));
  return ids;
}

}  // namespace

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
    if (!low || !high || *low != INT8_MIN || *high != INT8_MAX) return std::nullopt;
  }
  return TensorQuant{static_cast<float>(*scale), static_cast<int32_t>(*zero_point)};
}

std::optional<StoredWeight> stored_weight(const exir::Value* weight) {
  const exir::Node* node = weight->producer();
  if (node == nullptr || weight->tensor().dtype != exir::ScalarType::kFloat ||
      !node->is(quantized::dequantize_per_tensor, quantized::dequantize_per_channel)) {
    return std::nullopt;
  }
  const exir::Value* stored = node->input(arg::input);
  if (!is_fixed(stored) || stored->tensor().dtype != exir::ScalarType::kChar || !is_int8(*node)) {
    return std::nullopt;
  }
  StoredWeight found;
  found.constant = stored->constant();
  if (node->is(quantized::dequantize_per_tensor)) {
    const std::optional<TensorQuant> quant = tensor_quant(*node);
    if (!quant || quant->zero_point != 0) return std::nullopt;
    found.scales = {quant->scale};
    return found;
  }
  const auto axis = axis_argument(node->argument(arg::axis).as_int(), stored->tensor().rank());
  auto scales = scales_of(node->input(arg::scales));
  if (!axis || !scales || !are_zero(node->argument(arg::zero_points)) ||
      static_cast<int64_t>(scales->size()) != found.constant->type.sizes[*axis]) {
    return std::nullopt;
  }
  found.axis = *axis;
  found.scales = *std::move(scales);
  return found;
}

const exir::Value* weight_constant(const exir::Value* weight) {
  if (weight->is_constant()) return weight;
  return stored_weight(weight) ? weight->producer()->input(arg::input) : nullptr;
}

exir::ConstantPtr in_floats(const StoredWeight& weight) {
  const exir::Constant& stored = *weight.constant;
  const WeightView view = WeightView::of(stored);
  const exir::Blob::Bytes bytes = stored.data.bytes();
  std::vector<uint8_t> floats(bytes.size() * sizeof(float));
  const auto stride = static_cast<size_t>(view.strides[weight.axis]);
  const auto size = static_cast<size_t>(view.sizes[weight.axis]);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t channel = stride == 0 ? 0 : i / stride % size;
    const float value =
        static_cast<float>(static_cast<int8_t>(bytes.data()[i])) * weight.scale(channel);
    std::memcpy(floats.data() + i * sizeof(float), &value, sizeof(float));
  }
  auto constant = std::make_shared<exir::Constant>();
  constant->kind = exir::Constant::Kind::kLiteral;
  constant->fqn = stored.fqn + "@float";
  constant->type = stored.type;
  constant->type.dtype = exir::ScalarType::kFloat;
  constant->data = exir::Blob::owned(std::move(floats));
  return constant;
}

exir::Support check_dynamic_filter(const exir::Value* weight, size_t axis, int64_t outputs) {
  const std::optional<StoredWeight> stored = stored_weight(weight);
  if (!stored) return exir::Support::no("its weight is not stored as i8 without zero points");
  if (is_by_output(*stored, axis, outputs)) return exir::Support::yes();
  return exir::Support::no("the scales of its weight are not those of its output channels");
}

absl::StatusOr<ProductIds> add_operands(Lowering& l, const FilterUse& p) {
  if (p.weight->is_constant()) return add_floats(l, p, p.weight->constant());
  const std::optional<StoredWeight> weight = stored_weight(p.weight);
  if (!weight) return absl::InvalidArgumentError("weight is computed at run time");
  if (const exir::Value* source = dynamic_source(p.input)) {
    return add_quantized_at_run_time(l, p, source, *weight);
  }
  const std::optional<TensorQuant> input = quantized_input(p.input);
  const std::optional<TensorQuant> output = quantized_by_user(p.result);
  std::optional<IntegerProduct> product;
  if (input && output &&
      is_by_output(*weight, p.weight_axis, int64_t{p.filter_dims[p.filter_axis]})) {
    product = integer_product(p, *weight, *input, *output);
  }
  if (!product) return add_floats(l, p, in_floats(*weight));

  ProductIds ids;
  PETREL_ASSIGN_OR_RETURN(ids.input, l.operand(p.input, p.layout));
  if (weight->is_per_channel()) {
    PETREL_ASSIGN_OR_RETURN(ids.filter, add_channels(l, p, *weight));
  } else {
    QuantParams quant;
    quant.scale = weight->scales[0];
    PETREL_ASSIGN_OR_RETURN(
        ids.filter, l.quantized_constant(weight->constant, p.filter, p.filter_dims, Datatype::QINT8,
                                         Quantization::kPerTensor, quant));
  }
  if (p.bias == nullptr) return ids;
  PETREL_ASSIGN_OR_RETURN(ids.bias, add_integer_bias(l, *product, weight->is_per_channel()));
  return ids;
}

}  // namespace petrel::backends::xnnpack::aot
