// SPDX-License-Identifier: Apache-2.0
#include "extension/python/runtime_backend.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "extension/python/array.h"
#include "extension/python/gil.h"
#include "extension/python/lent.h"
#include "extension/python/text.h"
#include "runtime/core/log.h"

namespace petrel::extension::python {

namespace py = pybind11;
using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;
using runtime::Span;
using runtime::Tag;

namespace {

// Guarded by Python's lock while they change; read by Registry afterwards.
std::array<PythonRuntimeBackend*, PythonRuntimeBackend::kMaxBackends> slots = {};

template <size_t kSlot>
runtime::Backend backend_in_slot() {
  return {slots[kSlot]->id().c_str(), slots[kSlot]};
}

template <size_t... kSlots>
constexpr std::array<runtime::BackendLibrary, sizeof...(kSlots)> libraries(
    std::index_sequence<kSlots...>) {
  return {&backend_in_slot<kSlots>...};
}

constexpr auto kLibraries =
    libraries(std::make_index_sequence<PythonRuntimeBackend::kMaxBackends>());

// What init may read.
struct Named {
  const NamedDataMap& map;
  const FindData& find;
};
using NamedData = Lent<const Named>;

py::bytes bytes_of(const void* data, size_t size) {
  return py::bytes(static_cast<const char*>(data), size);
}

// Bytes, or a read-only array over the data itself.
py::object data_of(NamedData& data, const Text& name, bool copy) {
  const NamedData::Use named(data);
  const std::string& key = name;
  Result<FreeableBuffer> buffer = named->map.get_data(key);
  if (buffer.ok() && copy) return bytes_of(buffer->data(), buffer->size());
  if (buffer.ok()) return shared_array(named->find(key));
  if (buffer.error() == Error::NotFound) {
    PyErr_SetObject(PyExc_KeyError, to_text(key).ptr());
    throw py::error_already_set();
  }
  raise_runtime(buffer.error(), "named data '" + key + "' cannot be read");
}

std::vector<Text> keys_of(NamedData& data) {
  const NamedData::Use named(data);
  std::vector<Text> keys;
  const Result<uint32_t> count = named->map.get_num_keys();
  for (uint32_t i = 0; count.ok() && i < *count; ++i) {
    const Result<const char*> key = named->map.get_key(i);
    if (key.ok()) keys.emplace_back(*key);
  }
  return keys;
}

}  // namespace

py::object shared_array(const Module::SharedBytes& bytes) {
  static constexpr uint8_t kOrder[] = {0};
  return to_python(dense_array(runtime::ScalarType::Byte, {static_cast<int64_t>(bytes.size)},
                               kOrder, const_cast<void*>(bytes.data),
                               /*is_writable=*/false, bytes.owner));
}

PythonRuntimeBackend::PythonRuntimeBackend(py::object backend, std::shared_ptr<Pending> pending,
                                           std::shared_ptr<Referents> referents,
                                           FindMemory find_memory, FindData find_data)
    : backend_(std::move(backend)),
      pending_(std::move(pending)),
      referents_(std::move(referents)),
      find_memory_(std::move(find_memory)),
      find_data_(std::move(find_data)),
      id_(backend_.attr("id").cast<std::string>()),
      slot_(0) {
  const auto next_free = [] {
    return static_cast<size_t>(std::find(slots.begin(), slots.end(), nullptr) - slots.begin());
  };
  slot_ = next_free();
  if (slot_ == kMaxBackends) {
    // Those of circles that are garbage have theirs until they are collected.
    py::module_::import("gc").attr("collect")();
    slot_ = next_free();
  }
  if (slot_ == kMaxBackends) {
    raise_error("OutOfResources", "backends of Python are in use " + std::to_string(kMaxBackends) +
                                      " times, there must be no more");
  }
  slots[slot_] = this;
  referents_->add(backend_);
}

PythonRuntimeBackend::~PythonRuntimeBackend() {
  const Gil gil;
  slots[slot_] = nullptr;
  referents_->remove(backend_);
  backend_ = py::object();
}

runtime::BackendLibrary PythonRuntimeBackend::library() const { return kLibraries[slot_]; }

std::string PythonRuntimeBackend::where(const char* function) const {
  return std::string("in ") + function + " of the runtime backend '" + id_ + "'";
}

bool PythonRuntimeBackend::is_available() const {
  const Gil gil;
  bool available = false;
  pending_->guard(where("is_available"),
                  [&] { available = backend_.attr("is_available")().cast<bool>(); });
  return available;
}

Result<runtime::DelegateHandle*> PythonRuntimeBackend::init(
    runtime::BackendInitContext& context, FreeableBuffer* processed,
    Span<const runtime::CompileSpec> compile_specs) const {
  const Gil gil;
  py::object handle;
  const bool good = pending_->guard(where("init"), [&] {
    py::list specs;
    for (const runtime::CompileSpec& spec : compile_specs) {
      specs.append(
          py::make_tuple(to_text(spec.key), bytes_of(spec.value.buffer, spec.value.nbytes)));
    }
    const py::bytes payload = bytes_of(processed->data(), processed->size());
    processed->free();
    const NamedDataMap* const map = context.get_named_data_map();
    const auto call = [&](const py::object& data) {
      handle = backend_.attr("init")(payload, data, py::arg("compile_specs") = specs,
                                     py::arg("method") = to_text(context.get_method_name()));
    };
    if (map == nullptr) return call(py::none());
    const Named named{*map, find_data_};
    const py::object data = py::cast(NamedData(&named, "named data", "init"));
    const TakenBack<const Named> taken(data);
    call(data);
  });
  if (!good) {
    PETREL_LOG(Error, "init of the runtime backend '%s' raised an exception", id_.c_str());
    return Error::DelegateInvalidCompatibility;
  }
  referents_->add(handle);
  return static_cast<runtime::DelegateHandle*>(handle.release().ptr());
}

Error PythonRuntimeBackend::execute(runtime::BackendExecutionContext& /*context*/,
                                    runtime::DelegateHandle* handle, Span<EValue*> args) const {
  const Gil gil;
  const bool good = pending_->guard(where("execute"), [&] {
    py::list values;
    for (const EValue* arg : args) values.append(value_to_python(*arg, find_memory_));
    backend_.attr("execute")(py::handle(static_cast<PyObject*>(handle)), values);
  });
  if (good) return Error::Ok;
  PETREL_LOG(Error, "execute of the runtime backend '%s' raised an exception", id_.c_str());
  return Error::Internal;
}

void PythonRuntimeBackend::destroy(runtime::DelegateHandle* handle) const {
  const Gil gil;
  const auto owned = py::reinterpret_steal<py::object>(static_cast<PyObject*>(handle));
  referents_->remove(owned);
  try {
    backend_.attr("destroy")(owned);
  } catch (py::error_already_set& raised) {
    // Nobody to tell: as in __del__.
    raised.discard_as_unraisable("petrel.RuntimeBackend.destroy");
  }
}

py::object value_to_python(const EValue& value, const FindMemory& find_memory) {
  switch (value.tag) {
    case Tag::Int:
      return py::int_(value.toInt());
    case Tag::Double:
      return py::float_(value.toDouble());
    case Tag::Bool:
      return py::bool_(value.toBool());
    case Tag::String:
      return to_text(value.toString());
    case Tag::ListInt: {
      py::list items;
      const auto list = value.tryToIntList();
      if (!list.ok()) raise_runtime(list.error(), "a list of ints has other entries");
      for (const int64_t item : *list) items.append(item);
      return items;
    }
    case Tag::ListDouble: {
      py::list items;
      for (const double item : value.toDoubleList()) items.append(item);
      return items;
    }
    case Tag::ListBool: {
      py::list items;
      for (const bool item : value.toBoolList()) items.append(item);
      return items;
    }
    case Tag::ListTensor: {
      py::list items;
      const auto list = value.tryToTensorList();
      if (!list.ok()) raise_runtime(list.error(), "a list of tensors has other entries");
      for (const runtime::Tensor& item : *list) {
        items.append(value_to_python(EValue(item), find_memory));
      }
      return items;
    }
    case Tag::Tensor:
      break;
    default:
      return py::none();
  }
  const runtime::Tensor tensor = value.toTensor();
  if (tensor.const_data_ptr() == nullptr && tensor.nbytes() != 0) {
    raise_error("InvalidState", "a tensor of " + std::to_string(tensor.nbytes()) +
                                    " bytes has been given no memory");
  }
  Memory memory = find_memory(tensor);
  const std::vector<int64_t> shape(tensor.sizes().begin(), tensor.sizes().end());
  return to_python(
      dense_array(tensor.scalar_type(), shape, tensor.dim_order(), tensor.mutable_data_ptr(),
                  memory.is_writable && !tensor.is_constant(), std::move(memory.owner)));
}

void bind_named_data(py::module_& module) {
  py::class_<NamedData>(module, "NamedData",
                        "Named data of a program, as init of a runtime backend sees it.")
      .def("get_data", &data_of, py::arg("key"), py::kw_only(), py::arg("copy") = true)
      .def("keys", &keys_of);
}

}  // namespace petrel::extension::python
