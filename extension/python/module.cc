// SPDX-License-Identifier: Apache-2.0
//
// petrel._petrel: the C++ half of the package. Users import petrel.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <set>
#include <string>
#include <vector>

#include "extension/module/error_text.h"
#include "extension/python/aot_backend.h"
#include "extension/python/array.h"
#include "extension/python/compiled.h"
#include "extension/python/data_files.h"
#include "extension/python/device.h"
#include "extension/python/diff.h"
#include "extension/python/error.h"
#include "extension/python/export.h"
#include "extension/python/gen_c.h"
#include "extension/python/gil.h"
#include "extension/python/ir_views.h"
#include "extension/python/program.h"
#include "extension/python/runtime_backend.h"
#include "runtime/core/version.h"
#include "runtime/executor/prim_ops.h"
#include "runtime/executor/registry.h"
#include "runtime/platform/isa_level.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const auto& library : runtime::default_registry().backends()) {
    names.push_back(library().name);
  }
  return names;
}

std::vector<std::string> operator_names() {
  std::set<std::string> names;
  for (const runtime::Kernel& kernel : runtime::prim_kernels()) names.insert(kernel.name);
  for (const auto& library : runtime::default_registry().kernels()) {
    for (const runtime::Kernel& kernel : library()) names.insert(kernel.name);
  }
  return {names.begin(), names.end()};
}

// Objects are made by functions alone: one that __new__() made has no C++ object behind it, or one
// that nobody has constructed, and whoever calls it reads memory that is not there.
void forbid_new(const py::module_& module) {
  for (const auto& member : py::dict(module.attr("__dict__"))) {
    PyObject* const value = member.second.ptr();
    if (PyType_Check(value) == 0) continue;
    auto* const type = reinterpret_cast<PyTypeObject*>(value);
    if (py::detail::get_type_info(type) == nullptr) continue;
    type->tp_new = nullptr;
    PyType_Modified(type);
  }
}

bool is_main_interpreter() { return PyInterpreterState_Get() == PyInterpreterState_Main(); }

}  // namespace

// What pybind11 3 does first to make a module waits for ever, before Python 3.12, in an interpreter
// that is not the main one. So its function has another name here, and the one that Python calls
// looks ahead of it where it is. Of pybind11 2, Python hands out the first module a second time
// and calls nothing, so that the package looks again.
#define PyInit__petrel petrel_make_module
PYBIND11_MODULE(_petrel, module) {
  bind_array(module);
  bind_ir(module);
  bind_aot(module);
  bind_export(module);
  bind_gen_c(module);
  bind_data_files(module);
  bind_diff(module);
  bind_named_data(module);
  bind_program(module);
  bind_compiled(module);
  bind_device(module);
  module.def("version", [] { return kVersion; });
  module.def("set_isa_level", [](const std::string& level) {
    const ErrorText said;
    const runtime::Error error = runtime::set_isa_level(level);
    if (error != runtime::Error::Ok) raise_runtime(error, said.text());
  });
  module.def("backend_names", &backend_names);
  module.def("operator_names", &operator_names);
  module.def("close", &close);
  module.def("after_fork_in_child", [] {
    after_fork_in_child();
    Turns::forget_waiting();
  });
  module.def("is_main_interpreter", &is_main_interpreter);
  forbid_new(module);
}
#undef PyInit__petrel

PYBIND11_PLUGIN_IMPL(_petrel) {
  if (!is_main_interpreter()) {
    PyErr_SetString(PyExc_ImportError,
                    "petrel works in the main interpreter only, not in sub-interpreters");
    return nullptr;
  }
  return petrel_make_module();
}

}  // namespace petrel::extension::python
