// SPDX-License-Identifier: Apache-2.0
//
// The backends of one export as Python names them: "xnnpack", or an object of petrel.Backend. An
// object that is chosen several times is one backend.
//
//   ChosenBackends chosen(pending);
//   options.backends = chosen.select(for_all, by_method);
//
// They live as long as this, which the export must not outlive.
#ifndef PETREL_EXTENSION_PYTHON_CHOSEN_BACKENDS_H_
#define PETREL_EXTENSION_PYTHON_CHOSEN_BACKENDS_H_

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/backend/backend_selection.h"
#include "extension/python/aot_backend.h"

namespace petrel::extension::python {

using CompileSpecs = std::vector<std::pair<std::string, pybind11::bytes>>;
// "xnnpack" or a petrel.Backend, and what it is told.
using Choice = std::pair<pybind11::object, CompileSpecs>;
using Choices = std::vector<Choice>;

class ChosenBackends {
 public:
  explicit ChosenBackends(std::shared_ptr<Pending> pending) : pending_(std::move(pending)) {}

  exir::BackendSelection select(const Choices& for_all,
                                const std::map<std::string, Choices>& by_method);
  // `owner` is "method 'x'" or "all methods".
  std::vector<exir::BackendUse> uses(const std::string& owner, const Choices& choices);

 private:
  const exir::Backend* find(const std::string& owner, size_t index,
                            const pybind11::object& backend);

  std::shared_ptr<Pending> pending_;
  std::map<PyObject*, std::unique_ptr<PythonBackend>> of_python_;
};

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_CHOSEN_BACKENDS_H_
