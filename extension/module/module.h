// SPDX-License-Identifier: Apache-2.0
//
// Module: a program file as one object: path in, tensors in, tensors out. It
// owns the loaders, data maps, arenas and methods that Program and Method leave
// to the application.
//
//   Result<std::unique_ptr<Module>> module = Module::load("model.pte");
//   TensorPtr image = make_tensor_ptr({1, 1, 8, 8}, pixels);
//   Result<std::vector<EValue>> out = (*module)->forward({*image});
//   const float* logits = (*out)[0].toTensor().const_data_ptr<float>();
//
// Methods are loaded on first use and kept, with their state. State that
// several methods name, such as the key-value cache of prefill and decode, is
// one (extension/module/shared_arenas.h):
//
//   (*module)->execute("prefill", {*prompt});
//   (*module)->execute("decode", {*token, *position});   // sees what prefill cached
//
// Outputs lie in memory of the method and hold until it runs again; they may be
// inputs of any call. Inputs are copied, or only pointed at where the program
// does not plan memory for them: they must stay until execute() returns, which
// forgets them. One
// thread at a time per Module; Modules are independent of each other.
#ifndef PETREL_EXTENSION_MODULE_MODULE_H_
#define PETREL_EXTENSION_MODULE_MODULE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "extension/module/data_sources.h"
#include "extension/module/module_data.h"
#include "extension/module/shared_arenas.h"
#include "runtime/executor/program.h"

namespace petrel::extension {

struct LoadedMethod;

class Module final {
 public:
  using LoadMode = DataSources::LoadMode;
  using DataReader = DataSources::DataReader;

  // With the data of the program, and how files are read: the program's, too.
  struct Options : DataSources {
    // One memory for what the methods compute with: outputs then hold until any
    // method runs. Programs with state in that memory do without.
    bool share_memory_arenas = false;
    // Threads of kernels and backends, the caller's included; 0 is one per
    // processor. A setting of the process, not of the Module.
    int num_threads = 0;
    // Null: default_registry() of the binary.
    const runtime::Registry* registry = nullptr;
    runtime::EventTracer* event_tracer = nullptr;
    // What loading a method tells its backends; may be null, must outlive the
    // Module.
    const runtime::LoadBackendOptionsMap* backend_options = nullptr;
    // Whether external data or what lies in the program counts where bytes
    // differ. With ExternalFirst external data takes the place of any weight
    // that the program names, also of those that kernels read.
    runtime::DataPrecedence data_precedence = runtime::DataPrecedence::RefuseDifferent;
    // What the program may use at most.
    runtime::Limits limits;
    // Whether a program may write inputs that it does not plan memory for; methods
    // that do are refused otherwise.
    bool writable_inputs = false;
  };

  static runtime::Result<std::unique_ptr<Module>> load(const std::string& path);
  static runtime::Result<std::unique_ptr<Module>> load(const std::string& path,
                                                       const Options& options);
  // A program in memory, which must outlive the Module; options.load_mode is
  // not used.
  static runtime::Result<std::unique_ptr<Module>> load(const void* data, size_t size,
                                                       const Options& options);
  // A program wherever its bytes come from; options.load_mode is that of data
  // files.
  static runtime::Result<std::unique_ptr<Module>> load(std::unique_ptr<runtime::DataLoader> loader,
                                                       const Options& options);

  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  std::vector<std::string> method_names() const;
  runtime::Result<runtime::MethodMeta> method_meta(const std::string& method) const;

  // Loads a method ahead of its first use; does nothing the second time.
  runtime::Error load_method(const std::string& method);
  // Forgets a method, its memory and its state; shared state goes with the last
  // method that has it.
  void unload_method(const std::string& method);

  // Runs a method on its inputs in order. InvalidArgument when there are too
  // many or too few of them.
  runtime::Result<std::vector<runtime::EValue>> execute(const std::string& method,
                                                        const std::vector<runtime::EValue>& inputs);
  runtime::Result<std::vector<runtime::EValue>> forward(
      const std::vector<runtime::EValue>& inputs) {
    return execute("forward", inputs);
  }

  // What replace_data did.
  struct Replaced {
    size_t keys = 0;       // of the data, that the pattern matches
    size_t changed = 0;    // of these, whose bytes are others than before
    size_t delegates = 0;  // of loaded methods that were made anew
    size_t tensors = 0;    // of kernels in loaded methods
    // Why the swap has no effect that is known of, also logged; else "".
    std::string warning;
  };

  // Other data for the keys that `keys`, a pattern of file names, matches, or the names of
  // whose weights it does; the others stay as they are. Between runs, in all methods,
  // those that will be loaded included. All or nothing: after an error the module is as
  // it was. Weights with equal bytes, delegates that do not use what changed, and state
  // of which the data has no first value, are left alone. Nothing changed is no error:
  // `changed` is 0 and a warning says so, as where no method uses what changes, or none
  // is known to.
  // NotFound if no method needs any of the keys. A map of `data` must outlive this.
  //
  //   DataSources adapter;
  //   adapter.data_files = {"adapter2.ptd"};
  //   module->replace_data(adapter, "*lora*");
  runtime::Result<Replaced> replace_data(const DataSources& data, const std::string& keys = "*");
  runtime::Result<Replaced> replace_data(const runtime::NamedDataMap& map,
                                         const std::string& keys = "*");

  // A weight or state of a method by its name in the model, for reading: it holds
  // until the method runs, goes or gets other data. NotFound for weights that only
  // delegates have, which get_data() knows.
  runtime::Result<runtime::Tensor> get_attribute(const std::string& method,
                                                 const std::string& name);
  // The bytes that backends get for a key, from external data or the program.
  runtime::Result<runtime::FreeableBuffer> get_data(const std::string& key) const;
  // The same bytes with what keeps them, which is not the Module: they outlive it, and
  // data that takes their place.
  struct SharedBytes {
    const void* data = nullptr;
    size_t size = 0;
    std::shared_ptr<const void> owner;
  };
  runtime::Result<SharedBytes> share_data(const std::string& key) const;

  // The current value of an input: for one that is not a tensor, the value that
  // the program was made with. None if there is no such method or input.
  runtime::EValue get_input(const std::string& method, size_t index);

  // True for memory of outputs that stays where it is until the method is unloaded,
  // however often it runs.
  bool keeps(const std::string& method, const void* address) const;

  const runtime::Program& program() const { return *program_; }

 private:
  Module();
  static runtime::Result<std::unique_ptr<Module>> finish(std::unique_ptr<Module> module,
                                                         const Options& options);
  runtime::Result<LoadedMethod*> loaded(const std::string& method);

  // Destroyed last to first: methods before the data and the program they use.
  std::shared_ptr<runtime::DataLoader> loader_;
  runtime::EventTracer* event_tracer_ = nullptr;
  const runtime::LoadBackendOptionsMap* backend_options_ = nullptr;
  std::unique_ptr<runtime::Program> program_;
  std::unique_ptr<ModuleData> data_;
  uint64_t num_replacements_ = 0;
  SharedArenas shared_arenas_;
  std::vector<std::unique_ptr<LoadedMethod>> methods_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_MODULE_H_
