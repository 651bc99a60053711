// SPDX-License-Identifier: Apache-2.0
//
// Errors of both halves as petrel.Error, and exceptions of Python that were
// raised inside a callback and have to cross C++ on their way to the caller.
//
//   if (!report.ok()) raise_status(report.status());
//
//   Error get_data(...) {                 // called by C++
//     const Gil gil;
//     return pending->guard([&] { ... });  // keeps what Python raises
//   }
//   ...
//   pending->rethrow();                   // where C++ has returned to Python
#ifndef PETREL_EXTENSION_PYTHON_ERROR_H_
#define PETREL_EXTENSION_PYTHON_ERROR_H_

#include <pybind11/pybind11.h>

#include <string>

#include "absl/status/status.h"
#include "runtime/core/error.h"

namespace petrel::extension::python {

// `code` is the name of an error. The node and the line of the model that
// `message` names become attributes.
[[noreturn]] void raise_error(const std::string& code, const std::string& message);
[[noreturn]] void raise_status(const absl::Status& status);
// `text` is what the runtime said; the name of the error if it is empty.
[[noreturn]] void raise_runtime(runtime::Error error, const std::string& text);

// An exception that Python code raised before.
[[noreturn]] void raise_exception(const pybind11::object& exception);

// The first exception of several callbacks. To be used with the lock held.
class Pending {
 public:
  // Keeps the exception that is being handled; `where` is added as a note.
  void keep(pybind11::error_already_set& raised, const std::string& where);
  bool is_empty() const { return !exception_; }
  // What was kept, if anything, to be raised; is empty again.
  pybind11::object take();
  // Raises it.
  void rethrow();

  // True unless `work` raised; then the exception is kept.
  template <typename Work>
  bool guard(const std::string& where, Work work) {
    try {
      work();
      return true;
    } catch (pybind11::error_already_set& raised) {
      keep(raised, where);
    } catch (pybind11::builtin_exception& thrown) {
      thrown.set_error();
      pybind11::error_already_set raised;
      keep(raised, where);
    } catch (const std::exception& thrown) {
      keep_thrown(thrown, where);
    }
    return false;
  }

 private:
  void keep_thrown(const std::exception& thrown, const std::string& where);

  pybind11::object exception_;
};

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_ERROR_H_
