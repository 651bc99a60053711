// SPDX-License-Identifier: Apache-2.0
//
// What Python's collector knows of a LoadedProgram, so that a circle through it is found, such as
// that of a data map or a backend which has the program that it is for.
//
//   py::class_<LoadedProgram, ...>(module, "LoadedProgram",
//                                  py::custom_type_setup(&let_collector_see))
#ifndef PETREL_EXTENSION_PYTHON_PROGRAM_COLLECTOR_H_
#define PETREL_EXTENSION_PYTHON_PROGRAM_COLLECTOR_H_

#include <pybind11/pybind11.h>

namespace petrel::extension::python {

// Where a circle is garbage, the program goes first, and handles of backends with it.
void let_collector_see(PyHeapTypeObject* heap_type);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_PROGRAM_COLLECTOR_H_
