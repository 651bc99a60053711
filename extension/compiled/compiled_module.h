// SPDX-License-Identifier: Apache-2.0
//
// CompiledModule: a model that `petrel gen-c --compile so` made, with memory for it.
//
//   Result<std::unique_ptr<CompiledModule>> module = CompiledModule::open("libkws.so");
//   Result<CompiledMethod*> forward = (*module)->method("forward");
//   (*forward)->set_input("image", image);
//   (*forward)->run();
//
// A module is code: opening one runs what its maker likes, with the rights of the process. So
// it has this door of its own, and Module::load, for programs, which are data, never runs any.
// Before the system loads the file, it is checked to be whole and for this machine
// (module_file.h): damage is found, malice is not.
//
// Owns the memory that the model computes in, its state with it; objects of one file share its
// code and constants, and may run at the same time. One thread at a time for each.
#ifndef PETREL_EXTENSION_COMPILED_COMPILED_MODULE_H_
#define PETREL_EXTENSION_COMPILED_COMPILED_MODULE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "extension/compiled/compiled_method.h"
#include "runtime/core/result.h"
#include "runtime/micro/model/petrel_model.h"

namespace petrel::extension {

class CompiledModule final {
 public:
  // Errors of ModuleFile; NotSupported when the system cannot load it, or it runs on devices that
  // are not there; InvalidState when the
  // process still has another library from this path.
  static runtime::Result<std::unique_ptr<CompiledModule>> open(const std::string& path);
  ~CompiledModule();
  CompiledModule(const CompiledModule&) = delete;
  CompiledModule& operator=(const CompiledModule&) = delete;

  const petrel_model_metadata& metadata() const { return *metadata_; }
  std::vector<std::string> method_names() const;
  // NotFound, with the names that there are. Lives as long as the module.
  runtime::Result<CompiledMethod*> method(const std::string& name) const;

  // All state as it was when the model was exported.
  runtime::Error reset_state();

 private:
  CompiledModule();
  runtime::Error load(const std::string& path, const std::string& sha256);
  runtime::Error allocate();
  runtime::Error open_devices();

  struct Close {
    void operator()(void* library) const;
  };
  struct Free {
    void operator()(void* memory) const;
  };
  // Destroyed last to first: the code after all that it made.
  std::unique_ptr<void, Close> library_;
  const petrel_model_metadata* metadata_ = nullptr;
  std::vector<std::unique_ptr<void, Free>> pools_;
  std::unique_ptr<void, Free> context_;
  std::vector<std::unique_ptr<CompiledMethod>> methods_;
  bool is_open_ = false;  // its devices
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_COMPILED_COMPILED_MODULE_H_
