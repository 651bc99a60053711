// SPDX-License-Identifier: Apache-2.0
//
// The layers of a float graph as a record sees them: a product or another operator with
// the activation that integers merge into it, and what stays float.
//
//   %c = convolution(%x, constant @w)    "relu"     convolution, relu   integers, 2304 -> 640 bytes
//   %r = relu(%c)
//   %s = softmax(%r)                     "softmax"  _softmax            float: is not computed ...
//
// What only moves elements is not a layer. A Layer points into its graph.
#ifndef PETREL_EXIR_QUANTIZE_LAYERS_H_
#define PETREL_EXIR_QUANTIZE_LAYERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "exir/ir/graph.h"
#include "exir/quantize/integer_roles.h"
#include "exir/quantize/record.h"

namespace petrel::exir {

struct Layer {
  std::vector<const Node*> nodes;  // the last makes the result
  bool is_quantised = false;
  std::string float_reason;  // "" when it is quantised
  // Of its constants, each with the first layer that reads it: as floats, and as they are
  // stored with their scales.
  int64_t float_bytes = 0;
  int64_t stored_bytes = 0;

  const Value& result() const { return *nodes.back()->result(); }
  // What --keep-float knows it by.
  const std::string& name() const { return result().name(); }
  // "convolution, relu".
  std::string operators() const;
};

// In the order of the graph; those whose result is f32.
std::vector<Layer> layers_of(const Graph& graph, const MethodQuantization& method,
                             QuantTarget target = QuantTarget::kBackends);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_LAYERS_H_
