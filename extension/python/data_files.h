// SPDX-License-Identifier: Apache-2.0
//
// Files for Python: copies that appear all or none, and what extension/relink
// does with the data of programs.
#ifndef PETREL_EXTENSION_PYTHON_DATA_FILES_H_
#define PETREL_EXTENSION_PYTHON_DATA_FILES_H_

#include <pybind11/pybind11.h>

namespace petrel::extension::python {

void bind_data_files(pybind11::module_& module);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_DATA_FILES_H_
