// SPDX-License-Identifier: Apache-2.0
#include "extension/python/bound_tensor.h"

#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "extension/python/error.h"
#include "extension/python/text.h"

namespace petrel::extension::python {

namespace py = pybind11;
using runtime::ScalarType;
using runtime::Span;

namespace {

std::string text_of(const char* dtype, const std::vector<int64_t>& shape) {
  std::string text = dtype;
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "[" : ",") + std::to_string(shape[i]);
  return shape.empty() ? text + "[]" : text + "]";
}

std::vector<int64_t> shape_of(const petrel_tensor_info& info) {
  return {info.sizes, info.sizes + info.rank};
}

}  // namespace

std::unique_ptr<BoundTensor> bind_input(py::handle argument, const petrel_tensor_info& info) {
  const std::string name = "input '" + std::string(info.name) + "'";
  std::optional<Array> array = from_python(argument);
  if (!array.has_value()) {
    raise_error("InvalidArgument",
                name + " is a " +
                    py::str(py::type::of(argument).attr("__name__")).cast<std::string>() +
                    ", must be an array with the buffer protocol or DLPack");
  }
  const auto dtype = static_cast<ScalarType>(info.dtype);
  // Of sizes that vary the module says whether it takes them.
  const bool fits_shape = info.least_sizes == nullptr ? array->shape == shape_of(info)
                                                      : array->shape.size() == info.rank;
  if (array->dtype != dtype || !fits_shape) {
    raise_error("InvalidArgument", name + " is " + text_of(to_string(array->dtype), array->shape) +
                                       ", must be " + text_of(to_string(dtype), shape_of(info)));
  }
  const Span<const uint8_t> order(info.dim_order, info.rank);
  // A view may have far more elements than there is memory behind it: the module refuses
  // what is too large, so it is not copied.
  bool is_too_large = false;
  for (size_t d = 0; d < info.rank; ++d) {
    is_too_large = is_too_large || array->shape[d] > info.sizes[d];
    if (array->shape[d] <= INT32_MAX) continue;
    raise_error("InvalidArgument", name + " has dim " + std::to_string(d) + " of " +
                                       std::to_string(array->shape[d]) + ", must be in [0, 2^31)");
  }
  const bool fits = is_too_large || (array->lies_in(order) && array->data != nullptr);
  return std::make_unique<BoundTensor>(fits ? *std::move(array) : array->copy_in(order), info);
}

std::unique_ptr<BoundTensor> make_output(const petrel_tensor_info& info) {
  std::shared_ptr<void> memory = aligned_memory(info.bytes);
  void* const data = memory.get();
  const Span<const uint8_t> order(info.dim_order, info.rank);
  return std::make_unique<BoundTensor>(
      dense_array(static_cast<ScalarType>(info.dtype), shape_of(info), order, data,
                  /*is_writable=*/true, std::move(memory)),
      info);
}

Array with_sizes(Array array, const petrel_tensor_info& info, std::vector<int64_t> shape) {
  if (info.least_sizes == nullptr) return array;
  const Span<const uint8_t> order(info.dim_order, info.rank);
  void* const data = array.data;
  return dense_array(array.dtype, std::move(shape), order, data, /*is_writable=*/true,
                     std::move(array.owner));
}

py::list describe(const petrel_tensor_info* tensors, size_t count) {
  py::list all;
  for (size_t i = 0; i < count; ++i) {
    const petrel_tensor_info& info = tensors[i];
    const std::vector<int> order(info.dim_order, info.dim_order + info.rank);
    all.append(py::make_tuple(to_text(info.name), to_text(info.c_name),
                              to_string(static_cast<ScalarType>(info.dtype)),
                              py::tuple(py::cast(shape_of(info))), py::tuple(py::cast(order))));
  }
  return all;
}

}  // namespace petrel::extension::python
