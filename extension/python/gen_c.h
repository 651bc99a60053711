// SPDX-License-Identifier: Apache-2.0
//
// Generated C for Python: archives in, files out; see exir/driver/generate.h.
#ifndef PETREL_EXTENSION_PYTHON_GEN_C_H_
#define PETREL_EXTENSION_PYTHON_GEN_C_H_

#include <pybind11/pybind11.h>

namespace petrel::extension::python {

void bind_gen_c(pybind11::module_& module);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_GEN_C_H_
