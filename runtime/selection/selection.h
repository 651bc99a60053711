// SPDX-License-Identifier: Apache-2.0
//
// Picks, while compiling, the kernels that programs use from the list of a
// kernel library. What is not picked is referred to by nothing, so the linker
// drops it.
//
//   constexpr std::string_view kUsed[] = {"aten::add.out", "aten::relu.out"};
//   constexpr Kernel kPortable[] = {...all rows of kernel_list.inc...};
//   constexpr auto kPicked = pick<count_used(kPortable, kUsed)>(kPortable, kUsed);
//   Span<const Kernel> picked() { return kPicked.span(); }
//
// petrel_registry(programs = [...]) writes this; see runtime/registry.bzl.
#ifndef PETREL_RUNTIME_SELECTION_SELECTION_H_
#define PETREL_RUNTIME_SELECTION_SELECTION_H_

#include <cstddef>
#include <string_view>

#include "runtime/core/span.h"
#include "runtime/kernel/kernel.h"

namespace petrel::runtime {

template <size_t N>
struct PickedKernels {
  Kernel kernels[N == 0 ? 1 : N] = {};

  constexpr Span<const Kernel> span() const { return Span<const Kernel>(kernels, N); }
};

template <size_t U>
constexpr bool is_used(const char* name, const std::string_view (&used)[U]) {
  for (const std::string_view each : used) {
    if (each == name) return true;
  }
  return false;
}

template <size_t K, size_t U>
constexpr size_t count_used(const Kernel (&kernels)[K], const std::string_view (&used)[U]) {
  size_t count = 0;
  for (const Kernel& kernel : kernels) count += is_used(kernel.name, used) ? 1 : 0;
  return count;
}

template <size_t N, size_t K, size_t U>
constexpr PickedKernels<N> pick(const Kernel (&kernels)[K], const std::string_view (&used)[U]) {
  PickedKernels<N> picked;
  size_t count = 0;
  for (const Kernel& kernel : kernels) {
    if (is_used(kernel.name, used)) picked.kernels[count++] = kernel;
  }
  return picked;
}

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_SELECTION_SELECTION_H_
