// SPDX-License-Identifier: Apache-2.0
//
// PythonDataMap: a petrel.NamedDataMap of Python as the NamedDataMap of C++.
//
// The keys are asked for once, when it is made; data every time it is wanted.
// What get_data() returns is held, not copied, until C++ frees it, unless it lies
// too badly for the runtime. Exceptions of Python are kept in `pending` and told
// to C++ as errors: KeyError is NotFound, all others AccessFailed.
#ifndef PETREL_EXTENSION_PYTHON_DATA_MAP_H_
#define PETREL_EXTENSION_PYTHON_DATA_MAP_H_

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "extension/python/error.h"
#include "extension/python/referents.h"
#include "runtime/core/named_data_map.h"

namespace petrel::extension::python {

class PythonDataMap final : public runtime::NamedDataMap {
 public:
  // With the lock held; raises what Python raises.
  PythonDataMap(pybind11::object map, std::shared_ptr<Pending> pending,
                std::shared_ptr<Referents> referents);
  ~PythonDataMap() override;

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t index) const override;
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(
      std::string_view key) const override;

 private:
  struct Layout {
    std::vector<int32_t> sizes;
    std::vector<uint8_t> dim_order;
    runtime::ScalarType dtype;
  };

  pybind11::object map_;
  std::shared_ptr<Pending> pending_;
  std::shared_ptr<Referents> referents_;
  std::vector<std::string> keys_;
  // Told once, since the runtime points at it. Guarded by Python's lock.
  mutable std::map<std::string, Layout, std::less<>> layouts_;
};

// The element type of NumPy's word for it; raises ValueError.
runtime::ScalarType dtype_of_name(const std::string& name);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_DATA_MAP_H_
