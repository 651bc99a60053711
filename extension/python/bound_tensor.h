// SPDX-License-Identifier: Apache-2.0
//
// Arrays of Python as tensors of a model that is code, in a module or on a device.
//
//   const auto input = bind_input(argument, info.inputs[0]);
//   method.set_input(0, runtime::Tensor(&input->impl));
#ifndef PETREL_EXTENSION_PYTHON_BOUND_TENSOR_H_
#define PETREL_EXTENSION_PYTHON_BOUND_TENSOR_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "extension/compiled/compiled_method.h"
#include "extension/python/array.h"
#include "runtime/core/tensor.h"

namespace petrel::extension::python {

// A tensor over an array, as the runtime wants it.
struct BoundTensor {
  BoundTensor(Array given, const petrel_tensor_info& info)
      : array(std::move(given)),
        sizes(array.shape.begin(), array.shape.end()),
        dim_order(info.dim_order, info.dim_order + info.rank),
        impl(array.dtype, static_cast<ssize_t>(sizes.size()), sizes.data(), array.data,
             dim_order.data()) {}
  BoundTensor(const BoundTensor&) = delete;
  BoundTensor& operator=(const BoundTensor&) = delete;

  Array array;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  runtime::TensorImpl impl;
};

// The argument for one input, copied where it does not lie as the code wants it. Raises for
// another dtype or shape.
std::unique_ptr<BoundTensor> bind_input(pybind11::handle argument, const petrel_tensor_info& info);

// Memory for the largest sizes.
std::unique_ptr<BoundTensor> make_output(const petrel_tensor_info& info);

// The elements that a run has written, of memory for the largest sizes.
Array with_sizes(Array array, const petrel_tensor_info& info, std::vector<int64_t> shape);

// (name, name in C, dtype, shape, dim order) of each.
pybind11::list describe(const petrel_tensor_info* tensors, size_t count);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_BOUND_TENSOR_H_
