// SPDX-License-Identifier: Apache-2.0
//
// Input: an argument of Python as a value of the runtime, for one call.
//
// Arrays are pointed at where they lie as the program wants them, and copied
// into that layout where they do not. The object keeps what it points at alive.
#ifndef PETREL_EXTENSION_PYTHON_INPUT_H_
#define PETREL_EXTENSION_PYTHON_INPUT_H_

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "extension/python/array.h"
#include "runtime/core/evalue.h"
#include "runtime/executor/method_meta.h"

namespace petrel::extension::python {

class Input {
 public:
  // Raises petrel.Error naming input `index`. An array that is read-only is copied
  // where the program `may_write` it.
  Input(pybind11::handle argument, const runtime::MethodMeta& meta, size_t index, bool may_write);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  const runtime::EValue& value() const { return value_; }
  // True if the bytes at `address` belong to the argument.
  bool contains(const void* address) const;
  const std::shared_ptr<const void>& owner() const { return array_.owner; }
  bool is_copied() const { return is_copied_; }

 private:
  void set_array(Array array, const runtime::MethodMeta& meta, size_t index, bool may_write);

  Array array_;
  bool is_copied_ = false;
  std::string text_;
  std::vector<int32_t> sizes_;
  std::vector<uint8_t> dim_order_;
  runtime::TensorImpl impl_;
  runtime::EValue value_;
};

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_INPUT_H_
