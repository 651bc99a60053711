// SPDX-License-Identifier: Apache-2.0
#include "extension/python/ir_views.h"

#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "exir/ir/text.h"
#include "extension/python/array.h"
#include "extension/python/error.h"
#include "extension/python/text.h"

namespace petrel::extension::python {

namespace py = pybind11;
using exir::Argument;
using exir::Graph;
using exir::Node;
using exir::Value;

namespace {

const char* name_of(exir::ScalarType type) {
  return runtime::to_string(static_cast<runtime::ScalarType>(type));
}

const char* name_of(exir::MemoryFormat format) {
  switch (format) {
    case exir::MemoryFormat::kContiguous:
      return "contiguous";
    case exir::MemoryFormat::kPreserve:
      return "preserve";
    case exir::MemoryFormat::kChannelsLast:
      return "channels_last";
    case exir::MemoryFormat::kChannelsLast3d:
      return "channels_last_3d";
  }
  return "unknown";
}

py::object view_of(const SharedGraph& graph, const Value* value) {
  return py::cast(ValueView{graph, value});
}

py::object view_of(const SharedGraph& graph, const Node* node) {
  if (node == nullptr) return py::none();
  return py::cast(NodeView{graph, node});
}

template <typename List>
py::list views_of(const SharedGraph& graph, const List& pointers) {
  py::list views;
  for (const auto& pointer : pointers) views.append(view_of(graph, &*pointer));
  return views;
}

py::object to_object(const SharedGraph& graph, const Argument& argument) {
  if (argument.is_value()) return view_of(graph, argument.value());
  if (argument.is_int()) return py::int_(argument.as_int());
  if (argument.is_float()) return py::float_(argument.as_float());
  if (argument.is_bool()) return py::bool_(argument.as_bool());
  if (argument.is_string()) return to_text(argument.as_string());
  if (argument.is_scalar_type()) return py::str(name_of(argument.as_scalar_type()));
  if (argument.is_memory_format()) return py::str(name_of(argument.as_memory_format()));
  if (argument.is_ints()) return py::cast(argument.as_ints());
  if (argument.is_floats()) return py::cast(argument.as_floats());
  if (argument.is_bools()) return py::cast(argument.as_bools());
  if (argument.is_list()) {
    py::list items;
    for (const Argument& item : argument.as_list()) items.append(to_object(graph, item));
    return items;
  }
  return py::none();
}

py::dict arguments_of(const NodeView& view) {
  py::dict arguments;
  const exir::OpInfo& op = view.node->op();
  for (size_t i = 0; i < view.node->arguments().size(); ++i) {
    const std::string name = i < op.args.size() ? op.args[i].name : "argument_" + std::to_string(i);
    arguments[to_text(name)] = to_object(view.graph, view.node->arguments()[i]);
  }
  return arguments;
}

std::string kind_of(const Value& value) {
  switch (value.type().kind) {
    case exir::Type::Kind::kTensor:
      return "tensor";
    case exir::Type::Kind::kInt:
      return "int";
    case exir::Type::Kind::kFloat:
      return "float";
    case exir::Type::Kind::kBool:
      return "bool";
  }
  return "unknown";
}

// The elements of a constant, read where they are.
py::object data_of(const ValueView& view) {
  if (!view.value->is_constant()) return py::none();
  const exir::Constant& constant = *view.value->constant();
  const auto bytes = std::make_shared<exir::Blob::Bytes>(constant.data.bytes());
  if (bytes->size() != static_cast<uint64_t>(constant.type.nbytes())) {
    raise_error("InvalidProgram", "constant '" + constant.fqn + "' has " +
                                      std::to_string(bytes->size()) + " bytes, its type needs " +
                                      std::to_string(constant.type.nbytes()));
  }
  const std::vector<uint8_t>& order = constant.type.dim_order;
  return to_python(dense_array(static_cast<runtime::ScalarType>(constant.type.dtype),
                               constant.type.sizes, {order.data(), order.size()},
                               const_cast<uint8_t*>(bytes->data()), /*is_writable=*/false, bytes));
}

std::vector<std::string> traits_of(const NodeView& view) {
  std::vector<std::string> names;
  for (const auto& [trait, name] : {std::pair<exir::OpTrait, const char*>{exir::kPure, "pure"},
                                    {exir::kElementwise, "elementwise"},
                                    {exir::kView, "view"},
                                    {exir::kReduction, "reduction"},
                                    {exir::kRandom, "random"},
                                    {exir::kIdentity, "identity"}}) {
    if (view.node->op().has(trait)) names.emplace_back(name);
  }
  return names;
}

void bind_value(py::module_& module) {
  py::class_<ValueView>(module, "Value")
      .def_property_readonly("name", [](const ValueView& v) { return to_text(v.value->name()); })
      .def_property_readonly("kind", [](const ValueView& v) { return kind_of(*v.value); })
      .def_property_readonly("dtype",
                             [](const ValueView& v) -> py::object {
                               if (!v.value->type().is_tensor()) return py::none();
                               return py::str(name_of(v.value->tensor().dtype));
                             })
      .def_property_readonly("shape",
                             [](const ValueView& v) -> py::object {
                               if (!v.value->type().is_tensor()) return py::none();
                               return py::tuple(py::cast(v.value->tensor().sizes));
                             })
      .def_property_readonly("is_input", [](const ValueView& v) { return v.value->is_input(); })
      .def_property_readonly("is_constant",
                             [](const ValueView& v) { return v.value->is_constant(); })
      .def_property_readonly("is_state",
                             [](const ValueView& v) {
                               return v.value->is_constant() && v.value->constant()->is_mutable();
                             })
      .def_property_readonly("fqn",
                             [](const ValueView& v) -> py::object {
                               if (!v.value->is_constant()) return py::none();
                               return to_text(v.value->constant()->fqn);
                             })
      .def_property_readonly("data", &data_of)
      .def_property_readonly("producer",
                             [](const ValueView& v) -> py::object {
                               return view_of(v.graph,
                                              static_cast<const Node*>(v.value->producer()));
                             })
      .def_property_readonly("users",
                             [](const ValueView& v) { return views_of(v.graph, v.value->users()); })
      .def("__eq__",
           [](const ValueView& a, const py::object& b) {
             return py::isinstance<ValueView>(b) && a.value == b.cast<const ValueView&>().value;
           })
      .def("__hash__", [](const ValueView& v) { return std::hash<const void*>()(v.value); })
      .def("__repr__", [](const ValueView& v) {
        return to_text("<petrel.Value %" + v.value->name() + ": " +
                       exir::to_string(v.value->type()) + ">");
      });
}

void bind_node(py::module_& module) {
  py::class_<NodeView>(module, "Node")
      .def_property_readonly("name",
                             [](const NodeView& n) -> py::object {
                               if (n.node->num_results() == 0) return py::str("");
                               return to_text(n.node->result()->name());
                             })
      .def_property_readonly("op",
                             [](const NodeView& n) { return to_text(n.node->op().full_name()); })
      .def_property_readonly("args", &arguments_of)
      .def_property_readonly(
          "inputs", [](const NodeView& n) { return views_of(n.graph, n.node->operands()); })
      .def_property_readonly(
          "outputs",
          [](const NodeView& n) {
            py::list all;
            for (size_t i = 0; i < n.node->num_results(); ++i) {
              all.append(view_of(n.graph, static_cast<const Value*>(n.node->result(i))));
            }
            return all;
          })
      .def_property_readonly("traits", &traits_of)
      .def_property_readonly("source",
                             [](const NodeView& n) { return to_text(n.node->source().location()); })
      .def_property_readonly("module",
                             [](const NodeView& n) { return to_text(n.node->source().module); })
      .def_property_readonly("graph", [](const NodeView& n) { return GraphView{n.graph}; })
      .def("__eq__",
           [](const NodeView& a, const py::object& b) {
             return py::isinstance<NodeView>(b) && a.node == b.cast<const NodeView&>().node;
           })
      .def("__hash__", [](const NodeView& n) { return std::hash<const void*>()(n.node); })
      .def("__repr__",
           [](const NodeView& n) { return to_text("<petrel.Node: " + n.node->describe() + ">"); });
}

}  // namespace

GraphCopy copy_graph(const Graph& graph) {
  GraphCopy copy;
  copy.graph = graph.clone();
  auto copied = copy.graph->nodes().begin();
  for (const auto& node : graph.nodes()) copy.nodes[node.get()] = (copied++)->get();
  return copy;
}

void bind_ir(py::module_& module) {
  bind_value(module);
  bind_node(module);
  py::class_<GraphView>(module, "Graph")
      .def_property_readonly("name", [](const GraphView& g) { return to_text(g.graph->name()); })
      .def_property_readonly(
          "inputs", [](const GraphView& g) { return views_of(g.graph, g.graph->inputs()); })
      .def_property_readonly(
          "outputs", [](const GraphView& g) { return views_of(g.graph, g.graph->outputs()); })
      .def_property_readonly("nodes",
                             [](const GraphView& g) { return views_of(g.graph, g.graph->nodes()); })
      .def_property_readonly(
          "constants", [](const GraphView& g) { return views_of(g.graph, g.graph->constants()); })
      .def("__str__", [](const GraphView& g) { return to_text(exir::print_graph(*g.graph)); })
      .def("__repr__", [](const GraphView& g) {
        return to_text("<petrel.Graph " + g.graph->name() + ", " +
                       std::to_string(g.graph->nodes().size()) + " nodes>");
      });
}

}  // namespace petrel::extension::python
