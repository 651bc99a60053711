// SPDX-License-Identifier: Apache-2.0
//
// Arrays in and out of Python: the buffer protocol and DLPack, both ways.

#include <pybind11/stl.h>

#include <cstring>
#include <string>

#include "extension/python/array.h"
#include "extension/python/dlpack.h"
#include "extension/python/gil.h"
#include "runtime/core/checked_math.h"

namespace petrel::extension::python {

namespace py = pybind11;
using runtime::ScalarType;

namespace {

struct TypeRow {
  ScalarType dtype;
  const char* format;  // of the buffer protocol
  dlpack::DataType dlpack;
};

constexpr TypeRow kTypes[] = {
    {ScalarType::Byte, "B", {dlpack::kUInt, 8, 1}},
    {ScalarType::Char, "b", {dlpack::kInt, 8, 1}},
    {ScalarType::Short, "h", {dlpack::kInt, 16, 1}},
    {ScalarType::Int, "i", {dlpack::kInt, 32, 1}},
    {ScalarType::Long, "q", {dlpack::kInt, 64, 1}},
    {ScalarType::Half, "e", {dlpack::kFloat, 16, 1}},
    {ScalarType::Float, "f", {dlpack::kFloat, 32, 1}},
    {ScalarType::Double, "d", {dlpack::kFloat, 64, 1}},
    {ScalarType::Bool, "?", {dlpack::kBool, 8, 1}},
    {ScalarType::UInt16, "H", {dlpack::kUInt, 16, 1}},
    {ScalarType::UInt32, "I", {dlpack::kUInt, 32, 1}},
    {ScalarType::UInt64, "Q", {dlpack::kUInt, 64, 1}},
    // The buffer protocol knows it as its bits.
    {ScalarType::BFloat16, "H", {dlpack::kBfloat, 16, 1}},
};

const TypeRow* row_of(ScalarType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return &row;
  }
  return nullptr;
}

// What Python has no type for goes as its bits.
const char* format_of(ScalarType dtype) {
  if (const TypeRow* const row = row_of(dtype); row != nullptr) return row->format;
  constexpr const char* kBits[] = {"B", "H", "I", "Q"};
  size_t power = 0;
  while (power < 3 && runtime::element_size(dtype) >> power != 1) ++power;
  return kBits[power];
}

// 'l' and 'q' are one type here, as are the others of one kind and size.
std::optional<ScalarType> type_of_format(const char* format, size_t item_size) {
  if (format == nullptr) format = "B";
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (std::strlen(format) != 1) return std::nullopt;
  const bool is_signed = std::strchr("bhilqn", *format) != nullptr;
  const bool is_unsigned = std::strchr("BHILQN", *format) != nullptr;
  for (const TypeRow& row : kTypes) {
    if (runtime::element_size(row.dtype) != item_size) continue;
    if (*format == *row.format || (is_signed && row.dlpack.code == dlpack::kInt) ||
        (is_unsigned && row.dlpack.code == dlpack::kUInt)) {
      return row.dtype;
    }
  }
  return std::nullopt;
}

bool is_called_bfloat16(py::handle object) {
  return py::hasattr(object, "dtype") && py::hasattr(object, "view") &&
         py::str(object.attr("dtype")).equal(py::str("bfloat16"));
}

Array from_buffer(py::handle object) {
  struct Held {
    Py_buffer view = {};
    ~Held() {
      const Gil gil;
      PyBuffer_Release(&view);
    }
  };
  auto held = std::make_shared<Held>();
  Py_buffer& view = held->view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) {
    throw py::error_already_set();
  }
  const auto item_size = static_cast<size_t>(view.itemsize);
  const auto dtype = type_of_format(view.format, item_size);
  if (!dtype.has_value()) {
    // Of the other byte order, which NumPy turns.
    if (view.format != nullptr && *view.format == '>' && py::hasattr(object, "astype")) {
      return from_buffer(object.attr("astype")(object.attr("dtype").attr("newbyteorder")("=")));
    }
    throw py::type_error("elements of format '" + std::string(view.format ? view.format : "B") +
                         "' have a type that programs do not have");
  }
  // Arrays of ctypes tell no strides, though they were asked for them: they lie densely.
  const std::vector<int64_t> shape(view.shape, view.shape + view.ndim);
  Array array = dense_array(*dtype, shape, {}, view.buf, view.readonly == 0, held);
  for (int d = 0; view.strides != nullptr && d < view.ndim; ++d) {
    if (view.strides[d] % view.itemsize != 0) {
      throw py::type_error("the array has elements at odd distances; make it contiguous");
    }
    array.strides[static_cast<size_t>(d)] = view.strides[d] / view.itemsize;
  }
  return array;
}

