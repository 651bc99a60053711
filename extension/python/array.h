// SPDX-License-Identifier: Apache-2.0
//
// Array: elements in memory that something keeps alive, as C++ and Python hand
// them to each other. In Python it is petrel.Tensor, which has the buffer
// protocol and DLPack; what NumPy has a type for goes on as an ndarray over the
// same memory:
//
//   Array weights = ...;                       owner: what keeps the bytes
//   py::object numpy = to_python(weights);     ndarray -> petrel.Tensor -> owner
//
//   Array given = from_python(x);              any of the two protocols; holds x
//
// Nothing here needs NumPy but to_python().
#ifndef PETREL_EXTENSION_PYTHON_ARRAY_H_
#define PETREL_EXTENSION_PYTHON_ARRAY_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/scalar_type.h"
#include "runtime/core/span.h"

namespace petrel::extension::python {

struct Array {
  runtime::ScalarType dtype = runtime::ScalarType::Float;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements
  void* data = nullptr;
  bool is_writable = false;
  std::shared_ptr<const void> owner;

  size_t item_size() const { return runtime::element_size(dtype); }
  size_t numel() const;
  // True if the elements lie densely, in `dim_order` (empty: 0, 1, 2, ...), and
  // aligned. Dimensions of one element may have any stride.
  bool lies_in(runtime::Span<const uint8_t> dim_order) const;
  // A new array with the elements densely in `dim_order`, aligned to 64 bytes.
  Array copy_in(runtime::Span<const uint8_t> dim_order) const;
};

// Elements densely in `dim_order` at `data`. Precondition: the sizes do not
// overflow.
Array dense_array(runtime::ScalarType dtype, std::vector<int64_t> shape,
                  runtime::Span<const uint8_t> dim_order, void* data, bool is_writable,
                  std::shared_ptr<const void> owner);

// Memory of its own; freed with the last user.
std::shared_ptr<void> aligned_memory(size_t bytes);

// The array of an object with the buffer protocol or __dlpack__; nothing if it
// has neither. Raises what the object raises, TypeError for element types that
// programs do not have, for devices other than the CPU.
std::optional<Array> from_python(pybind11::handle object);

bool is_of_numpy(runtime::ScalarType dtype);

// An ndarray, or a petrel.Tensor where NumPy has no such type.
pybind11::object to_python(Array array);

// Bytes of an object with the buffer protocol, in order. The object is held, and
// cannot be resized, until `owner` is gone, which any thread may drop.
struct HeldBytes {
  const uint8_t* data = nullptr;
  size_t size = 0;
  bool is_read_only = false;
  std::shared_ptr<const void> owner;
};
HeldBytes hold_bytes(pybind11::handle object);

void bind_array(pybind11::module_& module);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_ARRAY_H_
