// SPDX-License-Identifier: Apache-2.0
#include "extension/python/data_map.h"

#include <pybind11/stl.h>

#include <cstring>
#include <utility>

#include "extension/python/array.h"
#include "extension/python/gil.h"
#include "extension/python/text.h"
#include "runtime/core/data_loader.h"
#include "runtime/core/log.h"

namespace petrel::extension::python {

namespace py = pybind11;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::ScalarType;
using runtime::TensorLayout;

namespace {

std::string where(const char* function, std::string_view key) {
  return std::string("in ") + function + "(" + py::repr(to_text(key)).cast<std::string>() +
         ") of a petrel.NamedDataMap";
}

void let_go(void* owner, void*, size_t) { delete static_cast<std::shared_ptr<const void>*>(owner); }

}  // namespace

ScalarType dtype_of_name(const std::string& name) {
  for (int number = 0; number < 30; ++number) {
    const auto dtype = static_cast<ScalarType>(number);
    if (runtime::is_valid(dtype) && name == runtime::to_string(dtype)) return dtype;
  }
  throw py::value_error("dtype is '" + name + "', must be the name of an element type");
}

PythonDataMap::PythonDataMap(py::object map, std::shared_ptr<Pending> pending,
                             std::shared_ptr<Referents> referents)
    : map_(std::move(map)), pending_(std::move(pending)), referents_(std::move(referents)) {
  const auto count = map_.attr("get_num_keys")().cast<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) {
    const py::object key = map_.attr("get_key")(i);
    if (!py::isinstance<py::str>(key) && !py::isinstance<py::bytes>(key)) {
      throw py::type_error("key " + std::to_string(i) + " of a petrel.NamedDataMap is of type " +
                           Py_TYPE(key.ptr())->tp_name + ", must be a str");
    }
    keys_.push_back(key.cast<Text>().bytes);
    if (keys_.back().find('\0') != std::string::npos) {
      throw py::value_error("key " + std::to_string(i) + " of a petrel.NamedDataMap has a NUL");
    }
  }
  referents_->add(map_);
}

PythonDataMap::~PythonDataMap() {
  const Gil gil;
  referents_->remove(map_);
  map_ = py::object();
}

Result<FreeableBuffer> PythonDataMap::get_data(std::string_view key) const {
  const Gil gil;
  HeldBytes bytes;
  bool is_missing = false;
  const bool good = pending_->guard(where("get_data", key), [&] {
    try {
      bytes = hold_bytes(map_.attr("get_data")(to_text(key)));
    } catch (py::error_already_set& raised) {
      if (!raised.matches(PyExc_KeyError)) throw;
      is_missing = true;
    }
    const auto address = reinterpret_cast<uintptr_t>(bytes.data);
    if (is_missing || address % runtime::kDataAlignment == 0) return;
    const std::shared_ptr<void> memory = aligned_memory(bytes.size);
    std::memcpy(memory.get(), bytes.data, bytes.size);
    bytes.data = static_cast<const uint8_t*>(memory.get());
    bytes.owner = memory;
  });
  if (is_missing) return Error::NotFound;
  if (!good) {
    PETREL_LOG(Error, "get_data of a petrel.NamedDataMap raised an exception");
    return Error::AccessFailed;
  }
  return FreeableBuffer(bytes.data, bytes.size, &let_go,
                        new std::shared_ptr<const void>(std::move(bytes.owner)));
}

Result<uint32_t> PythonDataMap::get_num_keys() const { return static_cast<uint32_t>(keys_.size()); }

Result<const char*> PythonDataMap::get_key(uint32_t index) const {
  if (index >= keys_.size()) return Error::InvalidArgument;
  return keys_[index].c_str();
}

Result<const TensorLayout> PythonDataMap::get_tensor_layout(std::string_view key) const {
  const Gil gil;
  auto known = layouts_.find(key);
  if (known == layouts_.end()) {
    Layout layout;
    bool is_told = false;
    bool is_missing = false;
    const bool good = pending_->guard(where("get_tensor_layout", key), [&] {
      py::object told;
      try {
        told = map_.attr("get_tensor_layout")(to_text(key));
      } catch (py::error_already_set& raised) {
        if (!raised.matches(PyExc_KeyError)) throw;
        is_missing = true;
        return;
      }
      if (told.is_none()) return;
      layout.dtype = dtype_of_name(told.attr("dtype").cast<std::string>());
      layout.sizes = told.attr("shape").cast<std::vector<int32_t>>();
      const py::object order = told.attr("dim_order");
      if (order.is_none()) {
        for (size_t d = 0; d < layout.sizes.size(); ++d) {
          layout.dim_order.push_back(static_cast<uint8_t>(d));
        }
      } else {
        layout.dim_order = order.cast<std::vector<uint8_t>>();
      }
      is_told = true;
    });
    if (is_missing) return Error::NotFound;
    if (!good) {
      PETREL_LOG(Error, "get_tensor_layout of a petrel.NamedDataMap raised an exception");
      return Error::AccessFailed;
    }
    if (!is_told) return Error::NotImplemented;
    known = layouts_.emplace(std::string(key), std::move(layout)).first;
  }
  const Layout& layout = known->second;
  return TensorLayout::create({layout.sizes.data(), layout.sizes.size()},
                              {layout.dim_order.data(), layout.dim_order.size()}, layout.dtype);
}

}  // namespace petrel::extension::python
