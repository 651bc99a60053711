// SPDX-License-Identifier: Apache-2.0
//
// Rewrites linear layers so that each row of their input gets a scale when it is there,
// and weights are stored in 8 bits, or in 4 with a scale for each group of a row:
//
//   before  %y = aten.linear.default(%x : f32[2,64], constant @w : f32[8,64], %b)
//   after   %s, %z = choose_qparams_per_token_asymmetric(%x, i8)
//           %q = quantize_per_token(%x, %s, %z, -128, 127, i8)
//           %d = dequantize_per_token(%q, %s, %z, -128, 127, i8, f32)
//           %w = dequantize_per_channel(constant @w@int8 : i8[8,64], scales, none, 0, ...)
//            or  torchao.dequantize_affine(constant @w@int4.32, [1,32], scales, none, i8, -8, 7)
//           %y = aten.linear.default(%d, %w, %b)
//
// Products of matrices, mm and addmm, become linear. No samples are needed. Inputs that
// several layers read are quantised once.
#ifndef PETREL_EXIR_QUANTIZE_DYNAMIC_GRAPH_H_
#define PETREL_EXIR_QUANTIZE_DYNAMIC_GRAPH_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/ir/graph.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/record.h"
#include "exir/quantize/stored_weights.h"

namespace petrel::exir {

struct DynamicAnnotation {
  std::vector<Node*> layers;    // in the order of the graph
  std::vector<LeftFloat> left;  // other products with constant weights
};

DynamicAnnotation annotate_dynamic(const Graph& graph, const MethodQuantization& method);

// The input of a layer, and the weight that multiplies its rows.
struct RowProduct {
  Value* rows = nullptr;
  ConstantPtr weight;
  bool is_transposed = false;
};
std::vector<RowProduct> row_products(const Graph& graph, const MethodQuantization& method);

// "" or why rows of the input of a product cannot get scales at run time.
std::string misfit_of_rows(const Node& product, const MethodQuantization& method);

// Precondition: `layers` are those of the graph's annotation, or fit (misfit_of_rows).
absl::Status quantize_layers(Graph& graph, const std::vector<Node*>& layers,
                             const MethodQuantization& method, StoredWeights* weights);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_DYNAMIC_GRAPH_H_
