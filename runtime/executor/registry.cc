// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/registry.h"

namespace petrel::runtime {

const Kernel* find_kernel(Span<const Kernel> kernels, std::string_view name) {
  for (const Kernel& kernel : kernels) {
    if (name == kernel.name) return &kernel;
  }
  return nullptr;
}

const Kernel* Registry::find_kernel(std::string_view name) const {
  for (const KernelLibrary library : kernels_) {
    const Kernel* const found = runtime::find_kernel(library(), name);
    if (found != nullptr) return found;
  }
  return nullptr;
}

BackendInterface* Registry::find_backend(std::string_view name) const {
  for (const BackendLibrary library : backends_) {
    const Backend backend = library();
    if (name == backend.name) return backend.backend;
  }
  return nullptr;
}

Error Registry::set_option(std::string_view backend, Span<const BackendOption> options) const {
  BackendInterface* const found = find_backend(backend);
  return found == nullptr ? Error::NotFound : found->set_option(options);
}

Error Registry::get_option(std::string_view backend, Span<BackendOption> options) const {
  BackendInterface* const found = find_backend(backend);
  return found == nullptr ? Error::NotFound : found->get_option(options);
}

}  // namespace petrel::runtime
