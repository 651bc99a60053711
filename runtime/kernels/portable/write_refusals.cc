// SPDX-License-Identifier: Apache-2.0
//
// Prints the table that refusals.h describes.

#include <cstdio>

#include "runtime/kernels/portable/kernels.h"
#include "runtime/kernels/portable/refusals.h"

int main() {
  using petrel::runtime::Kernel;
  const auto find = [](const std::string& name) -> const Kernel* {
    for (const Kernel& kernel : petrel::runtime::portable_kernels()) {
      if (name == kernel.name) return &kernel;
    }
    return nullptr;
  };
  std::printf("# Written by //runtime/kernels/portable:write_refusals.\n");
  for (const auto& [name, digits] : petrel::runtime::refusals_of(find)) {
    std::printf("%s %s\n", name.c_str(), digits.c_str());
  }
  return 0;
}
