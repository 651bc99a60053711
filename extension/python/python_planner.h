// SPDX-License-Identifier: Apache-2.0
//
// A function of Python as a planner of memory: it gets and returns JSON, as the programs of
// exir/plan/external do.
//
//   options.planning.planner = python_planner(function, pending);
//
// What the function raises is kept in `pending`; to the compiler it is an error. Whoever plans must
// look at `pending` then.
#ifndef PETREL_EXTENSION_PYTHON_PYTHON_PLANNER_H_
#define PETREL_EXTENSION_PYTHON_PYTHON_PLANNER_H_

#include <pybind11/pybind11.h>

#include <memory>

#include "exir/plan/search/planner.h"
#include "extension/python/error.h"

namespace petrel::extension::python {

// With the lock held. Copies may be made and dropped without it. None leaves `options` alone.
void choose_python_planner(const pybind11::object& function,
                           const std::shared_ptr<Pending>& pending, exir::plan::Options* options);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_PYTHON_PLANNER_H_
