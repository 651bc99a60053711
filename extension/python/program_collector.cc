// SPDX-License-Identifier: Apache-2.0
#include "extension/python/program_collector.h"

#include <memory>

#include "extension/python/program.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

// The program of an object that nobody else has: what an array shows is not found by the collector,
// and it keeps the program. Null for others, and while the object is made.
LoadedProgram* owned_program(PyObject* object) {
  auto* const instance = reinterpret_cast<py::detail::instance*>(object);
  const auto held = instance->get_value_and_holder();
  if (!held || !held.holder_constructed()) return nullptr;
  const auto& program = held.holder<std::shared_ptr<LoadedProgram>>();
  return program.use_count() == 1 ? program.get() : nullptr;
}

}  // namespace

void let_collector_see(PyHeapTypeObject* heap_type) {
  PyTypeObject& type = heap_type->ht_type;
  type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type.tp_traverse = [](PyObject* object, visitproc visitor, void* context) {
    if (const int stop = visitor(reinterpret_cast<PyObject*>(Py_TYPE(object)), context))
      return stop;
    const LoadedProgram* const program = owned_program(object);
    return program != nullptr ? program->visit(visitor, context) : 0;
  };
  // Before anything of the circle is cleared: backends get their handles back as they made them.
  type.tp_finalize = [](PyObject* object) {
    const py::error_scope kept;
    if (LoadedProgram* const program = owned_program(object)) program->let_go();
  };
  type.tp_clear = [](PyObject* object) {
    if (LoadedProgram* const program = owned_program(object)) program->let_go();
    return 0;
  };
  // Destructors run Python, which may collect: not what is half gone.
  type.tp_dealloc = [](PyObject* object) {
    PyObject_GC_UnTrack(object);
    py::detail::pybind11_object_dealloc(object);
  };
}

}  // namespace petrel::extension::python
