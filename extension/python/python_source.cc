// SPDX-License-Identifier: Apache-2.0
#include "extension/python/python_source.h"

#include <cstring>
#include <utility>

#include "extension/data_loader/file_descriptor_data_loader.h"
#include "extension/data_loader/memory.h"
#include "extension/module/error_text.h"
#include "extension/python/array.h"
#include "extension/python/error.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

std::unique_ptr<runtime::DataLoader> open_descriptor(int descriptor) {
  const ErrorText said;
  auto loader = FileDescriptorDataLoader::from(descriptor);
  if (!loader.ok()) raise_runtime(loader.error(), said.text());
  return std::make_unique<FileDescriptorDataLoader>(std::move(loader.get()));
}

}  // namespace

PythonSource open_source(const py::object& object) {
  PythonSource source;
  if (py::isinstance<py::str>(object) || py::hasattr(object, "__fspath__")) {
    const py::module_ paths = py::module_::import("petrel._path");
    source.path = paths.attr("path_text")(object).cast<std::string>();
    return source;
  }
  py::object given = object;
  if (PyObject_CheckBuffer(object.ptr()) == 0) {
    const py::module_ files = py::module_::import("petrel._open_file");
    if (files.attr("is_open_file")(object).cast<bool>()) {
      given = files.attr("descriptor_or_bytes")(object);
    }
    if (py::isinstance<py::int_>(given) && !given.is(object)) {
      source.loader = open_descriptor(given.cast<int>());
      return source;
    }
  }
  const HeldBytes bytes = hold_bytes(given);
  const void* data = bytes.data;
  source.owner = bytes.owner;
  // What is read-only here may be a view of what is not; only bytes never change.
  const bool may_change = bytes.is_read_only && !py::isinstance<py::bytes>(given);
  if (!bytes.is_read_only) {
    const std::shared_ptr<void> copy = aligned_memory(bytes.size);
    std::memcpy(copy.get(), bytes.data, bytes.size);
    data = copy.get();
    source.owner = copy;
  }
  source.loader = open_memory(data, bytes.size, may_change);
  return source;
}

}  // namespace petrel::extension::python
