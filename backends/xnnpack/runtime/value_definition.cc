// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/value_definition.h"

#include <cstdio>
#include <vector>

namespace petrel::backends::xnnpack {
namespace {

// What a 4-bit element of 0 is stored as.
constexpr int32_t kMiddleOf4Bits = 8;

xnn_datatype datatype_of(Datatype datatype) {
  switch (datatype) {
    case Datatype::FP16:
      return xnn_datatype_fp16;
    case Datatype::QINT8:
      return xnn_datatype_qint8;
    case Datatype::QINT32:
      return xnn_datatype_qint32;
    case Datatype::QCINT8:
      return xnn_datatype_qcint8;
    case Datatype::QCINT32:
      return xnn_datatype_qcint32;
    case Datatype::QCINT4:
      return xnn_datatype_qcint4;
    case Datatype::QBINT4:
      return xnn_datatype_qbint4;
    case Datatype::QDINT8:
      return xnn_datatype_qdint8;
    default:
      return xnn_datatype_fp32;
  }
}

}  // namespace

xnn_status define_value(xnn_subgraph_t subgraph, const Value& value, const void* data,
                        const void* scales, uint32_t* out) {
  const std::vector<size_t> dims(value.dims.begin(), value.dims.end());
  const xnn_datatype datatype = datatype_of(value.datatype);
  const QuantParams& quant = value.quant;
  switch (value.quantization) {
    case Quantization::kNone:
      return xnn_define_tensor_value(subgraph, datatype, dims.size(), dims.data(), data,
                                     value.external_id, value.flags, out);
    case Quantization::kPerTensor:
      return xnn_define_quantized_tensor_value(subgraph, datatype, quant.zero_point, quant.scale,
                                               dims.size(), dims.data(), data, value.external_id,
                                               value.flags, out);
    case Quantization::kPerChannel:
      return xnn_define_channelwise_quantized_tensor_value_v2(
          subgraph, datatype, value.datatype == Datatype::QCINT4 ? kMiddleOf4Bits : 0,
          static_cast<const float*>(scales), dims.size(), quant.axis, dims.data(), data,
          value.external_id, value.flags, out);
    case Quantization::kPerGroup:
      return xnn_define_blockwise_quantized_tensor_value(
          subgraph, datatype, kMiddleOf4Bits, static_cast<const uint16_t*>(scales), dims.size(),
          quant.axis, quant.group_size, dims.data(), data, value.external_id, value.flags, out);
    case Quantization::kPerTokenDynamic:
      return xnn_define_dynamically_quantized_tensor_value(subgraph, datatype, dims.size(),
                                                           quant.nonbatch_dims, dims.data(),
                                                           value.external_id, value.flags, out);
  }
  return xnn_status_invalid_parameter;
}

std::string describe_quantization(const Value& value) {
  // Filters of f32 are packed as f16 for inputs of f16.
  if (value.quantization == Quantization::kNone) {
    return value.datatype == Datatype::FP16 ? "/half" : "";
  }
  char text[96];
  std::snprintf(text, sizeof(text), "/q%d:%a,%d,%u,%u", static_cast<int>(value.datatype),
                static_cast<double>(value.quant.scale), value.quant.zero_point, value.quant.axis,
                value.quant.group_size);
  return text;
}

}  // namespace petrel::backends::xnnpack
