// SPDX-License-Identifier: Apache-2.0
//
// Which nodes of a graph compute with integers, and which values share one scale.
//
//   %c = convolution(%x, constant @w, ...)    a product: from here on integers pay
//   %r = relu(%c)                             merged into it: only %r has a scale
//   %p = max_pool2d(%r)                       moves elements: the scale of %r
//   %s = softmax(%p)                          stays float
//
//   nodes  c r p        groups  {x} {r p}      left  s: "_softmax is not computed ..."
//
// For backends, nodes that are not products take part only where values connect them to two,
// before and behind them (between_products.h): else conversions would cost more than they save,
// and round what floats do not. Integers alone take all.
#ifndef PETREL_EXIR_QUANTIZE_ANNOTATE_GRAPH_H_
#define PETREL_EXIR_QUANTIZE_ANNOTATE_GRAPH_H_

#include <set>
#include <string>
#include <vector>

#include "exir/ir/graph.h"
#include "exir/quantize/integer_roles.h"
#include "exir/quantize/record.h"

namespace petrel::exir {

// A node that computes with floats although its tensors are f32.
struct LeftFloat {
  std::string node;
  std::string op;
  std::string reason;
  std::string location;  // in the user's model
};

struct QuantAnnotation {
  std::set<const Node*> nodes;
  std::vector<Node*> rows;  // products whose rows get scales at run time, in the order of the graph
  // Values with one scale and zero point, in the order of the graph: inputs of `nodes`,
  // also constants that are no weights, and what nodes make that no merged activation takes.
  std::vector<std::vector<Value*>> groups;
  std::vector<LeftFloat> left;
};

QuantAnnotation annotate_graph(const Graph& graph, const KeptFloat& keep_float,
                               QuantTarget target = QuantTarget::kBackends);

// With what a record of the static scheme says, for backends also how they compute a node.
QuantAnnotation annotate_method(const Graph& graph, const MethodQuantization& method,
                                QuantTarget target = QuantTarget::kBackends);

// The candidates that a path of candidates connects to one that `is_seed` holds for.
std::set<const Node*> connected_to(const std::vector<const Node*>& candidates,
                                   bool (*is_seed)(const Node&));
// To a product.
std::set<const Node*> connected_to_products(const std::vector<const Node*>& candidates);

// Why `node` is kept float; "" when it is not.
std::string kept_reason(const KeptFloat& keep_float, const Node& node);

// Why a convolution, linear layer or matrix product is no product with a weight of the
// annotation; "" where it is one, and of other nodes.
std::string misfit_of(const Node& node);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_ANNOTATE_GRAPH_H_
