// SPDX-License-Identifier: Apache-2.0
//
// The IR as Python sees it: petrel.Graph, Node and Value, read-only. A view is a
// pointer into a graph and what keeps that graph alive: a copy of the compiler's
// own one, which goes on changing (constants are shared, not copied). So views
// may be kept as long as one likes.
//
//   GraphCopy copy = copy_graph(*partition.graph);
//   py::object graph = py::cast(GraphView{copy.graph});
#ifndef PETREL_EXTENSION_PYTHON_IR_VIEWS_H_
#define PETREL_EXTENSION_PYTHON_IR_VIEWS_H_

#include <pybind11/pybind11.h>

#include <map>
#include <memory>

#include "exir/ir/graph.h"

namespace petrel::extension::python {

using SharedGraph = std::shared_ptr<const exir::Graph>;

struct GraphView {
  SharedGraph graph;
};

struct NodeView {
  SharedGraph graph;
  const exir::Node* node;
};

struct ValueView {
  SharedGraph graph;
  const exir::Value* value;
};

// A copy, and where the nodes of the original are in it.
struct GraphCopy {
  SharedGraph graph;
  std::map<const exir::Node*, const exir::Node*> nodes;
};
GraphCopy copy_graph(const exir::Graph& graph);

void bind_ir(pybind11::module_& module);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_IR_VIEWS_H_