// Of the older version if the object gives one. Some give read-only elements in the newer alone.
py::object capsule_of(const py::object& object) {
  const py::object give = object.attr("__dlpack__");
  try {
    return give();
  } catch (const py::error_already_set& refused) {
    if (!refused.matches(PyExc_BufferError)) throw;
    try {
      return give(py::arg("max_version") = py::make_tuple(dlpack::kMajor, 0));
    } catch (const py::error_already_set&) {  // the first reason is the one to tell
    }
    throw;
  }
}

template <typename Managed>
std::shared_ptr<Managed> take(const py::object& capsule) {
  void* const pointer = PyCapsule_GetPointer(capsule.ptr(), Managed::kCapsule);
  if (pointer == nullptr) throw py::error_already_set();
  PyCapsule_SetName(capsule.ptr(), Managed::kTaken);
  return std::shared_ptr<Managed>(static_cast<Managed*>(pointer), [](Managed* held) {
    const Gil gil;
    if (held->deleter != nullptr) held->deleter(held);
  });
}

// Holds the tensor as long as it is used.
std::shared_ptr<const dlpack::Tensor> tensor_in(const py::object& capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), dlpack::VersionedTensor::kCapsule) == 0) {
    const auto held = take<dlpack::ManagedTensor>(capsule);
    return {held, &held->tensor};
  }
  const auto held = take<dlpack::VersionedTensor>(capsule);
  if (held->major != dlpack::kMajor) {
    throw py::buffer_error("the tensor is of version " + std::to_string(held->major) +
                           " of DLPack, must be of version 1");
  }
  return {held, &held->tensor};
}

Array from_dlpack(py::handle given) {
  // Elements that torch is to negate when they are read, as those of z.conj().imag are, come as
  // they lie in memory: it hands out no mark of that.
  const py::object object = py::hasattr(given, "resolve_neg")
                                ? py::object(given.attr("resolve_neg")())
                                : py::reinterpret_borrow<py::object>(given);
  const auto device = object.attr("__dlpack_device__")().cast<std::pair<int, int>>();
  if (device.first != dlpack::kCpu && device.first != dlpack::kCudaHost) {
    throw py::type_error("the tensor is on device type " + std::to_string(device.first) +
                         ", must be in memory of the CPU");
  }
  const std::shared_ptr<const dlpack::Tensor> owner = tensor_in(capsule_of(object));
  const dlpack::Tensor& tensor = *owner;
  Array array;
  const TypeRow* found = nullptr;
  for (const TypeRow& row : kTypes) {
    if (row.dlpack.code == tensor.dtype.code && row.dlpack.bits == tensor.dtype.bits &&
        tensor.dtype.lanes == 1) {
      found = &row;
    }
  }
  if (found == nullptr) throw py::type_error("elements have a type that programs do not have");
  array.dtype = found->dtype;
  size_t bytes = runtime::element_size(array.dtype);
  for (int32_t d = 0; d < tensor.rank; ++d) {
    array.shape.push_back(tensor.shape[d]);
    if (tensor.shape[d] < 0 ||
        !runtime::checked_mul(bytes, static_cast<size_t>(tensor.shape[d]), &bytes)) {
      throw py::value_error("the tensor has a size that is negative or more than there is memory");
    }
  }
  if (tensor.data == nullptr && bytes != 0) throw py::value_error("the tensor has no data");
  array.data = static_cast<uint8_t*>(tensor.data) + tensor.byte_offset;
  Array dense = dense_array(array.dtype, array.shape, {}, array.data, false, owner);
  if (tensor.strides != nullptr) {
    for (int32_t d = 0; d < tensor.rank; ++d)
      dense.strides[static_cast<size_t>(d)] = tensor.strides[d];
  }
  return dense;
}

// What the deleter of an array that was handed out gives back.
template <typename Managed>
struct Exported {
  Managed managed = {};
  Array array;
};

template <typename Managed>
py::capsule capsule_with(std::unique_ptr<Exported<Managed>> exported) {
  Managed& managed = exported->managed;
  managed.context = exported.get();
  managed.deleter = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->context); };
  PyObject* const capsule = PyCapsule_New(&managed, Managed::kCapsule, [](PyObject* unused) {
    // Renamed by who took it, who then calls the deleter.
    if (PyCapsule_IsValid(unused, Managed::kCapsule) == 0) return;
    auto* const held = static_cast<Managed*>(PyCapsule_GetPointer(unused, Managed::kCapsule));
    held->deleter(held);
  });
  if (capsule == nullptr) throw py::error_already_set();
  exported.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

