// SPDX-License-Identifier: Apache-2.0
//
// Registry: the kernels and backends that programs of a process may use. It is
// two spans of constants; nothing registers itself, so what is linked is what
// the build lists, in that order (the first kernel of a name wins).
//
//   petrel_registry(                          # runtime/registry.bzl
//       name = "registry",
//       kernels = ["//runtime/kernels/portable:kernels"],
//       backends = ["//backends/xnnpack/runtime:backend"],
//   )
//
// A binary that depends on such a target has default_registry(), which
// Program::load(&loader) uses. A registry may also be made by hand:
//
//   constexpr KernelLibrary kLibraries[] = {&portable_kernels, &my_kernels};
//   constexpr BackendLibrary kBackends[] = {&my_backend};
//   constexpr Registry registry(kLibraries, kBackends);
//
// The contract of a library that petrel_registry can list:
//   kernels   //a/b/NAME:kernels (or any target of package a/b/NAME) defines
//               namespace petrel::runtime { Span<const Kernel> NAME_kernels(); }
//   backends  //backends/NAME/...  defines
//               namespace petrel::backends::NAME {
//               petrel::runtime::Backend NAME_backend(); }
//   others    "//label:target=qualified::function"
// The functions are cheap and always return the same; a backend object lives
// as long as the process.

#ifndef PETREL_RUNTIME_EXECUTOR_REGISTRY_H_
#define PETREL_RUNTIME_EXECUTOR_REGISTRY_H_

#include <string_view>

#include "runtime/backend/interface.h"
#include "runtime/core/span.h"
#include "runtime/kernel/kernel.h"

namespace petrel::runtime {

using KernelLibrary = Span<const Kernel> (*)();
using BackendLibrary = Backend (*)();

// The first kernel of that name; null if there is none.
const Kernel* find_kernel(Span<const Kernel> kernels, std::string_view name);

class Registry final {
 public:
  constexpr Registry(Span<const KernelLibrary> kernels, Span<const BackendLibrary> backends)
      : kernels_(kernels), backends_(backends) {}

  // The function of "namespace::name.overload", null if there is none.
  // Primitive operators (prim_ops.h) are always there.
  const Kernel* find_kernel(std::string_view name) const;

  // Null if there is none.
  BackendInterface* find_backend(std::string_view name) const;

  Span<const KernelLibrary> kernels() const { return kernels_; }
  Span<const BackendLibrary> backends() const { return backends_; }

  // Process-wide options of a backend; NotFound if it is not here.
  Error set_option(std::string_view backend, Span<const BackendOption> options) const;
  Error get_option(std::string_view backend, Span<BackendOption> options) const;

 private:
  Span<const KernelLibrary> kernels_;
  Span<const BackendLibrary> backends_;
};

// The registry of this binary; defined by a petrel_registry target.
const Registry& default_registry();

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_REGISTRY_H_
