// SPDX-License-Identifier: Apache-2.0
//
// PythonBackend: a petrel.Backend of Python, with its petrel.Partitioner, as a
// backend of the compiler. One object serves one export.
//
// Exceptions of Python are kept in `pending`; to the compiler they are errors.
// A Partitioner of C++ cannot fail: when one of Python has raised, all nodes that
// are asked for later stay where they are. Whoever exports must look at `pending`
// even when the export succeeded.
#ifndef PETREL_EXTENSION_PYTHON_AOT_BACKEND_H_
#define PETREL_EXTENSION_PYTHON_AOT_BACKEND_H_

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exir/backend/backend.h"
#include "extension/python/error.h"
#include "extension/python/ir_views.h"

namespace petrel::extension::python {

class PythonPartitioner final : public exir::Partitioner {
 public:
  PythonPartitioner(pybind11::object partitioner, std::shared_ptr<Pending> pending);
  ~PythonPartitioner() override;

  exir::Support supports(const exir::Node& node) const override;
  bool takes_varying_sizes() const override;
  bool keeps(const exir::OpInfo& op) const override;
  std::string group(const exir::Node& node) const override;
  bool worthwhile(const std::vector<const exir::Node*>& nodes) const override;
  std::optional<exir::GroupCosts> costs(const exir::Graph& partition) const override;

 private:
  NodeView view(const exir::Node& node) const;

  pybind11::object partitioner_;
  std::shared_ptr<Pending> pending_;
  // Made when a graph is first asked about.
  mutable std::map<const exir::Graph*, GraphCopy> copies_;
};

class PythonBackend final : public exir::Backend {
 public:
  // With the lock held; raises what Python raises.
  PythonBackend(pybind11::object backend, std::shared_ptr<Pending> pending);
  ~PythonBackend() override;

  std::string id() const override { return id_; }
  const exir::Partitioner& partitioner() const override { return partitioner_; }
  std::string target() const override { return target_; }
  absl::Status check_compile_specs(const std::vector<exir::CompileSpec>& specs) const override;
  absl::StatusOr<exir::ResultMap> preprocess_all(const exir::SubprogramMap& programs,
                                                 exir::RoutedBlobStore& store) const override;

 private:
  pybind11::object backend_;
  std::shared_ptr<Pending> pending_;
  std::string id_;
  std::string target_;
  PythonPartitioner partitioner_;
};

void bind_aot(pybind11::module_& module);

}  // namespace petrel::extension::python

#endif  // PETREL_EXTENSION_PYTHON_AOT_BACKEND_H_
