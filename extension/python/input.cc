// SPDX-License-Identifier: Apache-2.0
#include "extension/python/input.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "extension/python/error.h"
#include "extension/python/text.h"

namespace petrel::extension::python {

namespace py = pybind11;
using runtime::EValue;
using runtime::MethodMeta;
using runtime::Result;
using runtime::Tag;
using runtime::Tensor;
using runtime::TensorImpl;
using runtime::TensorInfo;

namespace {

[[noreturn]] void refuse(size_t index, const std::string& what) {
  raise_error("InvalidArgument", "input " + std::to_string(index) + " " + what);
}

std::string type_name(py::handle object) {
  return py::str(py::type::of(object).attr("__name__")).cast<std::string>();
}

}  // namespace

Input::Input(py::handle argument, const MethodMeta& meta, size_t index, bool may_write) {
  const Result<Tag> tag = meta.input_tag(index);
  PyObject* const object = argument.ptr();
  if (tag.ok() && *tag == Tag::Tensor) {
    std::optional<Array> array = from_python(argument);
    if (!array.has_value()) {
      refuse(index, "is a " + type_name(argument) +
                        ", must be an array with the buffer protocol or DLPack");
    }
    set_array(*std::move(array), meta, index, may_write);
  } else if (argument.is_none()) {
    value_ = EValue();
  } else if (PyBool_Check(object)) {
    value_ = EValue(object == Py_True);
  } else if (PyLong_Check(object) && !(tag.ok() && *tag == Tag::Double)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) refuse(index, "is an int that needs more than 64 bits");
    value_ = EValue(static_cast<int64_t>(number));
  } else if (PyFloat_Check(object) || PyLong_Check(object)) {
    const double number = PyFloat_AsDouble(object);
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    value_ = EValue(number);
  } else if (PyUnicode_Check(object)) {
    text_ = argument.cast<Text>().bytes;
    value_ = EValue(std::string_view(text_));
  } else {
    refuse(index,
           "is a " + type_name(argument) + ", must be " + (tag.ok() ? to_string(*tag) : "a value"));
  }
}

void Input::set_array(Array array, const MethodMeta& meta, size_t index, bool may_write) {
  const Result<TensorInfo> info = meta.input_tensor_meta(index);
  const size_t rank = array.shape.size();
  if (rank > runtime::kTensorDimensionLimit) {
    refuse(index, "has rank " + std::to_string(rank) + ", must have at most 16");
  }
  for (size_t d = 0; d < rank; ++d) {
    if (array.shape[d] > INT32_MAX) {
      refuse(index, "has dim " + std::to_string(d) + " of " + std::to_string(array.shape[d]) +
                        ", must be in [0, 2^31)");
    }
    sizes_.push_back(static_cast<int32_t>(array.shape[d]));
    dim_order_.push_back(static_cast<uint8_t>(d));
  }
  if (info.ok() && info->dim_order().size() == rank) {
    dim_order_.assign(info->dim_order().begin(), info->dim_order().end());
  }
  const runtime::Span<const uint8_t> order(dim_order_.data(), rank);
  const bool is_safe = array.is_writable || !may_write || !info.ok() || info->is_memory_planned();
  is_copied_ = !array.lies_in(order) || !is_safe;
  // A view may have far more elements than there is memory behind it.
  const size_t most = info.ok() ? info->nbytes() / element_size(info->scalar_type()) : SIZE_MAX;
  if (is_copied_ && array.numel() > most) {
    refuse(index, "has " + std::to_string(array.numel()) + " elements, must have at most " +
                      std::to_string(most));
  }
  array_ = is_copied_ ? array.copy_in(order) : std::move(array);
  static uint8_t nothing[16] = {};
  impl_ = TensorImpl(array_.dtype, static_cast<ssize_t>(rank), sizes_.data(),
                     array_.data != nullptr ? array_.data : nothing, dim_order_.data());
  value_ = EValue(Tensor(&impl_));
}

bool Input::contains(const void* address) const {
  if (array_.owner == nullptr) return false;
  const auto begin = reinterpret_cast<uintptr_t>(array_.data);
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= begin && at - begin < array_.numel() * array_.item_size();
}

}  // namespace petrel::extension::python
