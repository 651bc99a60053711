// SPDX-License-Identifier: Apache-2.0
//
// LoadedProgram: what petrel.load() returns underneath: a Module and everything
// of Python that it uses.
//
//   call   inputs   arrays of Python, pointed at where their layout is right
//          run      one call at a time, without Python's lock
//          outputs  copies, or views that keep the program alive
//
// Memory that a view shows belongs to the Module: views hold a lease, which holds the
// LoadedProgram. As long as there is one, the method is not unloaded, nor, for a view
// of a weight, its data replaced.
#ifndef PETREL_EXTENSION_PYTHON_PROGRAM_H_
#define PETREL_EXTENSION_PYTHON_PROGRAM_H_

#include <pybind11/pybind11.h>

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "extension/module/module.h"
#include "extension/python/array.h"
#include "extension/python/data_map.h"
#include "extension/python/error.h"
#include "extension/python/input.h"
#include "extension/python/referents.h"
#include "extension/python/runtime_backend.h"
#include "extension/python/turns.h"

namespace petrel::extension::python {

class LoadedProgram : public std::enable_shared_from_this<LoadedProgram> {
 public:
  struct Options {
    std::optional<int> num_threads;
    Module::LoadMode load_mode = Module::LoadMode::Mmap;
    bool share_memory = false;
    bool writable_inputs = false;
    runtime::Limits limits;
    runtime::DataPrecedence precedence = runtime::DataPrecedence::RefuseDifferent;
    MergeOrder data_order = MergeOrder::RefuseDifferent;
    // Of each load of a method, by backend and key.
    std::map<std::string, std::map<std::string, std::variant<bool, int, std::string>>>
        backend_options;
  };

  // `source` is a path or bytes; an entry of `data` those, or an object with
  // get_data. Raises petrel.Error, or what Python code raises.
  static std::shared_ptr<LoadedProgram> load(const pybind11::object& source,
                                             const pybind11::list& data,
                                             const pybind11::list& backends,
                                             const Options& options);
  ~LoadedProgram();

  std::vector<std::string> method_names() const;
  // Raises when there is no such method.
  runtime::MethodMeta meta(const std::string& method) const;
  const runtime::Program& program() const { return module_->program(); }

  void load_method(const std::string& method);
  void unload_method(const std::string& method);
  // As Module::replace_data; how the numbers of the result are called, and they.
  pybind11::dict replace_data(const pybind11::list& data, const std::string& keys,
                              MergeOrder data_order);
  // A copy, as an array.
  pybind11::object get_attribute(const std::string& method, const std::string& name);
  // The bytes of a key as backends get them: an array over them, not a copy.
  pybind11::object get_data(const std::string& key);
  pybind11::list run(const std::string& method, const pybind11::args& args, bool copy_outputs);

  // For Python's collector: visits what the program holds, and lets go of it.
  int visit(visitproc visitor, void* context) const;
  void let_go();

 private:
  LoadedProgram();
  void open(const pybind11::object& source, const pybind11::list& data, const Options& options);
  // Files and bytes in the order of the list, then objects with get_data.
  void add_data(const pybind11::list& data, DataSources* to);
  void set_backend_options(const Options& options);
  // Raises once the program has let go of what it needs.
  void check_is_whole() const;
  // Does `work`, which returns an Error, alone and without Python's lock.
  template <typename Work>
  void alone(Work work);
  using Lease = std::shared_ptr<const void>;
  // The lease that lives, or a new one.
  Lease lease(std::weak_ptr<const void>* last) const;
  // Of the method that runs.
  Memory memory_of(const runtime::Tensor& tensor);
  runtime::Error check_no_lease(const std::weak_ptr<const void>& last, const char* action) const;
  // For who has the module to itself.
  runtime::Result<Module::SharedBytes> share_data(const std::string& key) const;

  std::shared_ptr<Pending> pending_;
  std::shared_ptr<Referents> referents_;
  bool is_whole_ = true;
  int generation_;  // of fork()
  bool writable_inputs_ = false;
  Module::LoadMode load_mode_ = Module::LoadMode::Mmap;
  static constexpr size_t kMostOptions = 32;  // of one backend
  std::list<runtime::BackendOptions<kMostOptions>> backend_options_;
  runtime::LoadBackendOptionsMap options_by_backend_;
  // Destroyed last to first: the module before what it reads.
  std::vector<std::shared_ptr<const void>> held_;
  std::vector<std::unique_ptr<PythonRuntimeBackend>> python_backends_;
  std::vector<runtime::BackendLibrary> libraries_;
  std::unique_ptr<runtime::Registry> registry_;
  std::unique_ptr<Module> module_;

  Turns turns_;                                                  // of calls
  const std::vector<std::unique_ptr<Input>>* inputs_ = nullptr;  // of the call under way
  std::string running_;                                          // its method

  // Used while the module works for one call alone.
  std::map<std::string, std::weak_ptr<const void>> method_leases_;
  std::weak_ptr<const void> weight_lease_;
};

void bind_program(pybind11::module_& module);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_PROGRAM_H_
