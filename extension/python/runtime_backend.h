// SPDX-License-Identifier: Apache-2.0
//
// PythonRuntimeBackend: a petrel.RuntimeBackend of Python as what runs the partitions
// of a method.
//
//   init     payload and compile specs as bytes, named data through an object
//            that copies; what Python returns is the handle
//   execute  arguments as arrays over the memory of the method, which they keep
//            alive; those that must not be written are read-only
//   destroy  once for every handle, also when the method could not be loaded
//
// A registry of C++ holds functions without state, so that every object here
// takes one of kMaxBackends slots as long as it lives.
#ifndef PETREL_EXTENSION_PYTHON_RUNTIME_BACKEND_H_
#define PETREL_EXTENSION_PYTHON_RUNTIME_BACKEND_H_

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <string>

#include "extension/module/module.h"
#include "extension/python/error.h"
#include "extension/python/referents.h"
#include "runtime/executor/registry.h"

namespace petrel::extension::python {

// What is known of memory that a backend gets to see.
struct Memory {
  std::shared_ptr<const void> owner;
  bool is_writable = false;
};
// Of the bytes of a tensor; called with Python's lock held.
using FindMemory = std::function<Memory(const runtime::Tensor& tensor)>;

// Named data of the program that is loaded, not copied; called while a method is.
using FindData = std::function<Module::SharedBytes(const std::string& key)>;

class PythonRuntimeBackend final : public runtime::BackendInterface {
 public:
  static constexpr size_t kMaxBackends = 64;

  // With the lock held. Raises petrel.Error when no slot is free.
  PythonRuntimeBackend(pybind11::object backend, std::shared_ptr<Pending> pending,
                       std::shared_ptr<Referents> referents, FindMemory find_memory,
                       FindData find_data);
  ~PythonRuntimeBackend() override;

  const std::string& id() const { return id_; }
  // For a Registry.
  runtime::BackendLibrary library() const;

  bool is_available() const override;
  runtime::Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::Span<const runtime::CompileSpec> compile_specs) const override;
  runtime::Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                         runtime::Span<runtime::EValue*> args) const override;
  void destroy(runtime::DelegateHandle* handle) const override;

 private:
  std::string where(const char* function) const;

  pybind11::object backend_;
  std::shared_ptr<Pending> pending_;
  std::shared_ptr<Referents> referents_;  // handles among them
  FindMemory find_memory_;
  FindData find_data_;
  std::string id_;
  size_t slot_;
};

// What init gives to Python for named data: petrel.NamedData.
void bind_named_data(pybind11::module_& module);

// A read-only array of bytes over them.
pybind11::object shared_array(const Module::SharedBytes& bytes);

// A value of a method as a Python object: an array over its memory, a number, a
// string, a list or None.
pybind11::object value_to_python(const runtime::EValue& value, const FindMemory& find_memory);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_RUNTIME_BACKEND_H_
