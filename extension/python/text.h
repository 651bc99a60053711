// SPDX-License-Identifier: Apache-2.0
//
// Text: what a file calls something, on its way to Python and back. Files may hold
// any bytes where UTF-8 should be. Python gets those that are none as os.fsdecode()
// gives them, as surrogates, so that nothing is lost: the name that a program shows
// is the name it is asked with.
//
//   .def("method_names", [](const Program& p) { return texts(p.method_names()); })
//   .def("load_method", [](Program& p, const Text& method) { p.load_method(method); })
//
// std::string and const char* of pybind11 raise UnicodeDecodeError instead: they are
// for what the user or this library has written.
#ifndef PETREL_EXTENSION_PYTHON_TEXT_H_
#define PETREL_EXTENSION_PYTHON_TEXT_H_

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace petrel::extension::python {

inline pybind11::str to_text(std::string_view bytes) {
  PyObject* const text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (text == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::str>(text);
}

struct Text {
  Text() = default;
  explicit Text(std::string given) : bytes(std::move(given)) {}
  operator const std::string&() const { return bytes; }  // NOLINT(google-explicit-constructor)

  std::string bytes;
};

inline std::vector<Text> texts(const std::vector<std::string>& all) {
  return std::vector<Text>(all.begin(), all.end());
}

}  // namespace petrel::extension::python

namespace pybind11::detail {

template <>
struct type_caster<petrel::extension::python::Text> {
  PYBIND11_TYPE_CASTER(petrel::extension::python::Text, const_name("str"));

  // A str, or bytes as they are.
  bool load(handle source, bool /*convert*/) {
    object encoded = reinterpret_borrow<object>(source);
    if (PyUnicode_Check(source.ptr()) != 0) {
      encoded = reinterpret_steal<object>(
          PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape"));
    }
    if (!encoded || PyBytes_Check(encoded.ptr()) == 0) {
      PyErr_Clear();
      return false;
    }
    value.bytes.assign(PyBytes_AS_STRING(encoded.ptr()),
                       static_cast<size_t>(PyBytes_GET_SIZE(encoded.ptr())));
    return true;
  }
  static handle cast(const petrel::extension::python::Text& text, return_value_policy, handle) {
    return petrel::extension::python::to_text(text.bytes).release();
  }
};

}  // namespace pybind11::detail

#endif  // PETREL_EXTENSION_PYTHON_TEXT_H_
