// SPDX-License-Identifier: Apache-2.0
//
// Where Python says that bytes come from: the path of a file, an open file, or an object
// with the buffer protocol.
//
//   PythonSource source = open_source(object);
//   source.loader == nullptr ? load(source.path) : load(std::move(source.loader));
//
// An open file is read through a duplicate of its descriptor, or by itself where its bytes are
// not those of a file of the system (petrel/_open_file.py), all of it and wherever it
// stands; the caller may close it. Bytes that somebody can change are copied; of a read-only
// view, such as a mapping or a part of a bytearray, the structure is, and weights are not.
#ifndef PETREL_EXTENSION_PYTHON_PYTHON_SOURCE_H_
#define PETREL_EXTENSION_PYTHON_PYTHON_SOURCE_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "runtime/core/data_loader.h"

namespace petrel::extension::python {

struct PythonSource {
  std::string path;  // where there is no loader
  // Outlives the loader.
  std::shared_ptr<const void> owner;
  std::unique_ptr<runtime::DataLoader> loader;
};

// Raises what Python raises for objects that are nothing of it, and a petrel.Error for
// descriptors that cannot be read.
PythonSource open_source(const pybind11::object& object);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_PYTHON_SOURCE_H_
