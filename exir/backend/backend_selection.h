// SPDX-License-Identifier: Apache-2.0
//
// Which backends get which methods, in order of priority: the first takes what
// it can of a method, the next of what is left.
//
//   BackendSelection selection;
//   selection.for_all = {{xnnpack_backend()}, {my_backend()}};
//   selection.for_method["decode"] = {{my_backend(), {{"tile", "8"}}}};
//
//   prefill   XnnpackBackend, then MyBackend
//   decode    MyBackend alone: a list of its own replaces for_all
//
// preprocess_all is called once per backend with its partitions of all methods,
// so a backend may have different places in different lists. Backends are not
// owned.
#ifndef PETREL_EXIR_BACKEND_BACKEND_SELECTION_H_
#define PETREL_EXIR_BACKEND_BACKEND_SELECTION_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/backend/backend.h"

namespace petrel::exir {

// Which of the supported nodes are delegated.
enum class Delegate {
  kCheaper,    // those that kernels do not do faster
  kSupported,  // all
};

struct BackendUse {
  const Backend* backend = nullptr;
  std::vector<CompileSpec> compile_specs = {};
  // The method is one partition with every node in it, and a node that the backend
  // does not support is an error. Otherwise its partitioner proposes partitions.
  bool whole_method = false;
  Delegate delegate = Delegate::kCheaper;
};

struct BackendSelection {
  std::vector<BackendUse> for_all;
  std::map<std::string, std::vector<BackendUse>> for_method;

  const std::vector<BackendUse>& of(const std::string& method) const;

  // True when no method gets a backend.
  bool empty() const;

  // True when a backend of the method wants `op` whole.
  bool keeps(const std::string& method, const OpInfo& op) const;

  // InvalidArgument for a method that is not among `methods`, a null backend,
  // one backend twice for one method, two backends of one id, a whole method
  // that has other backends, too, and compile specs that a backend refuses.
  absl::Status check(const std::set<std::string>& methods) const;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_BACKEND_BACKEND_SELECTION_H_
