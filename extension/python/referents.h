// SPDX-License-Identifier: Apache-2.0
//
// Referents: the objects of Python that a program of C++ holds. Python's collector is told of
// them, so that it finds a circle through the program, such as a data map that has the program:
//
//   referents->add(map);      // as long as C++ has a reference
//   ...
//   referents->remove(map);
//
// All functions are called with Python's lock held.
#ifndef PETREL_EXTENSION_PYTHON_REFERENTS_H_
#define PETREL_EXTENSION_PYTHON_REFERENTS_H_

#include <pybind11/pybind11.h>

#include <algorithm>
#include <vector>

namespace petrel::extension::python {

class Referents final {
 public:
  void add(pybind11::handle object) { objects_.push_back(object.ptr()); }
  void remove(pybind11::handle object) {
    const auto found = std::find(objects_.begin(), objects_.end(), object.ptr());
    if (found != objects_.end()) objects_.erase(found);
  }
  // For tp_traverse: once for each reference.
  int visit(visitproc visitor, void* context) const {
    for (PyObject* const object : objects_) {
      if (const int stop = visitor(object, context); stop != 0) return stop;
    }
    return 0;
  }

 private:
  std::vector<PyObject*> objects_;
};

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_REFERENTS_H_
