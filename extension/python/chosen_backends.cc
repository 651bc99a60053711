// SPDX-License-Identifier: Apache-2.0
#include "extension/python/chosen_backends.h"

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "extension/python/error.h"

namespace petrel::extension::python {

namespace py = pybind11;

exir::BackendSelection ChosenBackends::select(const Choices& for_all,
                                              const std::map<std::string, Choices>& by_method) {
  exir::BackendSelection selection;
  selection.for_all = uses("all methods", for_all);
  for (const auto& [method, choices] : by_method) {
    selection.for_method[method] = uses("method '" + method + "'", choices);
  }
  return selection;
}

std::vector<exir::BackendUse> ChosenBackends::uses(const std::string& owner,
                                                   const Choices& choices) {
  std::vector<exir::BackendUse> list;
  for (const auto& [backend, specs] : choices) {
    exir::BackendUse use;
    use.backend = find(owner, list.size(), backend);
    for (const auto& [key, value] : specs) {
      use.compile_specs.push_back({key, std::string(value)});
    }
    list.push_back(std::move(use));
  }
  return list;
}

const exir::Backend* ChosenBackends::find(const std::string& owner, size_t index,
                                          const py::object& backend) {
  if (py::isinstance<py::str>(backend)) {
    const auto name = backend.cast<std::string>();
    if (name != "xnnpack") {
      raise_error("NotFound", "backend '" + name + "' is unknown, backend " +
                                  std::to_string(index) + " of " + owner +
                                  "; use 'xnnpack' or a subclass of petrel.Backend");
    }
    return backends::xnnpack::aot::xnnpack_backend();
  }
  std::unique_ptr<PythonBackend>& made = of_python_[backend.ptr()];
  if (made == nullptr) made = std::make_unique<PythonBackend>(backend, pending_);
  return made.get();
}

}  // namespace petrel::extension::python
