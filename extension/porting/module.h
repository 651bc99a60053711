// SPDX-License-Identifier: Apache-2.0
//
// Module as ExecuTorch's apps use it: made from a path, loaded at its first use.
//
//   namespace executorch = petrel::porting;
//   using executorch::extension::Module;
//
//   Module module("model.pte", "model.ptd");
//   const auto result = module.forward(image);
//   if (result.ok()) use(result->at(0).toTensor());
//
// It owns a Module of Petrel, whose rules for memory and threads hold: outputs lie in
// memory of the method until it runs again, and a tensor that is an input must stay
// until the call returns. What set_input() gets is copied. New apps are better served
// by extension/module/module.h, which cannot be there without its program.
#ifndef PETREL_EXTENSION_PORTING_MODULE_H_
#define PETREL_EXTENSION_PORTING_MODULE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "extension/module/module.h"
#include "extension/porting/names.h"

namespace petrel::porting::extension {

class Module {
 public:
  // Files are read (File) or mapped (all others); pages are never locked in memory.
  enum class LoadMode { File, Mmap, MmapUseMlock, MmapUseMlockIgnoreErrors, MmapUseMadvise };

  // Allocators cannot be chosen: the memory of methods is their Module's.
  using NoAllocator = std::nullptr_t;

  explicit Module(const std::string& path, LoadMode load_mode = LoadMode::File,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  NoAllocator memory_allocator = nullptr, NoAllocator temp_allocator = nullptr,
                  bool share_memory_arenas = false);
  Module(const std::string& path, const std::string& data_path, LoadMode load_mode = LoadMode::File,
         std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
         NoAllocator memory_allocator = nullptr, NoAllocator temp_allocator = nullptr,
         bool share_memory_arenas = false);
  Module(const std::string& path, std::vector<std::string> data_files,
         LoadMode load_mode = LoadMode::File,
         std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
         NoAllocator memory_allocator = nullptr, NoAllocator temp_allocator = nullptr,
         bool share_memory_arenas = false);
  explicit Module(std::unique_ptr<runtime::DataLoader> loader,
                  NoAllocator memory_allocator = nullptr, NoAllocator temp_allocator = nullptr,
                  std::unique_ptr<runtime::EventTracer> event_tracer = nullptr,
                  std::unique_ptr<runtime::DataLoader> data_loader = nullptr,
                  bool share_memory_arenas = false);
  virtual ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Everything below does this first; nothing happens when it is loaded. The options
  // must outlive the Module.
  virtual runtime::Error load(
      runtime::Program::Verification verification = runtime::Program::Verification::Minimal);
  virtual runtime::Error load(
      const runtime::LoadBackendOptionsMap& options,
      runtime::Program::Verification verification = runtime::Program::Verification::Minimal);
  virtual bool is_loaded() const { return module_ != nullptr; }

  // InvalidState as long as nothing is loaded.
  runtime::Result<const runtime::Program*> program() const;
  // The Module that does the work, null until it is loaded.
  ::petrel::extension::Module* module() { return module_.get(); }

  runtime::Result<size_t> num_methods();
  runtime::Result<std::unordered_set<std::string>> method_names();
  runtime::Result<runtime::MethodMeta> method_meta(const std::string& method);
  runtime::Error load_method(const std::string& method, NoAllocator planned_memory = nullptr,
                             std::nullptr_t event_tracer = nullptr);
  runtime::Error load_forward(NoAllocator planned_memory = nullptr,
                              std::nullptr_t event_tracer = nullptr) {
    return load_method("forward", planned_memory, event_tracer);
  }
  // False if it was not loaded.
  bool unload_method(const std::string& method);
  bool unload_forward() { return unload_method("forward"); }
  bool is_method_loaded(const std::string& method) const { return calls_.count(method) > 0; }

  // Runs a method on the inputs given here, from the first one on, and on those that
  // set_input() gave before for the others.
  virtual runtime::Result<std::vector<runtime::EValue>> execute(
      const std::string& method, const std::vector<runtime::EValue>& inputs);
  runtime::Result<std::vector<runtime::EValue>> execute(const std::string& method,
                                                        const runtime::EValue& input) {
    return execute(method, std::vector<runtime::EValue>{input});
  }
  runtime::Result<std::vector<runtime::EValue>> execute(const std::string& method) {
    return execute(method, std::vector<runtime::EValue>{});
  }
  runtime::Result<std::vector<runtime::EValue>> forward(
      const std::vector<runtime::EValue>& inputs) {
    return execute("forward", inputs);
  }
  runtime::Result<std::vector<runtime::EValue>> forward(const runtime::EValue& input) {
    return execute("forward", input);
  }
  runtime::Result<std::vector<runtime::EValue>> forward() { return execute("forward"); }

  // The first output alone.
  runtime::Result<runtime::EValue> get(const std::string& method,
                                       const std::vector<runtime::EValue>& inputs);
  runtime::Result<runtime::EValue> get(const std::string& method, const runtime::EValue& input) {
    return get(method, std::vector<runtime::EValue>{input});
  }
  runtime::Result<runtime::EValue> get(const std::string& method) {
    return get(method, std::vector<runtime::EValue>{});
  }

  runtime::Error set_input(const std::string& method, const runtime::EValue& value, size_t index);
  runtime::Error set_input(const runtime::EValue& value, size_t index) {
    return set_input("forward", value, index);
  }
  runtime::Error set_inputs(const std::string& method, const std::vector<runtime::EValue>& values);
  runtime::Error set_inputs(const std::vector<runtime::EValue>& values) {
    return set_inputs("forward", values);
  }

  // Lets output `index` of later runs be copied to a tensor, which must stay. A run whose
  // output has another type, or does not fit, fails.
  runtime::Error set_output(const std::string& method, runtime::EValue value, size_t index = 0);
  runtime::Error set_output(runtime::EValue value, size_t index = 0) {
    return set_output("forward", value, index);
  }

  runtime::Error set_outputs(const std::string& method, const std::vector<runtime::EValue>& values);
  runtime::Error set_outputs(const std::vector<runtime::EValue>& values) {
    return set_outputs("forward", values);
  }

  // Of the last run. InvalidState if there was none.
  runtime::Result<std::vector<runtime::EValue>> get_outputs(const std::string& method);
  runtime::Result<std::vector<runtime::EValue>> get_outputs() { return get_outputs("forward"); }
  runtime::Result<runtime::EValue> get_output(const std::string& method, size_t index = 0);
  runtime::Result<runtime::EValue> get_output(size_t index = 0) {
    return get_output("forward", index);
  }

  runtime::EventTracer* event_tracer() const { return event_tracer_.get(); }

 private:
  // What a loaded method was given and gave.
  struct Call {
    std::map<size_t, runtime::EValue> inputs;
    std::map<size_t, ::petrel::extension::TensorPtr> copied_inputs;
    std::map<size_t, runtime::Tensor> outputs_to;
    std::vector<runtime::EValue> outputs;
    bool has_run = false;
  };

  runtime::Error load(const runtime::LoadBackendOptionsMap* options);
  runtime::Result<Call*> call_of(const std::string& method);
  static runtime::Error copy_outputs(Call* call);

  std::string path_;
  std::unique_ptr<runtime::DataLoader> loader_;
  std::unique_ptr<runtime::EventTracer> event_tracer_;
  ::petrel::extension::Module::Options options_;
  std::unique_ptr<::petrel::extension::Module> module_;
  std::map<std::string, Call> calls_;
};

namespace module {
using extension::Module;
}  // namespace module

}  // namespace petrel::porting::extension

#endif  // PETREL_EXTENSION_PORTING_MODULE_H_