template <typename Managed>
std::unique_ptr<Exported<Managed>> exported_as(const Array& array) {
  const TypeRow* const row = row_of(array.dtype);
  if (row == nullptr) {
    throw py::buffer_error(std::string("DLPack has no type for ") + to_string(array.dtype));
  }
  auto exported = std::make_unique<Exported<Managed>>();
  exported->array = array;
  dlpack::Tensor& tensor = exported->managed.tensor;
  tensor.data = array.data;
  tensor.device = {dlpack::kCpu, 0};
  tensor.rank = static_cast<int32_t>(array.shape.size());
  tensor.dtype = row->dlpack;
  tensor.shape = exported->array.shape.data();
  tensor.strides = exported->array.strides.data();
  return exported;
}

// What the protocol of Python asks for: `copy` is True for elements that nobody else sees. The
// device is the only one there is. Who could not be told that elements are read-only gets a copy.
py::capsule to_dlpack(const Array& array, const py::kwargs& asked) {
  const auto given = [&](const char* name) {
    return asked.contains(name) ? py::object(asked[name]) : py::object(py::none());
  };
  const py::object device = given("dl_device"), copy = given("copy"), most = given("max_version");
  if (!device.is_none() && device.cast<std::pair<int, int>>().first != dlpack::kCpu) {
    throw py::buffer_error("the tensor is in memory of the CPU, and goes to no other device");
  }
  if (copy.is(py::bool_(true)))
    return capsule_with(exported_as<dlpack::ManagedTensor>(array.copy_in({})));
  if (array.is_writable) return capsule_with(exported_as<dlpack::ManagedTensor>(array));
  if (!most.is_none() && most.cast<std::pair<uint32_t, uint32_t>>().first >= dlpack::kMajor) {
    auto exported = exported_as<dlpack::VersionedTensor>(array);
    exported->managed.major = dlpack::kMajor;
    exported->managed.flags = dlpack::kReadOnly;
    return capsule_with(std::move(exported));
  }
  if (copy.is(py::bool_(false))) {
    throw py::buffer_error("the elements are read-only, which DLPack can say from version 1 on");
  }
  return capsule_with(exported_as<dlpack::ManagedTensor>(array.copy_in({})));
}

// Called by Python's C code, which no exception may pass.
py::buffer_info to_buffer(const Array& array) {
  static uint8_t nothing[16] = {};
  const auto item = static_cast<py::ssize_t>(array.item_size());
  std::vector<py::ssize_t> shape(array.shape.begin(), array.shape.end());
  std::vector<py::ssize_t> strides;
  for (const int64_t stride : array.strides) strides.push_back(stride * item);
  return py::buffer_info(array.data != nullptr ? array.data : nothing, item, format_of(array.dtype),
                         static_cast<py::ssize_t>(shape.size()), shape, strides,
                         !array.is_writable);
}

}  // namespace

bool is_of_numpy(ScalarType dtype) {
  return dtype != ScalarType::BFloat16 && row_of(dtype) != nullptr;
}

std::optional<Array> from_python(py::handle object) {
  if (py::isinstance<Array>(object)) {
    Array array = object.cast<const Array&>();
    return array;
  }
  if (PyObject_CheckBuffer(object.ptr()) != 0) {
    // NumPy does not know it, and the buffer protocol not what others have taught NumPy.
    if (!is_called_bfloat16(object)) return from_buffer(object);
    Array array = from_buffer(object.attr("view")("uint16"));
    array.dtype = ScalarType::BFloat16;
    return array;
  }
  if (py::hasattr(object, "__dlpack__")) return from_dlpack(object);
  return std::nullopt;
}

void bind_array(py::module_& module) {
  py::class_<Array>(module, "Tensor", py::buffer_protocol(),
                    "Elements in memory: what NumPy has no type for, such as bfloat16. Has the "
                    "buffer protocol (as bits: bfloat16 as uint16) and, where that knows the "
                    "type, DLPack.")
      .def_property_readonly("dtype", [](const Array& a) { return runtime::to_string(a.dtype); })
      .def_property_readonly("shape", [](const Array& a) { return py::tuple(py::cast(a.shape)); })
      .def_property_readonly("nbytes", [](const Array& a) { return a.numel() * a.item_size(); })
      .def_property_readonly("is_writable", [](const Array& a) { return a.is_writable; })
      .def_buffer(&to_buffer)
      .def("__dlpack__", &to_dlpack)
      .def("__dlpack_device__", [](const Array&) { return std::pair<int, int>(dlpack::kCpu, 0); })
      .def("__repr__", [](const Array& a) {
        return "petrel.Tensor(" + std::string(runtime::to_string(a.dtype)) + ", " +
               py::repr(py::tuple(py::cast(a.shape))).cast<std::string>() + ")";
      });
}

}  // namespace petrel::extension::python
