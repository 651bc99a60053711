// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/quantization_reader.h"

#include <string>

namespace petrel::backends::xnnpack {
namespace {

namespace fbs = schema::xnnpack;

Problem read_dim(const char* name, int32_t number, uint32_t* out) {
  if (number < 0) {
    return Problem::invalid(std::string(name) + " is " + std::to_string(number) +
                            ", must not be negative");
  }
  *out = static_cast<uint32_t>(number);
  return Problem::none();
}

// PerChannelQuant and PerChannelGroupQuant have these fields alike.
template <typename Table>
Problem read_scales(const Table& table, size_t num_constants, Scales* scales) {
  scales->constant = table.scale_buffer_idx();
  if (scales->constant >= num_constants) {
    return Problem::invalid("scale_buffer_idx is " + std::to_string(scales->constant) +
                            ", must be below " + std::to_string(num_constants));
  }
  scales->count = table.num_scales();
  if (scales->constant != 0) return Problem::none();
  scales->count = table.scale() == nullptr ? 0 : table.scale()->size();
  if (scales->count == 0) return Problem::invalid("it has no scales");
  scales->inline_data = table.scale()->Data();
  return Problem::none();
}

}  // namespace

Problem read_quantization(const fbs::QuantizedTensorValue& entry, size_t num_constants,
                          Value* value) {
  QuantParams& quant = value->quant;
  if (const auto* table = entry.quant_params_as_PerTensorQuant(); table != nullptr) {
    value->quantization = Quantization::kPerTensor;
    quant.scale = table->scale();
    quant.zero_point = table->zero_point();
    return Problem::none();
  }
  if (const auto* table = entry.quant_params_as_PerChannelQuant(); table != nullptr) {
    value->quantization = Quantization::kPerChannel;
    if (Problem p = read_dim("channel_dim", table->channel_dim(), &quant.axis); !p.ok()) return p;
    return read_scales(*table, num_constants, &quant.scales);
  }
  if (const auto* table = entry.quant_params_as_PerTokenDynamicQuant(); table != nullptr) {
    value->quantization = Quantization::kPerTokenDynamic;
    return read_dim("num_nonbatch_dims", table->num_nonbatch_dims(), &quant.nonbatch_dims);
  }
  if (const auto* table = entry.quant_params_as_PerChannelGroupQuant(); table != nullptr) {
    value->quantization = Quantization::kPerGroup;
    if (Problem p = read_dim("channel_dim", table->channel_dim(), &quant.axis); !p.ok()) return p;
    if (Problem p = read_dim("group_size", table->group_size(), &quant.group_size); !p.ok()) {
      return p;
    }
    return read_scales(*table, num_constants, &quant.scales);
  }
  return Problem::invalid("quantisation is of type " +
                          std::to_string(static_cast<uint8_t>(entry.quant_params_type())) +
                          ", must be in [1, 4] and have contents");
}

}  // namespace petrel::backends::xnnpack
