// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/scale_ratios.h"

#include <cmath>
#include <string>

#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

Problem check_ratio(double ratio, double low, double high) {
  if (ratio >= low && ratio < high) return Problem::none();
  return Problem::unsupported("its scales have the ratio " + std::to_string(ratio) +
                              ", must be in [" + std::to_string(low) + ", " + std::to_string(high) +
                              ")");
}

// As XNNPACK computes it.
double ratio(float a, float b) { return static_cast<double>(a / b); }

}  // namespace

Problem check_filter_scale(float input, float filter, float output) {
  return check_ratio(ratio(input * filter, output), 0x1p-32, 0x1p8);
}

Problem check_scale_ratios(const Graph& graph, const Node& node) {
  const Value& output = graph.values[node.outputs[0]];
  const Value& input = graph.values[node.inputs[0]];
  if (output.datatype != Datatype::QINT8 || input.datatype != Datatype::QINT8) {
    return Problem::none();
  }
  const double first = ratio(input.quant.scale, output.quant.scale);
  if (find_node_kind(node.kind)->has_bias) {
    const Value& filter = graph.values[node.inputs[1]];
    if (filter.quantization != Quantization::kPerTensor) return Problem::none();
    return check_filter_scale(input.quant.scale, filter.quant.scale, output.quant.scale);
  }
  // Just above 2^7, the greatest that is taken.
  const double above = std::nextafter(0x1p7, 0x1p8);
  switch (node.kind) {
    case NodeKind::Add:
    case NodeKind::Subtract: {
      if (Problem p = check_ratio(first, 0x1p-10, 0x1p8); !p.ok()) return p;
      const Value& other = graph.values[node.inputs[1]];
      return check_ratio(ratio(other.quant.scale, output.quant.scale), 0x1p-10, 0x1p8);
    }
    case NodeKind::Multiply: {
      const float product = input.quant.scale * graph.values[node.inputs[1]].quant.scale;
      return check_ratio(ratio(product, output.quant.scale), 0x1p-16, 0x1p8);
    }
    case NodeKind::LeakyRelu: {
      if (Problem p = check_ratio(first, 0x1p-8, above); !p.ok()) return p;
      // A multiplier in units of 2^-8, from -32767 to 32768; rounded as XNNPACK does.
      const float slope = static_cast<float>(first) * node.scalar;
      const double end = slope < 0 ? std::nextafter(0x1.FFFCp6, 0x1p7) : above;
      return check_ratio(static_cast<double>(std::fabs(slope)), 0x1p-8, end);
    }
    case NodeKind::Convert:
      return check_ratio(first, 0x1p-8, above);
    default:
      return Problem::none();
  }
}

}  // namespace petrel::backends::xnnpack
