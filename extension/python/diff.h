// SPDX-License-Identifier: Apache-2.0
//
// Two programs compared value by value, for Python; see extension/diff/diff.h.
#ifndef PETREL_EXTENSION_PYTHON_DIFF_H_
#define PETREL_EXTENSION_PYTHON_DIFF_H_

#include <pybind11/pybind11.h>

namespace petrel::extension::python {

void bind_diff(pybind11::module_& module);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_DIFF_H_
