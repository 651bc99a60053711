// SPDX-License-Identifier: Apache-2.0
//
// petrel.open_device: models on devices.
#ifndef PETREL_EXTENSION_PYTHON_DEVICE_H_
#define PETREL_EXTENSION_PYTHON_DEVICE_H_

#include <pybind11/pybind11.h>

namespace petrel::extension::python {

void bind_device(pybind11::module_& module);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_DEVICE_H_
