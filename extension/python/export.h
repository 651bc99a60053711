// SPDX-License-Identifier: Apache-2.0
//
// The compiler for Python: archives in, files out; see exir/driver/export.h.
#ifndef PETREL_EXTENSION_PYTHON_EXPORT_H_
#define PETREL_EXTENSION_PYTHON_EXPORT_H_

#include <pybind11/pybind11.h>

namespace petrel::extension::python {

void bind_export(pybind11::module_& module);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_EXPORT_H_
