// SPDX-License-Identifier: Apache-2.0
#include "extension/python/aot_backend.h"

#include <pybind11/stl.h>

#include <utility>

#include "extension/python/array.h"
#include "extension/python/gil.h"
#include "extension/python/lent.h"
#include "extension/python/text.h"

namespace petrel::extension::python {

namespace py = pybind11;
using exir::Blob;
using exir::CompileSpec;
using exir::RoutedBlobStore;
using exir::Support;

namespace {

using LentStore = Lent<RoutedBlobStore>;

// Bytes that nobody can change are held, others copied.
Blob to_blob(const py::object& data) {
  HeldBytes bytes = hold_bytes(data);
  const absl::Span<const uint8_t> span(bytes.data, bytes.size);
  return bytes.is_read_only ? Blob::view(span, std::move(bytes.owner)) : Blob::copy_of(span);
}

bool add_named_blob(LentStore& lent, const Text& key, const py::object& data, uint64_t alignment,
                    const std::string& external_file) {
  const LentStore::Use store(lent);
  const absl::StatusOr<bool> added =
      store->add_named_blob(key, to_blob(data), alignment, external_file);
  if (!added.ok()) raise_status(added.status());
  return *added;
}

const exir::Constant& constant_of(const ValueView& view) {
  if (view.value->is_constant()) return *view.value->constant();
  PyErr_SetObject(PyExc_ValueError,
                  to_text("'" + view.value->name() + "' is not a constant").ptr());
  throw py::error_already_set();
}

// The elements of the constant itself when `data` is None.
Text add_weight(LentStore& lent, const ValueView& constant, const py::object& data,
                uint64_t alignment, const std::string& form) {
  const LentStore::Use store(lent);
  const exir::Constant& source = constant_of(constant);
  const absl::StatusOr<std::string> key =
      store->add_weight(source, data.is_none() ? source.data : to_blob(data), alignment, form);
  if (!key.ok()) raise_status(key.status());
  return Text(*key);
}

Text add_derived(LentStore& lent, const Text& name, const std::vector<ValueView>& constants,
                 const py::object& data, const std::string& recipe, uint64_t alignment) {
  const LentStore::Use store(lent);
  std::vector<const exir::Constant*> sources;
  for (const ValueView& constant : constants) sources.push_back(&constant_of(constant));
  const absl::StatusOr<std::string> key =
      store->add_derived(name, sources, recipe, to_blob(data), alignment);
  if (!key.ok()) raise_status(key.status());
  return Text(*key);
}

py::list to_python(const std::vector<CompileSpec>& specs) {
  py::list list;
  for (const CompileSpec& spec : specs) {
    list.append(py::make_tuple(spec.key, py::bytes(spec.value)));
  }
  return list;
}

exir::PreprocessResult to_result(const py::object& given) {
  exir::PreprocessResult result;
  if (PyObject_CheckBuffer(given.ptr()) != 0) {
    result.payload = to_blob(given);
    return result;
  }
  if (!py::hasattr(given, "payload")) {
    throw py::type_error("a " + py::str(py::type::of(given).attr("__name__")).cast<std::string>() +
                         " was returned, must be bytes or a petrel.PreprocessResult");
  }
  result.payload = to_blob(given.attr("payload"));
  for (auto& [handle, name] : given.attr("debug_handles").cast<std::map<uint32_t, Text>>()) {
    result.debug_handles[handle] = std::move(name.bytes);
  }
  return result;
}

absl::Status raised_in(const std::string& function, const std::string& id) {
  return absl::InternalError(function + " of backend '" + id + "' raised an exception");
}

}  // namespace

PythonPartitioner::PythonPartitioner(py::object partitioner, std::shared_ptr<Pending> pending)
    : partitioner_(std::move(partitioner)), pending_(std::move(pending)) {}

PythonPartitioner::~PythonPartitioner() {
  const Gil gil;
  partitioner_ = py::object();
  copies_.clear();
}

NodeView PythonPartitioner::view(const exir::Node& node) const {
  GraphCopy& copy = copies_[&node.graph()];
  auto found = copy.nodes.find(&node);
  // A graph may have changed since it was asked about last.
  if (copy.graph == nullptr || found == copy.nodes.end() ||
      copy.nodes.size() != node.graph().nodes().size() ||
      found->second->describe() != node.describe()) {
    copy = copy_graph(node.graph());
    found = copy.nodes.find(&node);
  }
  return NodeView{copy.graph, found->second};
}

Support PythonPartitioner::supports(const exir::Node& node) const {
  const Gil gil;
  if (!pending_->is_empty()) return Support::no("the partitioner raised an exception");
  Support support = Support::no("the partitioner raised an exception");
  pending_->guard("in supports of a petrel.Partitioner, about " + node.describe(), [&] {
    const py::object answer = partitioner_.attr("supports")(view(node));
    if (py::isinstance<py::str>(answer)) {
      support = Support::no(answer.cast<Text>());
    } else if (py::bool_(answer)) {
      support = Support::yes();
    } else {
      support = Support::no("the partitioner does not take it");
    }
  });
  return support;
}

bool PythonPartitioner::takes_varying_sizes() const {
  const Gil gil;
  bool answer = false;
  if (!pending_->is_empty()) return answer;
  pending_->guard("in takes_varying_sizes of a petrel.Partitioner", [&] {
    answer = py::bool_(py::getattr(partitioner_, "takes_varying_sizes", py::bool_(false)));
  });
  return answer;
}

bool PythonPartitioner::keeps(const exir::OpInfo& op) const {
  const Gil gil;
  bool answer = false;
  if (!pending_->is_empty()) return answer;
  pending_->guard("in keeps of a petrel.Partitioner, about " + op.full_name(),
                  [&] { answer = py::bool_(partitioner_.attr("keeps")(to_text(op.full_name()))); });
  return answer;
}

bool PythonPartitioner::worthwhile(const std::vector<const exir::Node*>& nodes) const {
  const Gil gil;
  bool answer = false;
  if (!pending_->is_empty()) return answer;
  pending_->guard("in worthwhile of a petrel.Partitioner", [&] {
    py::list views;
    for (const exir::Node* node : nodes) views.append(view(*node));
    answer = py::bool_(partitioner_.attr("worthwhile")(views));
  });
  return answer;
}

std::string PythonPartitioner::group(const exir::Node& node) const {
  const Gil gil;
  std::string answer;
  if (!pending_->is_empty()) return answer;
  pending_->guard("in group of a petrel.Partitioner, about " + node.describe(),
                  [&] { answer = partitioner_.attr("group")(view(node)).cast<Text>().bytes; });
  return answer;
}

std::optional<exir::GroupCosts> PythonPartitioner::costs(const exir::Graph& partition) const {
  const Gil gil;
  std::optional<exir::GroupCosts> answer;
  if (!pending_->is_empty()) return answer;
  pending_->guard("in costs of a petrel.Partitioner", [&] {
    const py::object told = partitioner_.attr("costs")(GraphView{copy_graph(partition).graph});
    if (told.is_none()) return;
    exir::GroupCosts costs;
    costs.kernels = told.attr("kernels").cast<double>();
    costs.delegated = told.attr("delegated").cast<double>();
    costs.call = told.attr("call").cast<double>();
    costs.layout_copies = told.attr("layout_copies").cast<size_t>();
    costs.copied_elements = told.attr("copied_elements").cast<int64_t>();
    costs.nodes = told.attr("nodes").cast<Text>().bytes;
    answer = costs;
  });
  return answer;
}

PythonBackend::PythonBackend(py::object backend, std::shared_ptr<Pending> pending)
    : backend_(std::move(backend)),
      pending_(pending),
      id_(backend_.attr("id").cast<std::string>()),
      target_(backend_.attr("target").cast<std::string>()),
      partitioner_(backend_.attr("partitioner"), std::move(pending)) {}

PythonBackend::~PythonBackend() {
  const Gil gil;
  backend_ = py::object();
}

absl::Status PythonBackend::check_compile_specs(const std::vector<CompileSpec>& specs) const {
  const Gil gil;
  const bool good = pending_->guard("in check_compile_specs of backend '" + id_ + "'", [&] {
    backend_.attr("check_compile_specs")(to_python(specs));
  });
  return good ? absl::OkStatus() : raised_in("check_compile_specs", id_);
}

absl::StatusOr<exir::ResultMap> PythonBackend::preprocess_all(const exir::SubprogramMap& partitions,
                                                              RoutedBlobStore& store) const {
  const Gil gil;
  if (!pending_->is_empty()) return raised_in("the partitioner", id_);
  exir::ResultMap results;
  const bool good = pending_->guard("in preprocess_all of backend '" + id_ + "'", [&] {
    const py::object make = py::module_::import("petrel._backend").attr("Subprogram");
    py::dict programs;
    for (const auto& [method, subprograms] : partitions) {
      py::list of_method;
      for (const exir::Subprogram& partition : subprograms) {
        of_method.append(make(partition.method, partition.index,
                              GraphView{copy_graph(*partition.graph).graph},
                              to_python(partition.compile_specs)));
      }
      programs[py::str(method)] = of_method;
    }
    const py::object lent = py::cast(LentStore(&store, "the store", "preprocess"));
    const TakenBack<RoutedBlobStore> taken(lent);
    const py::object returned = backend_.attr("preprocess_all")(programs, lent);
    if (!py::isinstance<py::dict>(returned)) {
      throw py::type_error("preprocess_all must return a dict of lists, by method");
    }
    for (const auto& [method, list] : returned.cast<py::dict>()) {
      std::vector<exir::PreprocessResult>& of_method = results[method.cast<std::string>()];
      size_t index = 0;
      for (const py::handle result : py::reinterpret_borrow<py::object>(list)) {
        try {
          of_method.push_back(to_result(py::reinterpret_borrow<py::object>(result)));
        } catch (const py::type_error& wrong) {
          throw py::type_error("method '" + method.cast<std::string>() + "', partition " +
                               std::to_string(index) + ": " + wrong.what());
        }
        ++index;
      }
    }
  });
  if (!good) return raised_in("preprocess_all", id_);
  return results;
}

void bind_aot(py::module_& module) {
  py::class_<LentStore>(module, "NamedBlobStore",
                        "Where backends put data that payloads share, or that may live outside "
                        "of the program. Usable during preprocess.")
      .def("add_named_blob", &add_named_blob, py::arg("key"), py::arg("blob"),
           py::arg("alignment") = 16, py::arg("external_file") = "")
      .def("add_weight", &add_weight, py::arg("constant"), py::arg("data") = py::none(),
           py::arg("alignment") = 16, py::arg("form") = "")
      .def("add_derived", &add_derived, py::arg("name"), py::arg("constants"), py::arg("data"),
           py::arg("recipe") = "", py::arg("alignment") = 16)
      .def("keys", [](LentStore& lent) {
        const LentStore::Use store(lent);
        std::vector<Text> keys;
        for (const auto& [file, destination] : store->blobs().destinations()) {
          for (const auto& entry : destination.entries) keys.emplace_back(entry.key);
        }
        return keys;
      });
}

}  // namespace petrel::extension::python
