// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

PYBIND11_MODULE(greeting, m) {
  m.def("add", [](int a, int b) { return a + b; });
}
