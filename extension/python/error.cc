// SPDX-License-Identifier: Apache-2.0
#include "extension/python/error.h"

#include <stdexcept>

#include "extension/module/error_text.h"
#include "extension/python/text.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

const char* name_of(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return "InvalidArgument";
    case absl::StatusCode::kNotFound:
      return "NotFound";
    case absl::StatusCode::kAlreadyExists:
      return "AlreadyExists";
    case absl::StatusCode::kPermissionDenied:
      return "AccessFailed";
    case absl::StatusCode::kResourceExhausted:
      return "OutOfResources";
    case absl::StatusCode::kFailedPrecondition:
      return "InvalidState";
    case absl::StatusCode::kOutOfRange:
      return "InvalidArgument";
    case absl::StatusCode::kUnimplemented:
      return "NotSupported";
    case absl::StatusCode::kDataLoss:
      return "InvalidProgram";
    case absl::StatusCode::kUnavailable:
      return "AccessFailed";
    default:
      return "Internal";
  }
}

// Of bytes that are no UTF-8 a message is not to find a thing but to be printed.
py::object printable_text(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

}  // namespace

void raise_exception(const py::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

void raise_error(const std::string& code, const std::string& message) {
  const py::object make = py::module_::import("petrel._error").attr("from_message");
  raise_exception(make(code, printable_text(shown(message))));
}

void raise_status(const absl::Status& status) {
  raise_error(name_of(status.code()), std::string(status.message()));
}

void raise_runtime(runtime::Error error, const std::string& text) {
  raise_error(to_string(error), text.empty() ? to_string(error) : text);
}

void Pending::keep(py::error_already_set& raised, const std::string& where) {
  if (exception_) return;
  exception_ = raised.value();
  if (raised.trace()) PyException_SetTraceback(exception_.ptr(), raised.trace().ptr());
  // Notes are there since Python 3.11.
  if (py::hasattr(exception_, "add_note")) exception_.attr("add_note")(to_text("raised " + where));
}

void Pending::keep_thrown(const std::exception& thrown, const std::string& where) {
  // Such as a cast that failed: what Python gave was of another type.
  PyErr_SetString(PyExc_TypeError, thrown.what());
  py::error_already_set raised;
  keep(raised, where);
}

py::object Pending::take() {
  py::object exception = std::move(exception_);
  exception_ = py::object();
  return exception;
}

void Pending::rethrow() {
  if (const py::object exception = take(); exception) raise_exception(exception);
}

}  // namespace petrel::extension::python
