// SPDX-License-Identifier: Apache-2.0
#include "extension/python/array.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "extension/python/gil.h"
#include "runtime/core/checked_math.h"

namespace petrel::extension::python {

namespace py = pybind11;
using runtime::ScalarType;
using runtime::Span;

namespace {

// Dimension d of the order, from the outermost on.
size_t dim_at(Span<const uint8_t> dim_order, size_t d) {
  return dim_order.empty() ? d : dim_order[d];
}

std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape,
                                   Span<const uint8_t> dim_order) {
  std::vector<int64_t> strides(shape.size(), 1);
  int64_t next = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const size_t d = dim_at(dim_order, i);
    strides[d] = next;
    next *= shape[d] > 0 ? shape[d] : 1;
  }
  return strides;
}

// Copies dimension `depth` and those inside of it, in the order of `to`.
void copy_dims(const Array& from, const uint8_t* source, Span<const uint8_t> dim_order,
               size_t depth, uint8_t** to) {
  const size_t item = from.item_size();
  if (depth == from.shape.size()) {
    std::memcpy(*to, source, item);
    *to += item;
    return;
  }
  const size_t d = dim_at(dim_order, depth);
  const int64_t step = from.strides[d] * static_cast<int64_t>(item);
  if (depth + 1 == from.shape.size() && from.strides[d] == 1) {
    const size_t bytes = static_cast<size_t>(from.shape[d]) * item;
    std::memcpy(*to, source, bytes);
    *to += bytes;
    return;
  }
  for (int64_t i = 0; i < from.shape[d]; ++i) {
    copy_dims(from, source + i * step, dim_order, depth + 1, to);
  }
}

}  // namespace

size_t Array::numel() const {
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  return count;
}

bool Array::lies_in(Span<const uint8_t> dim_order) const {
  if (reinterpret_cast<uintptr_t>(data) % item_size() != 0) return false;
  if (numel() == 0) return true;
  const std::vector<int64_t> dense = dense_strides(shape, dim_order);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1 && strides[d] != dense[d]) return false;
  }
  return true;
}

Array Array::copy_in(Span<const uint8_t> dim_order) const {
  std::shared_ptr<void> memory = aligned_memory(numel() * item_size());
  auto* to = static_cast<uint8_t*>(memory.get());
  if (numel() > 0) copy_dims(*this, static_cast<const uint8_t*>(data), dim_order, 0, &to);
  void* const place = memory.get();
  return dense_array(dtype, shape, dim_order, place, /*is_writable=*/true, std::move(memory));
}

Array dense_array(ScalarType dtype, std::vector<int64_t> shape, Span<const uint8_t> dim_order,
                  void* data, bool is_writable, std::shared_ptr<const void> owner) {
  Array array;
  array.dtype = dtype;
  array.strides = dense_strides(shape, dim_order);
  array.shape = std::move(shape);
  array.data = data;
  array.is_writable = is_writable;
  array.owner = std::move(owner);
  return array;
}

std::shared_ptr<void> aligned_memory(size_t bytes) {
  constexpr size_t kAlignment = 64;
  const size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  void* const memory = rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return std::shared_ptr<void>(memory, &std::free);
}

py::object to_python(Array array) {
  const bool has_numpy_type = is_of_numpy(array.dtype);
  py::object tensor = py::cast(std::move(array));
  return has_numpy_type ? py::module_::import("numpy").attr("asarray")(tensor) : tensor;
}

HeldBytes hold_bytes(py::handle object) {
  struct Held {
    Py_buffer view = {};
    ~Held() {
      const Gil gil;
      PyBuffer_Release(&view);
    }
  };
  auto held = std::make_unique<Held>();
  if (PyObject_GetBuffer(object.ptr(), &held->view, PyBUF_SIMPLE) != 0) {
    throw py::error_already_set();
  }
  HeldBytes bytes;
  bytes.data = static_cast<const uint8_t*>(held->view.buf);
  bytes.size = static_cast<size_t>(held->view.len);
  bytes.is_read_only = held->view.readonly != 0;
  bytes.owner = std::move(held);
  return bytes;
}

}  // namespace petrel::extension::python
