// SPDX-License-Identifier: Apache-2.0
//
// What petrel.load_compiled() returns underneath: a CompiledModule whose calls wait for each
// other, without Python's lock.
#ifndef PETREL_EXTENSION_PYTHON_COMPILED_H_
#define PETREL_EXTENSION_PYTHON_COMPILED_H_

#include <pybind11/pybind11.h>

namespace petrel::extension::python {

void bind_compiled(pybind11::module_& module);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_COMPILED_H_
